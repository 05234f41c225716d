import numpy as np
import pytest

from nearcast.datasets import Tweets, subscriptions_from
from nearcast.model import Message, Point, Space, Subscription
from nearcast.pipeline.partitioning import (
    Hash,
    Keyword,
    Location,
    choose,
    hash_ids,
    measure,
    number_of_shards,
    plan_for,
)
from nearcast.pipeline.partitioning.cost import shard_seconds
from tests.pipeline.partitioning.workloads import batches_of

MILLION = 1_000_000
TOTALS = {"total_subscriptions": MILLION, "total_messages": MILLION}


def rows_of(subscriptions, messages):
    batches = batches_of(subscriptions, messages, Space.EARTH)
    return batches[0], hash_ids(batches[0].ids), batches[1]


@pytest.fixture(scope="module")
def local():
    """Small regions, many words."""
    stream = Tweets()
    tweets = stream.batch(4000)
    subscriptions = subscriptions_from(tweets, 2000, bounds=stream.bounds, area=(1e-5, 1e-4))
    return subscriptions, hash_ids(subscriptions.ids), tweets


def test_small_regions_are_divided_by_location(local):
    for shards in (2, 3, 8):
        plan = choose(*local, **TOTALS, shards=shards)
        assert isinstance(plan.partitioning, Location)
        assert plan.partitioning.shards == shards
        assert list(plan.predicted) == ["hash", "location", "keyword"]
        assert plan.predicted["location"].metrics == measure(plan.partitioning, *local)


def test_everybody_everywhere_with_the_same_word_is_hashed():
    rows = rows_of(
        [Subscription(i, "tea") for i in range(500)],
        [Message(i, text="tea", at=Point(i % 100, 0)) for i in range(500)],
    )
    for shards in (2, 3, 4):
        plan = choose(*rows, **TOTALS, shards=shards)
        assert isinstance(plan.partitioning, Hash)
        # The others have found nothing to divide either.
        assert len({prediction.seconds for prediction in plan.predicted.values()}) == 1


def test_rare_words_everywhere_are_divided_by_keyword():
    random = np.random.default_rng(5)
    wanted, said = (random.integers(0, 3000, 3000).tolist() for _ in range(2))
    rows = rows_of(
        [Subscription(i, f"w{word}") for i, word in enumerate(wanted)],
        [Message(i, text=f"w{word}", at=Point(i % 100, 0)) for i, word in enumerate(said)],
    )
    plan = choose(*rows, **TOTALS, shards=8)
    assert isinstance(plan.partitioning, Keyword)


def test_the_reason_has_the_numbers(local):
    why = choose(*local, **TOTALS, shards=2).why
    assert why.startswith("location on 2 shards should take ")
    assert "by hash" in why
    assert "by keyword" in why
    assert "a message to 1.00" in why


def test_the_prediction_is_the_slowest_shard():
    rows = rows_of(
        [Subscription(i, "tea") for i in (7, 8)], [Message(0, text="tea", at=Point(0, 0))]
    )
    predicted = plan_for(
        "hash", *rows, total_subscriptions=200, total_messages=1000, shards=2
    ).predicted["hash"]
    # The hashes of 7 and 8 are odd and even: one subscription in each shard.
    assert predicted.seconds == shard_seconds(100.0, 1000.0)


@pytest.mark.parametrize("name", ["hash", "location", "keyword"])
def test_a_name_is_obeyed(name, local):
    plan = plan_for(name, *local, **TOTALS, shards=2)
    assert plan.partitioning.name == name
    assert list(plan.predicted) == [name]
    assert plan.why.startswith(f"{name} on 2 shards should take ")
    assert "against" not in plan.why


def test_auto_is_choose(local):
    assert (
        plan_for("auto", *local, **TOTALS, shards=2).why == choose(*local, **TOTALS, shards=2).why
    )


def test_unknown_names_are_refused(local):
    with pytest.raises(ValueError, match="'hsh' is unknown; give one of 'hash', 'location', 'key"):
        plan_for("hsh", *local, **TOTALS, shards=2)
    with pytest.raises(ValueError, match="'prefix' is for top-k subscriptions; for boolean ones"):
        plan_for("prefix", *local, **TOTALS, shards=2)


def test_nothing_is_planned_too():
    nothing = rows_of([], [])
    for name in ("auto", "hash", "location", "keyword"):
        for total in (0, MILLION):
            plan = plan_for(
                name, *nothing, total_subscriptions=total, total_messages=total, shards=3
            )
            assert plan.partitioning.shards == 3
    some = rows_of([Subscription(0, "tea")], [Message(0, text="tea", at=Point(0, 0))])
    for name in ("auto", "location", "keyword"):
        plan_for(name, *some, total_subscriptions=0, total_messages=0, shards=3)
        plan_for(name, some[0], some[1], nothing[2], **TOTALS, shards=3)
        plan_for(name, nothing[0], nothing[1], some[2], **TOTALS, shards=3)


def test_one_shard_needs_no_plural(local):
    assert "on 1 shard should" in plan_for("auto", *local, **TOTALS, shards=1).why


@pytest.mark.parametrize(
    ("subscriptions", "cores", "shards"),
    [(0, 1, 1), (10, 2, 2), (8_000_000, 2, 2), (8_000_001, 2, 3), (100_000_000, 16, 25)],
)
def test_number_of_shards(subscriptions, cores, shards):
    assert number_of_shards(subscriptions, cores) == shards


def test_no_cores():
    with pytest.raises(ValueError, match="0 cores do no work"):
        number_of_shards(10, 0)
