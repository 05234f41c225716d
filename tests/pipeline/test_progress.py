"""What a stream says of itself."""

import json

import pytest

from nearcast.pipeline.progress import Summary, lag_of, progress_of


def step(shard, freshness, **facts):
    return {
        "shard": shard,
        "freshness": freshness,
        "visits": 0,
        "notifications": 0,
        "waiting": 0,
        "milliseconds": {"match": 1.0},
        **facts,
    }


def test_progress_adds_up_the_shards():
    steps = [
        step(0, "hot", visits=1_000, notifications=3, waiting=7, milliseconds={"match": 3.0}),
        step(1, "caught up", notifications=1_000, waiting=9, milliseconds={"match": 9.0}),
        step(2, "restored", milliseconds={"match": 2.5}),
    ]
    progress = progress_of(4, 1_100, 100, 2, 12.3, steps, "no new snapshot of shard 1: full")
    assert (progress.rows, progress.changes, progress.messages) == (1_100, 100, 1_000)
    assert (progress.copies, progress.notifications) == (1_000, 1_003)
    assert (progress.hot, progress.caught_up, progress.restored) == (1, 1, 1)
    assert progress.waiting == 9
    assert progress.steps == {"match": 9.0}
    assert str(progress) == (
        "batch 4: 1,000 messages and 100 changes gave 1,003 notifications and 2 rejects in 12 ms; "
        "no new snapshot of shard 1: full"
    )
    assert json.loads(progress.to_json())["milliseconds"] == 12.3


def test_a_message_for_index_and_keeper_of_a_shard_is_one_copy():
    keeper = {"freshness": "hot", "notifications": 2, "copies": 10}
    steps = [step(shard, "hot", visits=10 * shard, hosted=keeper) for shard in (0, 1)]
    progress = progress_of(0, 10, 0, 0, 1.0, steps, None)
    assert (progress.copies, progress.notifications) == (20, 4)


def test_a_batch_without_steps():
    progress = progress_of(0, 0, 0, 0, 1.0, [], None)
    assert (progress.notifications, progress.waiting, progress.steps) == (0, 0, {})
    assert json.loads(progress.to_json())["problem"] is None


def test_a_summary_is_one_line():
    summary = Summary(12, 3_000, 10, 4_567, 0, 0.975, None, 2, None)
    assert str(summary) == (
        "12 batches: 3,000 rows in, 4,567 notifications and 0 rejects out; "
        "lag unknown, hot copies 97.5%"
    )
    assert json.loads(summary.to_json())["hit_rate"] == 0.975


@pytest.mark.parametrize(
    ("end", "latest", "lag"),
    [
        ('{"offset": 7}', '{"offset": 9}', 2),
        ({"offset": 7}, {"offset": 7}, 0),
        ('{"events": {"0": 5, "1": 6}}', '{"events": {"0": 7, "1": 7}}', 3),
        ("5", "9", 4),
        ('{"offset": 9}', '{"offset": 7}', 0),
        ('{"logOffset": 3}', None, None),
        ('{"a": 1}', '{"b": 2}', None),
        ("[1]", "[2]", None),
        ("not json", "not json", None),
        (None, None, None),
    ],
)
def test_lag_is_how_far_the_source_is_ahead(end, latest, lag):
    assert lag_of({"sources": [{"endOffset": end, "latestOffset": latest}]}) == lag


def test_lag_of_several_sources_is_known_when_all_say():
    known = {"endOffset": "1", "latestOffset": "4"}
    assert lag_of({"sources": [known, known]}) == 6
    assert lag_of({"sources": [known, {"endOffset": None, "latestOffset": None}]}) is None
    assert lag_of(None) is None
