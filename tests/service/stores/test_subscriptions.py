from concurrent.futures import ThreadPoolExecutor

import pytest

from nearcast.model import ANY, Box, Circle, MovingSubscription, Point, Polygon, Subscription
from nearcast.service.documents import Position
from nearcast.service.stores.registry import open_registry
from nearcast.service.stores.subscriptions import Entry, NoRoom, Subscriptions


@pytest.fixture
def registry(folder):
    registry = open_registry(folder)
    yield registry
    registry.close()


@pytest.fixture
def subscriptions(registry, log):
    return Subscriptions(registry, log)


def tea(id="tea", region=None):
    return Subscription(id, "tea", region)


def logged(log):
    rows = log.read(log.start, log.end)
    return list(zip(rows["kind"].to_pylist(), rows["id"].to_pylist(), strict=True))


def test_what_is_put_is_in_the_log_and_can_be_got(subscriptions, log):
    assert subscriptions.put("ann", [Entry(tea()), Entry(tea("b"), 99.0)]) == [True, True]
    assert subscriptions.put("bob", [Entry(tea())]) == [True]
    assert logged(log) == [
        ("subscribe", "ann/b"),
        ("subscribe", "ann/tea"),
        ("subscribe", "bob/tea"),
    ]
    found = subscriptions.get("ann", "b")
    assert (found.owner, found.subscription, found.expires) == ("ann", tea("b"), 99.0)
    assert subscriptions.get("bob", "b") is None
    assert (subscriptions.count(), subscriptions.count("ann")) == (3, 2)


@pytest.mark.parametrize(
    "region",
    [
        None,
        Box(170.1, -10, -170.3, 10),
        Circle(Point(0.1, 0.2), 33.3),
        Polygon([[(0, 0), (4, 0.1), (0.3, 3)]]),
    ],
)
def test_regions_come_back_bit_by_bit(subscriptions, region):
    given = Subscription("s", "a AND (b OR NOT c d)", region)
    subscriptions.put("ann", [Entry(given)])
    assert subscriptions.get("ann", "s").subscription == given
    if region is not None:
        anything = Subscription("s", ANY, region)
        assert subscriptions.put("ann", [Entry(anything)]) == [False]
        assert subscriptions.get("ann", "s").subscription == anything


def test_removed_ones_are_gone_at_once(subscriptions, log):
    subscriptions.put("ann", [Entry(tea())])
    assert subscriptions.remove("ann", ["tea", "other"]) == [True, False]
    assert subscriptions.remove("bob", ["tea"]) == [False]
    assert subscriptions.get("ann", "tea") is None
    assert logged(log)[1:] == [("unsubscribe", "ann/tea")]
    assert subscriptions.put("ann", [Entry(tea())]) == [True]


def test_those_whose_time_is_up_are_withdrawn(subscriptions, log):
    subscriptions.put("ann", [Entry(tea("a"), 10.0), Entry(tea("b"), 20.0), Entry(tea("c"))])
    assert subscriptions.expire(5.0) == 0
    assert subscriptions.expire(10.0) == 1
    assert logged(log)[3:] == [("unsubscribe", "ann/a")]
    assert [each.id for each in subscriptions.page("ann", 10)] == ["b", "c"]


def test_keywords_stay_as_they_were_typed(subscriptions):
    typed = "(a OR b) AND (c OR d)"
    words = ["tea", "OR"]
    subscriptions.put(
        "ann",
        [
            Entry(Subscription("text", typed), keywords=typed),
            Entry(Subscription("list", words), keywords=words),
        ],
    )
    as_list, as_text = subscriptions.page("ann", 2)
    assert as_text.document["properties"] == {"keywords": typed}
    assert as_text.subscription == Subscription("text", typed)
    assert as_list.document["properties"] == {"keywords": words}
    assert as_list.subscription == Subscription("list", words)


def test_too_many_are_refused_all_of_them(subscriptions, log):
    subscriptions.put("ann", [Entry(tea("a")), Entry(tea("b"))], most=2)
    with pytest.raises(NoRoom, match="'ann' has 2 subscriptions, 1 more would exceed 2"):
        subscriptions.put("ann", [Entry(tea("b"), 9.0), Entry(tea("c")), Entry(tea("c"))], most=2)
    assert subscriptions.get("ann", "b").expires is None
    assert len(logged(log)) == 2
    assert subscriptions.put("ann", [Entry(tea("b"))], most=1) == [False]
    assert subscriptions.put("bob", [Entry(tea("c"))], most=2) == [True]


def test_counts_follow_what_is_there(subscriptions, registry, log):
    def counts(store):
        return store.count(), store.count("ann"), store.count("bob")

    subscriptions.put("ann", [Entry(tea("a")), Entry(tea("b"), 10.0), Entry(tea("a"))])
    subscriptions.put("bob", [Entry(tea("a"), 10.0)])
    assert counts(subscriptions) == counts(Subscriptions(registry, log)) == (3, 2, 1)
    subscriptions.expire(10.0)
    assert counts(subscriptions) == counts(Subscriptions(registry, log)) == (1, 1, 0)
    subscriptions.remove("ann", ["a", "a", "b"])
    assert counts(subscriptions) == counts(Subscriptions(registry, log)) == (0, 0, 0)


def test_pages(subscriptions):
    subscriptions.put("ann", [Entry(tea(id)) for id in "abcd"])
    subscriptions.put("bob", [Entry(tea(id)) for id in "xy"])
    assert [each.id for each in subscriptions.page("ann", 2)] == ["a", "b"]
    assert [each.id for each in subscriptions.page("ann", 2, after="b")] == ["c", "d"]
    subscriptions.remove("ann", ["c", "d"])
    assert subscriptions.ids() == {("ann", "a"), ("ann", "b"), ("bob", "x"), ("bob", "y")}


def test_after_a_crash_between_registry_and_log_the_log_gets_it(registry, log, monkeypatch):
    subscriptions = Subscriptions(registry, log)
    subscriptions.put("ann", [Entry(tea("old"))])

    def crash(*_):
        raise OSError("crash")

    with monkeypatch.context() as patch:
        patch.setattr(log, "append", crash)
        with pytest.raises(OSError, match="crash"):
            subscriptions.put("ann", [Entry(tea("new"))])
        with pytest.raises(OSError, match="crash"):
            subscriptions.remove("ann", ["old"])
    again = Subscriptions(registry, log)
    assert logged(log)[1:] == [("subscribe", "ann/new"), ("unsubscribe", "ann/old")]
    assert [each.id for each in again.page("ann", 10)] == ["new"]
    again.log_again()
    assert len(logged(log)) == 3


def walk(id, lat=0.0):
    return MovingSubscription(id, "tea", Circle(Point(0, lat), 500))


def test_positions_of_many_threads_are_all_logged(subscriptions, log):
    names = [f"w{number}" for number in range(8)]
    subscriptions.put("ann", [Entry(walk(name)) for name in names])

    def move(name):
        steps = [Position(name, walk(name, lat).region) for lat in (1.0, 2.0)]
        return [subscriptions.move("ann", [step]) for step in steps]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(move, names)) == [[[None], [None]]] * 8
    assert sorted(logged(log)[8:]) == sorted([("move", f"ann/{name}") for name in names] * 2)
    assert subscriptions.get("ann", "w3").subscription == walk("w3", 2.0)


def test_a_full_disk_takes_no_position(subscriptions, log, monkeypatch):
    subscriptions.put("ann", [Entry(walk("w"))])
    there = [Position("w", walk("w", lat).region, time=lat) for lat in (1.0, 2.0)]

    def full(rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "move", full)
    with pytest.raises(OSError, match="No space"):
        subscriptions.move("ann", there)
    monkeypatch.undo()
    assert subscriptions.move("ann", there) == [None, None]
    assert logged(log) == [("subscribe_moving", "ann/w"), ("move", "ann/w"), ("move", "ann/w")]
