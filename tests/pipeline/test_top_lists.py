import random

import pytest

from nearcast.model import Message, Point, Subscription, TopKSubscription
from nearcast.pipeline import top_lists
from nearcast.pipeline.log import Log
from nearcast.pipeline.top_lists import TopLists
from nearcast.topk import CountWindow, ScanTopK, TimeWindow
from tests.topk.lists import assert_same_lists

HERE = Point(2.35, 48.86)
WORDS = ("tea", "cake", "jazz", "bus")


@pytest.fixture
def log(tmp_path):
    with Log(tmp_path / "log") as log:
        yield log


def tea(id="tea", **options):
    return TopKSubscription(id, "tea", HERE, **options)


def messages(*ids, text="tea"):
    return [Message(id, text=text, at=HERE) for id in ids]


def told(output):
    return [
        (each.position, each.cause, each.change.subscription_id, each.change.entered)
        for each in output.changes
    ]


def test_rows_are_taken_in_their_order(log, tmp_path):
    lists = TopLists(tmp_path / "top", log, CountWindow(10))
    log.publish(messages("a"))
    log.subscribe([tea()])
    log.publish(messages("b"))
    log.unsubscribe_top(["tea"])
    log.publish(messages("c"))
    output = lists.apply(range(0, log.end))
    assert told(output) == [(1, None, "tea", ("a",)), (2, "b", "tea", ("b",))]
    assert output.lists == {"tea": None}


def test_another_kind_of_the_same_id_ends_a_list(log, tmp_path):
    lists = TopLists(tmp_path / "top", log, CountWindow(10))
    log.subscribe([tea(), Subscription("tea", "cake")])
    log.publish(messages("a"))
    assert told(lists.apply(range(0, 3))) == []
    assert len(lists) == 0


def test_a_row_that_breaks_a_rule_is_a_reject(log, tmp_path):
    lists = TopLists(tmp_path / "top", log, CountWindow(10))
    log.subscribe([tea("large", k=1_000_000), tea()])
    output = lists.apply(range(0, 2))
    [reject] = output.rejects
    assert (reject["id"], "k 1000000 is more than" in reject["reason"]) == ("large", True)
    assert set(output.lists) == {"tea"}


def test_what_was_said_before_the_first_start_is_in_the_window(log, tmp_path):
    log.publish(messages("a", "b"))
    lists = TopLists(tmp_path / "top", log, CountWindow(10))
    log.subscribe([tea()])
    assert told(lists.apply(range(2, 3))) == [(2, None, "tea", ("b", "a"))]


def test_an_id_that_comes_again_replaces_its_message(log, tmp_path):
    lists = TopLists(tmp_path / "top", log, CountWindow(10))
    log.publish(messages("a", "b"))
    log.publish(messages("a", text="cake"))
    lists.apply(range(0, 3))
    log.publish(messages("b", "c"))
    lists.apply(range(3, 5))
    log.subscribe([tea()])
    assert told(lists.apply(range(5, 6))) == [(5, None, "tea", ("c", "b"))]


def test_a_long_past_is_read_as_far_as_the_window_goes(log, tmp_path, monkeypatch):
    monkeypatch.setattr(top_lists, "ROWS_AT_A_TIME", 4)
    log.publish(messages(*(f"m{number}" for number in range(30))))
    log.unsubscribe(["nobody"] * 6)
    lists = TopLists(tmp_path / "top", log, CountWindow(3))
    assert lists._begin_of_window(log.end) == 24
    log.subscribe([tea()])
    [only] = lists.apply(range(36, 37)).changes
    assert only.change.entered == ("m29", "m28", "m27")


def test_what_a_kill_left_behind_is_removed(log, tmp_path):
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / ".00000000000000000007.near.x1y2").write_bytes(b"half")
    TopLists(tmp_path / "top", log, CountWindow(3))
    assert list((tmp_path / "top").iterdir()) == []


def test_the_log_is_needed_from_the_snapshot_on(log, tmp_path, monkeypatch):
    monkeypatch.setattr(top_lists, "ROWS_A_SNAPSHOT", 5)
    lists = TopLists(tmp_path / "top", log, CountWindow(10))
    assert lists.saved is None
    log.subscribe([tea()])
    lists.apply(range(0, 1))
    for number in range(20):
        begin = log.end
        log.publish(messages(f"m{number}"))
        lists.apply(range(begin, log.end))
        lists.save_if_due()
        assert log.end - lists.saved < 5 + top_lists.ROWS_A_SUBSCRIPTION
    assert len(list((tmp_path / "top").glob("*.near"))) == 1
    log.trim(lists.saved)
    again = TopLists(tmp_path / "top", log, CountWindow(10))
    again.skip_to(log.end)
    assert again._window.index.results("tea") == lists._window.index.results("tea")


@pytest.mark.parametrize("window", [CountWindow(7), TimeWindow(3)])
def test_whoever_takes_over_tells_the_same(log, tmp_path, monkeypatch, window):
    monkeypatch.setattr(top_lists, "ROWS_A_SNAPSHOT", 15)
    draw = random.Random("top lists")
    oracle = ScanTopK(window, lateness=float("inf"))
    lists, live = TopLists(tmp_path / "top", log, window), set()
    for batch in range(30):
        begin = log.end
        expected = []
        for _ in range(draw.randint(1, 6)):
            expected += _act(draw, log, oracle, live)
        offsets = range(begin, log.end)
        if batch % 3 == 0:  # it dies in the middle of a batch: nobody was told
            lists.apply(offsets)
            lists = TopLists(tmp_path / "top", log, window)
        output = lists.apply(offsets)
        if batch % 4 == 0:  # it dies, and the batch comes again, of which everybody was told
            lists = TopLists(tmp_path / "top", log, window)
            lists.skip_to(offsets.stop)
        lists.save_if_due()
        found = [
            (each.position, each.change.subscription_id, each.change.results)
            for each in output.changes
        ]
        assert sorted(pair[:2] for pair in found) == sorted(pair[:2] for pair in expected)
        ranked = {pair[:2]: pair[2] for pair in expected}
        for position, id, results in found:
            assert_same_lists(results, ranked[position, id])


def _act(draw, log, oracle, live):
    """One row of the log: what should be told of it."""
    id, at = draw.choice("xyz"), Point(draw.uniform(0, 1), draw.uniform(0, 1))
    words = draw.choices(WORDS, k=2)
    action, position = draw.random(), log.end
    if action < 0.2:
        subscription = TopKSubscription(id, words, at, draw.randint(1, 3), draw.uniform(0.2, 0.9))
        log.subscribe([subscription])
        live.add(id)
        changes = oracle.subscribe(subscription)
    elif action < 0.3:
        log.unsubscribe_top([id])
        if id in live:
            oracle.unsubscribe(id)
        live.discard(id)
        changes = []
    else:
        message = Message(f"m{position}", keywords=words, at=at, time=position / 3)
        log.publish([message])
        changes = oracle.publish(message)
    return [(position, change.subscription_id, change.results) for change in changes]
