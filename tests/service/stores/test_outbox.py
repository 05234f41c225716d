from types import SimpleNamespace

import pyarrow as pa
import pytest

from nearcast.pipeline.hosted.keeper import RESULTS
from nearcast.service.matching.outbox_sink import OutboxSink
from nearcast.service.stores.outbox import Outbox

NO_REJECTS = pa.table({name: pa.array([], pa.string()) for name in ("side", "id", "reason", "row")})


@pytest.fixture
def outbox(folder):
    outbox = Outbox(folder)
    yield outbox
    outbox.close()


@pytest.fixture
def make_sink(folder):
    sinks = []

    def make(stream="stream", keep_seconds=1e9, keep_events=1000, **more):
        sink = OutboxSink(folder, keep_seconds=keep_seconds, keep_events=keep_events, **more)
        sink.open(stream)
        sinks.append(sink)
        return sink

    yield make
    for sink in sinks:
        sink.close()


def batch(number, pairs, rejects=NO_REJECTS):
    found = pa.table(
        {
            "subscription_id": pa.array([name for name, _ in pairs], pa.string()),
            "position": pa.array([offset for _, offset in pairs], pa.int64()),
        }
    )
    return SimpleNamespace(
        number=number,
        notifications=lambda: found,
        rejects=lambda: rejects,
        results=RESULTS.empty_table,
    )


def seen(events):
    return [(each.sequence, each.subscription, each.offset) for each in events]


def test_each_subscriber_has_its_own_events_in_order(make_sink, outbox):
    committed = []
    sink = make_sink(on_commit=committed.append)
    sink.commit(batch(0, [("ann/a", 3), ("bob/a", 3), ("ann/b", 4)]))
    sink.commit(batch(1, [("ann/a", 9)]))
    assert committed == [3, 4]
    assert seen(outbox.events("ann", 0, 10)) == [(1, "a", 3), (3, "b", 4), (4, "a", 9)]
    assert seen(outbox.events("ann", 1, 1)) == [(3, "b", 4)]
    assert seen(outbox.events("bob", 0, 10)) == [(2, "a", 3)]
    assert [outbox.before_newest("ann", count) for count in (1, 2, 3)] == [3, 1, 0]
    assert outbox.subscribers_since(2) == (4, {"ann"})
    assert outbox.last_sequence() == 4
    assert outbox.matched("ann", "a") == 2
    assert outbox.matched("ann", "z") == 0
    assert outbox.counts_between("ann", 1, 4) == {"a": 1, "b": 1}
    assert outbox.oldest_after("ann", "a", 1).sequence == 4
    assert outbox.oldest_after("ann", "b", 3) is None


def test_a_batch_that_comes_again_changes_nothing(make_sink, outbox):
    make_sink().commit(batch(0, [("ann/a", 3)]))
    again = make_sink()
    again.commit(batch(0, [("ann/a", 3)]))
    again.commit(batch(5, [("ann/a", 8)]))
    assert seen(outbox.events("ann", 0, 10)) == [(1, "a", 3), (2, "a", 8)]
    assert outbox.matched("ann", "a") == 2


def test_another_checkpoint_is_refused(make_sink):
    make_sink("one")
    with pytest.raises(ValueError, match="belongs to another checkpoint"):
        make_sink("two")


def test_who_comes_too_late_is_told(make_sink, outbox):
    sink = make_sink(keep_events=2)
    sink.commit(batch(0, [("ann/a", 1), ("bob/a", 1), ("ann/a", 2)]))
    assert outbox.gap("ann", 0) == 1
    assert outbox.gap("ann", 1) is None
    assert outbox.gap("bob", 0) is None
    sink.commit(batch(1, [("eve/a", 7), ("eve/a", 8)]))
    assert outbox.gap("ann", 1) == 3
    assert outbox.gap("bob", 0) == 2
    assert outbox.gap("eve", 0) is None
    assert outbox.events("ann", 0, 10) == outbox.events("bob", 0, 10) == []
    assert seen(outbox.events("eve", 0, 10)) == [(4, "a", 7), (5, "a", 8)]


def test_one_subscriber_cannot_push_out_the_others(make_sink, outbox):
    sink = make_sink(keep_events=5_000)
    sink.commit(batch(0, [("bob/a", 0)]))
    sink.commit(batch(1, [("ann/a", offset) for offset in range(1_500)]))
    assert seen(outbox.events("bob", 0, 10)) == [(1, "a", 0)]
    assert outbox.gap("bob", 0) is None
    assert outbox.gap("ann", 0) == 501
    assert [each.sequence for each in outbox.events("ann", 0, 9_999)] == list(range(502, 1_502))
    sink.commit(batch(2, [("ann/a", 9), ("bob/a", 9)]))
    assert outbox.gap("ann", 501) == 502
    assert len(outbox.events("bob", 0, 10)) == 2


def test_old_events_go_a_part_at_a_time(make_sink, outbox, monkeypatch):
    monkeypatch.setattr("nearcast.service.matching.outbox_sink.DROPPED_AT_ONCE", 2)
    monkeypatch.setattr("nearcast.service.matching.outbox_sink.ROWS_AT_ONCE", 2)
    sink = make_sink(keep_seconds=10)
    monkeypatch.setattr("time.time", lambda: 1000.0)
    sink.commit(batch(0, [("ann/a", offset) for offset in range(5)]))
    monkeypatch.setattr("time.time", lambda: 1011.0)
    for number, left in ((1, [3, 4, 5]), (2, [5]), (3, [])):
        sink.commit(batch(number, []))
        assert [each.sequence for each in outbox.events("ann", 0, 10)] == left


def test_numbers_are_never_given_twice(make_sink, outbox, monkeypatch):
    sink = make_sink(keep_seconds=10)
    monkeypatch.setattr("time.time", lambda: 1000.0)
    sink.commit(batch(0, [("ann/a", 1)]))
    monkeypatch.setattr("time.time", lambda: 1011.0)
    sink.commit(batch(1, []))
    assert outbox.events("ann", 0, 10) == []
    assert outbox.gap("ann", 0) == 1
    sink.commit(batch(2, [("ann/a", 2)]))
    assert seen(outbox.events("ann", 0, 10)) == [(2, "a", 2)]


def test_rejects_are_kept_with_their_reasons(make_sink, outbox):
    bad = pa.table({"side": ["message"], "id": ["m"], "reason": ["lat 95"], "row": ["{}"]})
    make_sink().commit(batch(0, [], bad))
    expected = {"number": 1, "side": "message", "id": "m", "reason": "lat 95", "row": "{}"}
    assert outbox.rejects(0, 10) == [expected]
    assert outbox.rejects(1, 10) == []
