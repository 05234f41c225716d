"""Old documents are forgotten (Eq. 6 and 14 of the paper), and scores stay within the error."""

from math import inf
from random import Random

import pytest

from nearcast.checks.trending.samples import terms_of
from nearcast.model import Message, NearbyTrendingSubscription, Point, Space
from nearcast.trending import (
    FTS,
    SST,
    TS,
    NearbyBaseline,
    ParallelTermFields,
    ScanTrending,
    TermFields,
)

SETTINGS = {"half_life": 10.0, "a": 50.0, "max_error": 0.05, "space": Space.PLANE}
"""`a` is large against the distances, so that much may be forgotten: the share is that of the
nearest place against the farthest."""

KINDS = [TermFields, ParallelTermFields, SST, FTS, TS, NearbyBaseline]


def somewhere(random):
    return Point(random.uniform(-10, 10), random.uniform(-10, 10), space=Space.PLANE)


def the_exact_scores(oracle, subscription):
    oracle.subscribe(NearbyTrendingSubscription("all", subscription.at, k=10_000))
    exact = dict(oracle.top("all"))
    oracle.unsubscribe("all")
    return exact


def assert_within(index, oracle, subscription):
    """Scores are off by `max_error` at the most, and the order is right up to that."""
    exact, error = the_exact_scores(oracle, subscription), index.max_error + 1e-9
    found = index.top(subscription.id)
    assert len(found) == min(subscription.k, len(exact))
    lowest = inf
    for term, score in found:
        assert abs(score - exact[term]) <= error * exact[term], (term, score, exact[term])
        assert exact[term] * (1.0 - error) <= lowest * (1.0 + error), (term, found)
        lowest = min(lowest, exact[term])
    for term in exact.keys() - set(terms_of(found)):
        assert exact[term] * (1.0 - error) <= lowest * (1.0 + error), (term, exact[term], found)


@pytest.mark.parametrize("make_index", KINDS)
def test_scores_are_within_the_error_while_documents_are_forgotten(make_index):
    """Each term has dozens of documents, over 60 half-lives."""
    random = Random(4)
    index, oracle = make_index(**SETTINGS), ScanTrending(**SETTINGS)
    people = [NearbyTrendingSubscription(n, somewhere(random), k=1 + n % 6) for n in range(40)]
    index.subscribe_many(people)
    words = [f"w{n}" for n in range(12)]
    for number in range(1200):
        said = random.choices(words, [1.0 / (n + 1) for n in range(12)], k=3)
        message = Message(number, keywords=said, at=somewhere(random), time=number / 2.0)
        index.publish(message)
        oracle.publish(message)
        if number % 150 == 149:
            for each in people:
                assert_within(index, oracle, each)
            index.check()
    assert index.stats().documents < oracle.stats().documents / 2


@pytest.mark.parametrize(
    "make_index",
    [TermFields, pytest.param(ParallelTermFields, marks=pytest.mark.thorough), *KINDS[2:]],
)
def test_a_word_that_was_forgotten_and_comes_back_has_about_what_it_had(make_index):
    """Rare words that are said all the time, more than there is room for, and then some again."""
    random = Random(4)
    index, oracle = make_index(**SETTINGS), ScanTrending(**SETTINGS)
    people = [NearbyTrendingSubscription(n, somewhere(random), k=3) for n in range(3)]
    index.subscribe_many(people)
    for number in range(300):
        said = [f"rare{100 * number + n}" for n in range(100)]
        message = Message(number, keywords=said, at=somewhere(random), time=number / 10.0)
        index.publish(message)
        oracle.publish(message)
        if number >= 150 and number % 10 == 0:
            for again in (85, 100, 120):
                said = [f"rare{100 * (number - again) - n}" for n in range(1, 3)]
                at = somewhere(random)
                back = Message(f"b{again}", keywords=said, at=at, time=number / 10.0)
                index.publish(back)
                oracle.publish(back)
            for each in people:
                assert_within(index, oracle, each)
