"""Planned distributions over a stream of steps: exact, sent on and released, counted."""

import numpy as np
import pytest

from nearcast.batches import MessageBatch
from nearcast.checks.topk.pair import assert_same_list
from nearcast.model import Message, Point, Space, TopKSubscription
from nearcast.topk import CountWindow, ScanTopK, TimeWindow, WordStatistics
from nearcast.topk.distributions import (
    ByKeyword,
    ByPrefix,
    DistributedLists,
    WordRanges,
    choose,
)
from nearcast.topk.distributions.kinds import KINDS
from nearcast.topk.index import Scoring

WORDS = [f"w{n}" for n in range(30)]
CHANCES = 1.0 / np.arange(1.0, len(WORDS) + 1.0)
CHANCES /= CHANCES.sum()


def stream(count, seed, first=0):
    """The older a message, the longer and so the poorer: lists get better, and worse again."""
    random = np.random.default_rng(seed)
    return [
        Message(
            first + n,
            keywords=random.choice(WORDS, 1 + n // 40 % 8, p=CHANCES).tolist(),
            at=Point(random.uniform(0, 3), random.uniform(0, 3), space=Space.PLANE),
            time=float(first + n),
        )
        for n in range(count)
    ]


def subscriptions(count):
    random = np.random.default_rng(7)
    return [
        TopKSubscription(
            n,
            random.choice(WORDS, 4, replace=False).tolist(),
            Point(random.uniform(0, 3), random.uniform(0, 3), space=Space.PLANE),
            k=int(random.integers(1, 4)),
            alpha=float(random.choice([0.0, 0.1, 0.3, 1.0])),
        )
        for n in range(count)
    ]


def batch(messages):
    return MessageBatch.from_messages(messages, space=Space.PLANE)


SAMPLE = stream(300, seed=1)
SCORING = Scoring.of(Space.PLANE, 5.0, WordStatistics.of_messages(SAMPLE))


def lists(window, distribution):
    return DistributedLists(
        window,
        distribution=distribution,
        space=SCORING.space,
        max_dist=SCORING.max_dist,
        statistics=SCORING.statistics,
    )


def planned(name, shards):
    return KINDS[name].plan(subscriptions(60), batch(SAMPLE), shards, SCORING, 10**7)


@pytest.mark.parametrize("window", [CountWindow(90), TimeWindow(90.0)])
@pytest.mark.parametrize("name", KINDS)
def test_lists_after_each_step_are_those_of_one_index(name, window):
    oracle = ScanTopK(
        window, space=SCORING.space, max_dist=SCORING.max_dist, statistics=SCORING.statistics
    )
    index = lists(window, planned(name, 6))
    messages = stream(272, seed=2)
    for message in messages[:80]:
        oracle.publish(message)
    index.publish_together(batch(messages[:80]))
    index.subscribe_many(subscriptions(25))
    for subscription in subscriptions(25):
        oracle.subscribe(subscription)
    known = {n: index.results(n) for n in range(25)}
    for first in range(80, 272, 16):
        for message in messages[first : first + 16]:
            oracle.publish(message)
        for change in index.publish_together(batch(messages[first : first + 16])):
            before = {id for id, _ in known[change.subscription_id]}
            after = {id for id, _ in change.results}
            assert (set(change.entered), set(change.left)) == (after - before, before - after)
            known[change.subscription_id] = change.results
        for n in range(25):
            assert_same_list(index.results(n), oracle.results(n))
            assert index.results(n) == known[n]
    index.check()
    sent = index.sent
    if name == "prefix":
        assert sent.reallocated > 0
        assert sent.released > 0
        assert index.subscriptions_by_shard().sum() < 25 * 3
    else:
        assert sent.reallocated == sent.released == 0
    if name in ("hash", "location"):
        assert sent.messages == 272 * 6
        assert sent.subscriptions == index.subscriptions_by_shard().sum() == 25
    else:
        assert sent.messages < 272 * 6


def test_a_message_with_an_unusually_heavy_word_goes_everywhere():
    prefix = planned("prefix", 6)
    word = min(prefix.heaviest, key=prefix.heaviest.get)
    alone, among = Message(1, keywords=[word], at=SAMPLE[0].at), SAMPLE[-1]
    heavy, usual = prefix.targets(batch([alone, among]), SCORING.statistics)
    assert heavy.all()
    assert usual.sum() <= len(set(among.keywords))


def test_words_are_divided_by_cost():
    keyword = planned("keyword", 6)
    assert isinstance(keyword, ByKeyword)
    assert set(keyword.words.table.values()) | set(keyword.words.rare) == set(range(6))
    by_frequency = [*keyword.words.table.values(), *keyword.words.rare]
    assert by_frequency == sorted(by_frequency)


def test_places_are_divided_by_cost():
    location = planned("location", 5)
    index = lists(CountWindow(10), location)
    index.subscribe_many(subscriptions(60))
    assert (index.subscriptions_by_shard() > 3).all()
    one_spot = [TopKSubscription(n, "w1", Point(1, 1, space=Space.PLANE), k=1) for n in range(40)]
    location = KINDS["location"].plan(one_spot, batch(SAMPLE), 4, SCORING, 40)
    index = lists(CountWindow(10), location)
    index.subscribe_many(one_spot)
    assert (index.subscriptions_by_shard() > 3).all()


def test_the_choice_is_told_with_its_reason():
    few = choose("auto", subscriptions(60), batch(SAMPLE), 1, SCORING, total_subscriptions=10**6)
    assert few.distribution.name == "hash"
    many = choose("auto", subscriptions(60), batch(SAMPLE), 24, SCORING, total_subscriptions=10**6)
    assert many.predicted["hash"].copies == 24
    assert many.predicted["prefix"].replicas < many.predicted["keyword"].replicas
    assert many.why.startswith(f"{many.distribution.name} on 24 shards should take")
    assert all(name in many.why for name in KINDS)


def test_what_is_wrong_is_told_and_changes_nothing():
    index = lists(CountWindow(10), planned("prefix", 3))
    index.publish_together(batch(stream(5, seed=3)))
    again = Message(4, keywords=["w1"], at=SAMPLE[0].at, time=9.0)
    with pytest.raises(ValueError, match="publish its message by itself"):
        index.publish_together(batch([again]))
    with pytest.raises(ValueError, match="shards hold nothing"):
        planned("keyword", 0)
    with pytest.raises(KeyError):
        index.results("nobody")
    assert index.publish_together(batch([])) == []
    assert index.stats().messages == 5


def test_a_message_of_a_heavy_word_alone_reaches_a_list_that_is_elsewhere():
    words = WordRanges({"jazz": 0, "the": 1}, (0,))
    here = Point(0, 0, space=Space.PLANE)
    index = DistributedLists(
        CountWindow(9),
        distribution=ByPrefix(2, words, {"the": 0.25}),
        space=Space.PLANE,
        max_dist=1.0,
        statistics=WordStatistics(100, {"jazz": 1, "the": 90}),
    )
    long = ["jazz", *(f"other{n}" for n in range(40))]
    index.publish(Message("long", keywords=long, at=here))
    index.subscribe(TopKSubscription("s", "jazz the", here, k=1, alpha=0.0))
    assert index.subscriptions_by_shard().tolist() == [1, 0]
    [change] = index.publish(Message("short", keywords=["the"], at=here))
    assert change.entered == ("short",)
    assert index.subscriptions_by_shard().tolist() == [1, 0]
