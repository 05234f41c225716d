"""Rows of a stream on their way to the shards."""

import numpy as np
import pyarrow as pa
import pytest

from nearcast.model import (
    Box,
    Message,
    MovingSubscription,
    Point,
    Space,
    Subscription,
    TopKSubscription,
)
from nearcast.pipeline.changes import Changes
from nearcast.pipeline.packing import unpack_messages
from nearcast.pipeline.partitioning import Hash, Location
from nearcast.pipeline.rows import PROBLEM
from nearcast.pipeline.stream_routing import (
    CHANGES,
    HOSTED,
    HOSTED_MESSAGES,
    MESSAGES,
    REJECTS,
    route,
)
from tests.pipeline.in_process import log_table, routed_rows

WEST, EAST = Box(-100, 0, -90, 10), Box(90, 0, 100, 10)
HALVES = Location(
    2,
    np.array([0, 2, 2], np.int8),
    np.array([0.0, 0.0, 0.0]),
    np.array([1, 0, 1], np.int32),
    np.array([2, 1, 2], np.int32),
)


def routed(table, partitioning, is_ordered=True, rows_a_batch=1000, has_results=False):
    """[(shard, turn, data)] of everything that a task sends."""
    batches = routed_rows(table).to_batches(rows_a_batch)
    sent = route(iter(batches), partitioning, Space.EARTH, is_ordered, has_results)
    return [(row["shard"], row["turn"], row["data"]) for batch in sent for row in batch.to_pylist()]


def test_a_subscription_that_moves_is_withdrawn_elsewhere():
    events = [Subscription("a", "tea", WEST), Subscription("a", "tea", EAST)]
    by_shard = {
        shard: Changes.unpack(data)
        for shard, turn, data in routed(log_table(events, 5), HALVES)
        if turn == CHANGES
    }
    assert by_shard[0].new.position.tolist() == by_shard[1].old.position.tolist() == [5]
    assert by_shard[1].new.position.tolist() == by_shard[0].old.position.tolist() == [6]
    assert not by_shard[0].old.asked.any()


def test_a_message_goes_where_it_may_match():
    events = [
        Message("west", text="tea", at=Point(-95, 5)),
        Message("both", text="tea", at=Box(-1, 0, 1, 1)),
    ]
    sent = {shard: unpack_messages(data) for shard, turn, data in routed(log_table(events), HALVES)}
    assert sent[0].labels.to_pylist() == ["west", "both"]
    assert sent[1].labels.to_pylist() == ["both"]
    assert sent[1].position.tolist() == [1]


@pytest.mark.parametrize("shards", [1, 3])
def test_a_withdrawal_goes_where_its_id_may_be(shards):
    sent = routed(log_table([("unsubscribe", "a")]), Hash(shards))
    assert [turn for _, turn, _ in sent] == [CHANGES]
    assert [shard for shard, _, _ in routed(log_table([("unsubscribe", "a")]), HALVES)] == [0, 1]


@pytest.mark.parametrize("kind", ["subscribe_top", "subscribe_moving", "unsubscribe_hosted"])
def test_a_subscription_with_a_result_takes_an_id_from_boolean_ones_without_a_word(kind):
    sent = routed(log_table([(kind, "a")]), Hash(1), has_results=True)
    [changes] = [Changes.unpack(data) for _, turn, data in sent if turn == CHANGES]
    assert (len(changes.new), changes.old.labels.to_pylist()) == (0, ["a"])
    assert not changes.old.asked.any()  # nobody is told if it was unknown


def hosted(table, partitioning):
    """{shard: [(kind, id, position)]} of rows for results, and of the messages for them alone."""
    rows, messages = {}, {}
    for shard, turn, data in routed(table, partitioning, has_results=True):
        if turn == HOSTED:
            columns = pa.ipc.open_stream(data).read_all().select(["kind", "id", "_position"])
            rows[shard] = [tuple(row.values()) for row in columns.to_pylist()]
        elif turn == HOSTED_MESSAGES:
            messages[shard] = unpack_messages(data).labels.to_pylist()
    return rows, messages


def test_rows_for_results_go_to_the_shard_of_their_id_and_time_to_all():
    events = [TopKSubscription("a", "tea", Point(0, 0)), ("advance", 7), ("unsubscribe", "a")]
    rows, _ = hosted(log_table(events, 5), Hash(3))
    time = ("advance", None, 6)
    assert sorted(rows.values(), key=len) == [
        [time], [time], [("subscribe_top", "a", 5), ("unsubscribe", "a", 7), time]
    ]  # fmt: skip


def test_the_first_of_a_kind_is_told_to_all_shards():
    walkers = [MovingSubscription(f"w{number}", "tea", WEST) for number in range(9)]
    table = log_table(walkers)
    bad = table.set_column(4, "region", pa.array(["?", *table["region"].to_pylist()[1:]]))
    rows, _ = hosted(bad, Hash(3))
    found = [row[1:] for shard in rows.values() for row in shard if row[0] == "prepare_moving"]
    assert found == [("w1", 1)] * 2  # the first that is good, for those that do not keep it


def test_results_hear_of_messages_that_nobody_else_there_needs():
    events = [Message("west", text="tea", at=Point(-95, 5)), Message("bad", text="", at=EAST)]
    rows, messages = hosted(log_table(events), HALVES)
    assert (rows, messages) == ({}, {0: ["bad"], 1: ["west"]})


@pytest.mark.parametrize("kind", ["subscribe_top", "move", "advance"])
def test_without_results_such_rows_are_rejects(kind):
    [(_, turn, data)] = routed(log_table([("subscribe_top", "a")]), Hash(2))
    [reject] = pa.ipc.open_stream(data).read_all().to_pylist()
    assert turn == REJECTS
    assert reject["reason"].endswith("give the stream results=ResultSettings()")


@pytest.mark.parametrize("rows_a_batch", [1, 2, 1000])
def test_without_an_order_changes_come_first_each_in_its_place(rows_a_batch):
    events = [
        Message("m1", text="tea", at=Point(0, 0)),
        Subscription("a", "tea"),
        Message("m2", text="tea", at=Point(0, 0)),
        ("unsubscribe", "a"),
    ]
    table = log_table(events)
    nulls = pa.nulls(len(table), pa.int64())
    table = table.set_column(0, "offset", nulls)
    sent = routed(table, Hash(1), is_ordered=False, rows_a_batch=rows_a_batch)
    changes = Changes.joined([Changes.unpack(d) for _, turn, d in sent if turn == CHANGES])
    messages = [unpack_messages(data) for _, turn, data in sent if turn == MESSAGES]
    positions = [position for rows in messages for position in rows.position.tolist()]
    assert changes.new.position[0] < changes.old.position[0] < min(positions)
    assert len(positions) == len(set(positions)) == 2
    assert not [turn for _, turn, _ in sent if turn == REJECTS]


def test_an_order_that_is_given_counts_among_changes():
    table = log_table([("unsubscribe", "a"), Subscription("a", "tea")])
    table = table.set_column(0, "offset", pa.array([9, 3]))
    [(_, _, first), (_, _, second)] = routed(table, Hash(1), is_ordered=False)
    changes = Changes.joined([Changes.unpack(first), Changes.unpack(second)])
    assert (changes.new.position.tolist(), changes.old.position.tolist()) == ([3], [9])


def test_rejects_travel_too():
    table = log_table([Message("m", text="tea", at=Point(0, 0)), ("unsubscribe", "x")])
    table = table.set_column(1, "kind", pa.array(["message", "leave"]))
    table = table.set_column(0, "offset", pa.array([None, 1], pa.int64()))
    [(shard, turn, data)] = routed(table, HALVES)
    assert (shard, turn) == (0, REJECTS)
    rejects = pa.ipc.open_stream(data).read_all().to_pylist()
    assert {row["id"]: row["side"] for row in rejects} == {"m": "message", "x": "subscription"}
    [message] = [row for row in rejects if row["id"] == "m"]
    assert '"text": "tea"' in message["row"]
    assert PROBLEM not in message["row"]
