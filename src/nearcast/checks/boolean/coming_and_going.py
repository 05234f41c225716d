"""Subscriptions come, are replaced and go, and the index keeps up."""

from __future__ import annotations

from math import isfinite
from typing import Any

from nearcast.checks.boolean.samples import (
    SPACES,
    Check,
    MakeIndex,
    assert_answers,
    batch_of,
    message_batch_of,
    some_messages,
    some_subscriptions,
)
from nearcast.checks.expecting import expects
from nearcast.model import Box, Id, Message, Point, Space, Subscription

_HERE = Message(1, keywords=["tea", "cake"], at=Point(0, 0))


def check_empty_index(make_index: MakeIndex) -> None:
    """An index without subscriptions answers, with nothing."""
    for space in SPACES:
        index = make_index(space=space)
        index.insert_batch(batch_of([], space))
        assert_answers(index, [], some_messages(10, space))
        matches = index.match_batch(message_batch_of([], space))
        assert len(matches) == 0
        assert matches.start.tolist() == [0]
        assert index.stats().subscriptions == 0


def check_insert_and_remove(make_index: MakeIndex) -> None:
    """One by one in, one by one out, right at every step."""
    for space in SPACES:
        index = make_index(space=space)
        subscriptions, messages = some_subscriptions(50, space), some_messages(12, space)
        for count, subscription in enumerate(subscriptions, 1):
            index.insert(subscription)
            if count % 10 == 0:
                assert_answers(index, subscriptions[:count], messages)
        for count, subscription in enumerate(subscriptions, 1):
            index.remove(subscription.id)
            assert subscription.id not in index
            if count % 10 == 0:
                assert_answers(index, subscriptions[count:], messages)


def check_batches(make_index: MakeIndex) -> None:
    """A large batch, small ones after it, and batches that replace part of what is there."""
    for space in SPACES:
        index = make_index(space=space)
        messages = some_messages(20, space)
        live = {s.id: s for s in some_subscriptions(120, space)}
        index.insert_batch(batch_of(live.values(), space))
        assert_answers(index, live.values(), messages)
        for first in (115, 70, 0):
            changed: dict[Id, Subscription] = {
                s.id + first: Subscription(s.id + first, s.expression, s.region)
                for s in some_subscriptions(40, space, seed=first + 3)
                if isinstance(s.id, int)
            }
            live.update(changed)
            index.insert_batch(batch_of(changed.values(), space))
            assert_answers(index, live.values(), messages)


def check_order_of_arrival(make_index: MakeIndex) -> None:
    """Answers do not depend on the order or the form in which subscriptions arrived."""
    subscriptions = some_subscriptions(60, Space.EARTH)
    messages = some_messages(20, Space.EARTH)
    for arrival in (subscriptions, subscriptions[::-1]):
        singly, at_once = make_index(space=Space.EARTH), make_index(space=Space.EARTH)
        for subscription in arrival:
            singly.insert(subscription)
        at_once.insert_batch(batch_of(arrival))
        assert_answers(singly, subscriptions, messages)
        assert_answers(at_once, subscriptions, messages)


def check_replace(make_index: MakeIndex) -> None:
    """Inserting a live id replaces words and region, and leaves one subscription."""
    index = make_index(space=Space.EARTH)
    for region in (None, Box(-1, -1, 1, 1), Box(170, 10, -170, 20)):
        for words in ("tea", "cake", "tea OR cake", "sale"):
            index.insert(Subscription("me", words, region))
            assert_answers(index, [Subscription("me", words, region)], [_HERE])
    index.insert_batch(batch_of([Subscription("me", "tea"), Subscription("you", "cake")]))
    assert_answers(index, [Subscription("me", "tea"), Subscription("you", "cake")], [_HERE])


def check_leaving_and_coming_back(make_index: MakeIndex) -> None:
    """An id that left is unknown, and may come back with other wishes."""
    index = make_index(space=Space.EARTH)
    for words in ("tea", "sale", "cake AND tea"):
        index.insert(Subscription(5, words))
        assert_answers(index, [Subscription(5, words)], [_HERE])
        index.remove(5)
        assert_answers(index, [], [_HERE])
        with expects(KeyError):
            index.remove(5)


def check_unknown_ids(make_index: MakeIndex) -> None:
    """An id that is not live, or cannot be one, is a KeyError and not `in` the index."""
    index = make_index(space=Space.EARTH)
    held = [Subscription(id_, "tea") for id_ in (1, "true", "7", "1.5", "None")]
    for subscription in held:
        index.insert(subscription)
    strangers: tuple[Any, ...] = (
        2, -1, 2**63 - 1, 2**63, -(2**70), "", "tea", "1", 7, True, False, 1.0, 1.5, None, (),
    )  # fmt: skip
    for stranger in strangers:
        index.insert(held[0])  # an index may put off what it is told
        with expects(KeyError):
            index.remove(stranger)
        assert stranger not in index
        with expects(KeyError):
            index.subscription(stranger)
    assert_answers(index, held, [_HERE])


def check_subscription_comes_back(make_index: MakeIndex) -> None:
    """`subscription` gives back what was inserted, for every kind of region and expression."""
    for space in SPACES:
        index = make_index(space=space)
        subscriptions = some_subscriptions(60, space)
        index.insert_batch(batch_of(subscriptions, space))
        for subscription in subscriptions:
            assert index.subscription(subscription.id) == subscription
            assert subscription.id in index


def check_stats(make_index: MakeIndex) -> None:
    """`stats` counts what is live, what was looked at and what was found."""
    index = make_index(space=Space.EARTH)
    index.insert_batch(batch_of(some_subscriptions(100, Space.EARTH)))
    before = index.stats()
    assert before.subscriptions == 100
    assert before.candidates == before.matches == 0
    assert before.bytes > 0
    assert before.nodes >= 0
    assert isfinite(before.copies)
    assert before.copies > 0
    matches = index.match_batch(message_batch_of(some_messages(50, Space.EARTH)))
    after = index.stats()
    assert after.matches == len(matches) > 0
    assert after.candidates == matches.candidates >= after.matches
    index.remove(0)
    assert index.stats().subscriptions == 99


COMING_AND_GOING: tuple[Check, ...] = (
    check_empty_index,
    check_insert_and_remove,
    check_batches,
    check_order_of_arrival,
    check_replace,
    check_leaving_and_coming_back,
    check_unknown_ids,
    check_subscription_comes_back,
    check_stats,
)
