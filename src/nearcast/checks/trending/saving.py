"""A saved index goes on exactly where it was."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from nearcast.batches import MessageBatch
from nearcast.checks.trending.samples import (
    SPACES,
    Check,
    MakeIndex,
    Pair,
    some_documents,
    some_subscriptions,
)
from nearcast.model import Message
from nearcast.trending import TermRules, TrendingIndex


def check_save_and_load(make_index: MakeIndex) -> None:
    """What comes back has the same settings, subscriptions and lists, and goes on alike."""
    for space in SPACES:
        rules = TermRules(stop_words=["bus"], shortest=2)
        pair = Pair(make_index, half_life=6.0, horizon=4, space=space, lateness=1.0, terms=rules)
        for subscription in some_subscriptions(pair.kind, 40, space):
            pair.subscribe(subscription)
        for gone in (3, 17, 20):
            pair.unsubscribe(gone)
        messages = list(some_documents(60, space))
        for message in messages[:30]:
            pair.publish(message)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.near"
            pair.index.save(path)
            settings = pair.index.settings()
            pair.index = type(pair.index).load(path)
        assert pair.index.settings() == settings
        pair.assert_same_lists()
        for id, subscription in pair.live.items():
            assert pair.index.subscription(id) == subscription
        for message in messages[30:]:
            pair.publish(message)
        pair.assert_same_lists()


def check_goes_on_like_its_twin(make_index: MakeIndex) -> None:
    """What was loaded tells the same as the one that was saved, and has the same, bit for bit."""
    for space in SPACES:
        index = make_index(half_life=6.0, horizon=4, space=space, lateness=1.0)
        subscriptions = list(some_subscriptions(index.kinds[0], 60, space))
        index.subscribe_many(subscriptions[:40])
        messages = list(some_documents(120, space))
        for number, message in enumerate(messages[:50]):
            index.publish(message)
            if number % 10 == 9:
                index.unsubscribe(number // 10)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.near"
            index.save(path)
            twins = index, type(index).load(path)
        for number, message in enumerate(messages[50:80]):
            told = [twin.publish(message) for twin in twins]
            assert told[0] == told[1]
            if number % 3 == 0:
                told = [twin.subscribe(subscriptions[40 + number // 3]) for twin in twins]
                assert told[0] == told[1]
            if number % 5 == 0:
                for twin in twins:
                    twin.unsubscribe(number + 10)
            _assert_twins(*twins)
        batch = MessageBatch.from_messages(messages[80:], space=space)
        one, other = (twin.publish_batch(batch).tolist() for twin in twins)
        assert one == other
        told = [twin.advance(twin.now + 10.0) for twin in twins]
        assert told[0] == told[1]
        _assert_twins(*twins)


def _assert_twins(one: TrendingIndex, other: TrendingIndex) -> None:
    assert set(one.ids()) == set(other.ids())
    for id in one.ids():
        assert one.top(id) == other.top(id)


def check_saved_empty(make_index: MakeIndex) -> None:
    """An index without anything can be saved, loaded and used."""
    pair = Pair(make_index, half_life=6.0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.near"
        pair.index.save(path)
        pair.index = type(pair.index).load(path)
    for subscription in some_subscriptions(pair.kind, 5, pair.index.space):
        pair.subscribe(subscription)
    for message in some_documents(10, pair.index.space):
        pair.publish(message)
    pair.publish(Message("last", keywords=["tea"], at=message.at, time=message.time))
    pair.assert_same_lists()


SAVING: tuple[Check, ...] = (
    check_save_and_load,
    check_goes_on_like_its_twin,
    check_saved_empty,
)
