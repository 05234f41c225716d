"""`recommend`: what is measured, what is expected of each index, and how the answer reads."""

from dataclasses import replace
from functools import cache
from inspect import isabstract
from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest

import nearcast.boolean as room
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean.index_costs import COSTS, TERMS, predict
from nearcast.boolean.recommendation import DEFAULT, recommend
from nearcast.boolean.workload_statistics import WorkloadStatistics, measure_workload
from nearcast.datasets import Tweets, subscriptions_from
from nearcast.model import ANY, Box, Message, Point, Space, Subscription

TWEETS = Tweets(seed=3, vocabulary=20_000)


@cache
def tweets(count=4_000, words=None):
    stream = TWEETS if words is None else replace(TWEETS, shortest=words, longest=words)
    return stream.batch(count)


@cache
def subscriptions(count=30_000, **options):
    return subscriptions_from(TWEETS.batch(30_000), count, bounds=TWEETS.bounds, **options)


def as_ranges(messages, half):
    at = messages.at + np.array([-half, -half, half, half])
    return replace(messages, at=at, is_box=np.ones(len(messages), bool))


def subscription_batch(*rows, space=Space.EARTH):
    return SubscriptionBatch.from_subscriptions(rows, space=space)


def message_batch(*rows, space=Space.EARTH):
    return MessageBatch.from_messages(rows, space=space)


# ---------------------------------------------------------------------- what is measured


def test_statistics_of_a_workload_counted_by_hand():
    wanted = subscription_batch(
        Subscription(1, "tea cake", Box(0, 0, 10, 10)),
        Subscription(2, "tea", Box(0, 0, 10, 10)),
        Subscription(3, "tea cake", Box(50, 50, 60, 60)),
        Subscription(4, "tea AND (ipad OR sale) AND NOT old", Box(0, 0, 10, 10)),
    )
    seen = message_batch(
        Message(1, text="Tea tea cake", at=Point(5, 5)), Message(2, text="hello", at=Point(5, 5))
    )
    measured = measure_workload(wanted, seen)
    assert (measured.subscriptions, measured.entries) == (4, 5)
    assert measured.clause_words == pytest.approx(9 / 5)
    assert measured.general == pytest.approx(2 / 5)
    assert (measured.message_words, measured.known_words) == (1.5, 1.0)
    assert measured.range_messages == 0
    assert measured.near == pytest.approx(4, rel=0.02)
    # `cake` is rarer than `tea`: the first message finds 1 and 3 under it, 2 under `tea`.
    assert measured.listed == 1.5
    assert (measured.listed_near, measured.satisfied) == (1.0, 1.5)
    assert measured.matches == 1.0


def test_samples_tell_about_the_whole():
    index = room.RarestWordTree()
    index.insert_batch(subscriptions())
    found = index.match_batch(tweets())
    measured = measure_workload(subscriptions(), tweets())
    assert measured.matches == pytest.approx(len(found) / len(tweets()), rel=0.1)


def test_a_large_batch_takes_little_longer_and_has_more_of_everything():
    rows = np.tile(np.arange(30_000), 20)
    many = SubscriptionBatch(
        pa.array(np.arange(len(rows))),
        subscriptions().expressions.take(rows),
        subscriptions().regions.take(rows),
    )
    start = perf_counter()
    larger = measure_workload(many, tweets())
    assert perf_counter() - start < 3  # about 0.2 s; a shared machine may be slow
    measured = measure_workload(subscriptions(), tweets())
    assert larger.entries == pytest.approx(20 * measured.entries)
    assert larger.listed == pytest.approx(20 * measured.listed, rel=0.1)
    assert larger.matches == pytest.approx(20 * measured.matches, rel=0.1)


# ---------------------------------------------------------------------- what is expected


def test_every_index_of_the_room_has_a_formula():
    classes = {
        name
        for name in room.__all__
        if isinstance(found := getattr(room, name), type)
        and issubclass(found, room.BooleanIndex)
        and not isabstract(found)
    }
    assert set(COSTS) == classes
    assert all(set(terms) <= set(TERMS) for terms in COSTS.values())
    assert all(cost > 0 for terms in COSTS.values() for cost in terms.values())


def test_costs_are_sorted_and_the_first_is_named():
    advice = recommend(subscriptions(), tweets())
    assert list(advice.costs.values()) == sorted(advice.costs.values())
    assert set(advice.costs) == set(COSTS)
    assert advice.index == next(iter(advice.costs))
    assert all(cost > 0 for cost in advice.costs.values())
    assert issubclass(getattr(room, advice.index), room.BooleanIndex)


def test_same_batches_same_answer():
    assert recommend(subscriptions(), tweets()) == recommend(subscriptions(), tweets())


# A scan looks at every subscription, whatever a message has.
@pytest.mark.parametrize("index", sorted(set(COSTS) - {"ScanIndex"}))
def test_more_of_anything_never_costs_less(index):
    few = measure_workload(subscriptions(), tweets())
    more = measure_workload(subscriptions(), tweets(words=100))
    assert predict(index, more) > predict(index, few)
    assert predict(index, few) > predict(index, WorkloadStatistics(few.subscriptions))


def test_long_messages_cost_more_where_words_meet_words():
    short = recommend(subscriptions(), tweets(words=6)).costs
    long = recommend(subscriptions(), tweets(words=300)).costs
    growth = {index: long[index] / short[index] for index in COSTS}
    # A trie from frequent words down follows pairs of a message's words, lists single ones.
    assert growth["TrieQuadtree"] > growth["RQTree"]
    assert all(factor > 3 for index, factor in growth.items() if index != "ScanIndex")


def test_range_messages_cost_more_where_cells_divide_space():
    at_points = recommend(subscriptions(), tweets()).costs
    in_boxes = recommend(subscriptions(), as_ranges(tweets(), 1.0)).costs
    for index in ("IQTree", "RQTree", "RarestWordTree"):
        assert in_boxes[index] > at_points[index]
    # A trie of words takes ranges as it takes points, a quadtree of cells does not.
    assert in_boxes["IQTree"] / at_points["IQTree"] > in_boxes["MBRTrie"] / at_points["MBRTrie"]


def test_tiny_regions_help_those_that_divide_space():
    large = recommend(subscriptions(area=(0.1, 0.1)), tweets())
    tiny = recommend(subscriptions(area=(1e-8, 1e-8)), tweets())
    assert tiny.statistics.near < large.statistics.near / 100
    for index in ("PTQuadtree", "RtTree", "RarestWordTree"):
        assert tiny.costs[index] < large.costs[index]
    assert (
        tiny.costs["PTQuadtree"] / tiny.costs["MBRTrie"]
        < large.costs["PTQuadtree"] / large.costs["MBRTrie"]
    )


def test_one_word_makes_lists_long():
    one = recommend(subscriptions(words=(1, 1)), tweets())
    five = recommend(subscriptions(words=(5, 5)), tweets())
    assert one.statistics.listed > five.statistics.listed
    assert one.statistics.satisfied == pytest.approx(one.statistics.listed)
    assert one.costs["RarestWordTree"] > five.costs["RarestWordTree"]


# ---------------------------------------------------------------------- how it reads


@pytest.mark.parametrize("name", TERMS)
def test_reason_tells_the_statistic_that_decided(name, monkeypatch):
    monkeypatch.setitem(COSTS, "RarestWordTree", {"message": 1e-9})
    others = [index for index in COSTS if index != "RarestWordTree"]
    for index in others:
        monkeypatch.setitem(COSTS, index, {name: 1.0})
    messages = as_ranges(tweets(), 0.1)
    advice = recommend(subscriptions(), messages)
    assert advice.index == "RarestWordTree"
    if advice.costs[others[0]] > 0:
        assert advice.reason.startswith(TERMS[name].because(advice.statistics))
    assert "the next is" in advice.reason


def test_reason_has_the_numbers():
    advice = recommend(subscriptions(), tweets(words=300))
    assert advice.index in advice.reason
    assert any(TERMS[name].because(advice.statistics) in advice.reason for name in TERMS)
    assert f"{advice.costs[advice.index]:.2g} µs" in advice.reason


# ---------------------------------------------------------------------- edges


TEA = Subscription(1000, "tea", Box(0, 0, 1, 1))
HOT_TEA = Message(1, text="hot tea", at=Point(0.5, 0.5))


def test_no_subscriptions():
    advice = recommend(subscription_batch(), message_batch(HOT_TEA))
    assert advice.index == DEFAULT
    assert "no subscriptions" in advice.reason


def test_no_messages():
    advice = recommend(subscription_batch(TEA), message_batch())
    assert advice.index == DEFAULT
    assert "no messages" in advice.reason
    assert advice.statistics.entries == 1


def test_neither():
    assert recommend(subscription_batch(), message_batch()).index == DEFAULT


def test_one_of_each():
    advice = recommend(subscription_batch(TEA), message_batch(HOT_TEA))
    assert advice.statistics.matches == 1


@pytest.mark.parametrize("text", ["", "!?", "cake"])
def test_messages_without_a_word_that_anybody_wants(text):
    advice = recommend(
        subscription_batch(TEA), message_batch(Message(1, text=text, at=Point(0, 0)))
    )
    assert advice.statistics.known_words == advice.statistics.matches == 0


def test_subscriptions_to_anything_are_listed_for_every_message():
    anything = [Subscription(i, ANY, Box(0, 0, 1, 1)) for i in range(50)]
    advice = recommend(
        subscription_batch(TEA, *anything),
        message_batch(HOT_TEA, Message(2, text="x", at=Point(0.5, 0.5))),
    )
    assert advice.statistics.listed == pytest.approx(50.5)
    assert advice.statistics.matches == pytest.approx(50.5)


def test_regions_everywhere_are_near_every_message():
    everywhere = subscription_batch(*(Subscription(i, "tea") for i in range(50)))
    advice = recommend(everywhere, message_batch(HOT_TEA))
    assert advice.statistics.near_share == 1
    assert advice.statistics.matches == 50


def test_plane_with_regions_without_bounds():
    def place(x):
        return Point(x, -x, space=Space.PLANE)

    wanted = subscription_batch(
        Subscription(1, "tea"),
        Subscription(2, "tea", Box(1e30, -2e30, 2e30, -1e30, space=Space.PLANE)),
        space=Space.PLANE,
    )
    seen = message_batch(
        Message(1, text="tea", at=place(1.5e30)),
        Message(2, text="tea", at=place(0)),
        space=Space.PLANE,
    )
    assert recommend(wanted, seen).statistics.matches == 1.5


def test_two_spaces_are_refused():
    with pytest.raises(ValueError, match="use one space for both"):
        recommend(subscription_batch(space=Space.PLANE), message_batch(HOT_TEA))


def test_unicode_words():
    wanted = subscription_batch(Subscription(1, "straße 茶"), Subscription(2, "और"))
    seen = message_batch(Message(1, text="STRASSE 茶 और", at=Point(0, 0)))
    advice = recommend(wanted, seen)
    assert (advice.statistics.known_words, advice.statistics.matches) == (3, 2)


def test_regions_across_the_antimeridian_have_two_entries():
    wanted = subscription_batch(Subscription(1, "tea", Box(170, -1, -170, 1)))
    seen = message_batch(Message(1, text="tea", at=Point(175, 0)))
    measured = recommend(wanted, seen).statistics
    assert (measured.entries, measured.matches) == (2, 1)


def test_a_message_of_many_words_and_a_subscription_of_many():
    words = [f"w{i}" for i in range(10_000)]
    wanted = subscription_batch(*(Subscription(i, words[:1000]) for i in range(20)))
    seen = message_batch(*(Message(i, keywords=words, at=Point(0, 0)) for i in range(20)))
    measured = recommend(wanted, seen).statistics
    assert (measured.known_words, measured.matches) == (1000, 20)
