"""Many messages at once: what is told of them."""

import pytest

from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.broker.recent import RecentMessages
from nearcast.model import (
    Box,
    Circle,
    Message,
    MovingSubscription,
    Point,
    Space,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)

HERE = Point(2.35, 48.86)


def messages(count, first=0, **options):
    return [
        Message(number, text="tea", at=HERE, time=float(number), **options)
        for number in range(first, first + count)
    ]


def test_each_kind_is_told_in_its_way():
    broker = Broker()
    broker.subscribe(TopKSubscription("top", "tea", HERE, k=2))
    broker.subscribe(TrendingSubscription("terms", Box(2, 48, 3, 49)))
    broker.subscribe(MovingSubscription("walk", "tea", Circle(HERE, 10)))
    told = broker.publish_together(
        MessageBatch.from_messages(messages(2, expires=2.0) + messages(3, 2))
    )
    found = [(row, each.subscription_id, each.kind, each.message_id) for row, each in told.single]
    assert found == [
        (0, "walk", "enter", 0), (1, "walk", "enter", 1),
        (1, "walk", "leave", 0), (1, "walk", "leave", 1),  # before the next one enters
        (2, "walk", "enter", 2), (3, "walk", "enter", 3), (4, "walk", "enter", 4),
    ]  # fmt: skip
    assert told.lists.subscription_ids.to_pylist() == ["top"]
    assert told.lists.message_ids.to_pylist() == [4, 3]
    [terms] = told.terms
    assert (terms.subscription_ids.to_pylist(), terms.terms.to_pylist()) == (["terms"], ["tea"])
    assert broker.results("walk") == [2, 3, 4]


def test_integers_stay_integers_beside_strings():
    broker = Broker()
    broker.subscribe(MovingSubscription(7, "tea", Circle(HERE, 10)))
    broker.subscribe(MovingSubscription("seven", "tea", Circle(HERE, 10)))
    told = broker.publish_together(MessageBatch.from_messages(messages(1)))
    assert {each.subscription_id for _, each in told.single} == {7, "seven"}


def test_many_lists_at_once():
    broker = Broker()
    broker.publish(messages(1)[0])
    broker.subscribe(Subscription("b", "tea"))
    lists = [TopKSubscription(id, "tea", HERE, k=1) for id in "ab"]
    told = broker.subscribe_lists(lists)
    assert [(each.subscription_id, each.entered) for each in told] == [("a", (0,)), ("b", (0,))]
    assert broker.publish(messages(1, 1)[0])[0].kind == "top"  # the boolean one has ended
    assert broker.subscribe_lists([]) == []
    assert broker.subscribe_lists(lists) == []  # as they were
    with pytest.raises(ValueError, match="'a' is there twice"):
        broker.subscribe_lists([lists[0], lists[0]])


def test_whoever_is_prepared_for_finds_more_than_the_last_messages(monkeypatch):
    monkeypatch.setattr("nearcast.broker.broker.RECENT", 3)
    region = Box(2, 48, 3, 49)
    prepared, surprised = Broker(), Broker()
    prepared.prepare_for(TrendingSubscription("first", region))
    prepared.prepare_for(Subscription("none", "tea"))
    for broker in (prepared, surprised):
        for message in messages(9):
            broker.publish(message)
        broker.subscribe(TrendingSubscription("terms", region))
    assert surprised.results("terms")[0][1] == pytest.approx(3, rel=0.01)
    assert prepared.results("terms")[0][1] == pytest.approx(9, rel=0.01)


def test_the_last_messages_are_as_many_however_they_came():
    recent = RecentMessages(4, Space.EARTH)
    recent.append_batch(MessageBatch.from_messages(messages(3)))
    recent.append_batch(MessageBatch.from_messages(messages(2, 3)))
    recent.append(messages(1, 5)[0])
    assert [batch.ids.to_pylist() for batch in recent.batches()] == [[2], [3, 4], [5]]
