from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from nearcast.datasets import Tweets, subscriptions_from
from nearcast.model import ANY, Box, Message, Point, Space, Subscription
from nearcast.pipeline.partitioning import Hash, Keyword, hash_ids, measure
from nearcast.pipeline.partitioning.hashing import hash_words
from nearcast.text.string_table import StringTable
from tests.pipeline.partitioning.workloads import batches_of

HERE = Point(0, 0)


def rows_of(expressions, texts):
    subscriptions, messages = batches_of(
        [
            Subscription(i, wanted, Box(0, 0, 1, 1) if wanted is ANY else None)
            for i, wanted in enumerate(expressions)
        ],
        [Message(i, text=text, at=HERE) for i, text in enumerate(texts)],
        Space.EARTH,
    )
    return subscriptions, hash_ids(subscriptions.ids), messages


def planned(expressions, texts, shards, **options):
    rows = rows_of(expressions, texts)
    return Keyword.plan(*rows, shards, **options), rows


def kept(keyword, expression):
    subscriptions, id_hash, _ = rows_of([expression], [])
    return keyword.of_subscriptions(subscriptions, id_hash).shards.tolist()


def visited(keyword, text):
    return keyword.of_messages(rows_of([], [text])[2]).shards.tolist()


def shard_by_hash(word, shards):
    return int(hash_words(pa.array([word], pa.large_string()))[0]) % shards


@pytest.fixture
def figure_8():
    """Ten words on four shards: w1-w2, w3-w5, w6-w8, w9-w10."""
    words = StringTable()
    words.add([f"w{i}" for i in range(1, 11)])
    first = np.array([0, 0, 1, 1, 1, 2, 2, 2, 3, 3], np.int32)
    return Keyword(4, words, first, first + np.int32(1))


def test_example_7_of_dskype(figure_8):
    # Bolts count from 1 there. A message goes to the bolts of all its words ...
    assert visited(figure_8, "w6 w7 w8 w9") == [2, 3]
    # ... but a subscription that requires all its words needs one bolt, not bolts 1, 2 and 3.
    assert kept(figure_8, "w1 w2 w5 w6") == [2]
    # As alternatives its words are four clauses, and it is where the paper's is.
    assert kept(figure_8, "w1 OR w2 OR w5 OR w6") == [0, 1, 2]


def test_words_outside_the_table_are_the_rarest(figure_8):
    new = shard_by_hash("new", 4)
    assert kept(figure_8, "w1 AND new") == [new]
    assert visited(figure_8, "new") == [new]
    assert visited(figure_8, "w1 new w1") == sorted({0, new})


def test_any_order_of_words_gives_the_same_shard(figure_8):
    words = ["straße", "茶", "été", "x1", "new"]
    shards = {
        tuple(kept(figure_8, " AND ".join(np.roll(words, turn).tolist()))) for turn in range(5)
    }
    assert len(shards) == 1


def test_forbidden_words_do_not_count(figure_8):
    assert kept(figure_8, "w1 AND NOT w9") == [0]


def test_no_words_at_all(figure_8):
    assert kept(figure_8, ANY) == [0, 1, 2, 3]
    assert visited(figure_8, "!") == [0]


def test_a_word_with_several_shards():
    words = StringTable()
    words.add(["hot", "rare"])
    keyword = Keyword(5, words, np.array([1, 0], np.int32), np.array([4, 1], np.int32))
    assert visited(keyword, "hot") == [1, 2, 3]
    assert visited(keyword, "hot rare") == [0, 1, 2, 3]
    subscriptions, id_hash, _ = rows_of(["hot"] * 60, [])
    shards = keyword.of_subscriptions(subscriptions, id_hash).shards
    np.testing.assert_array_equal(shards, 1 + (id_hash % np.uint64(3)).astype(np.int32))


def test_ranges_follow_the_frequency_and_balance_the_cost():
    # "a" is in every message, "h" in two; each has ten clauses.
    letters = "abcdefgh"
    texts = [" ".join(letters[: 1 + i % 8]) for i in range(16)]
    keyword, _ = planned([letter for letter in letters for _ in range(10)], texts, 3)
    assert keyword.words.to_arrow().to_pylist() == list(letters)
    assert (keyword.first[1:] >= keyword.first[:-1]).all()
    assert keyword.first[0] == 0
    # Every partition into three ranges, by brute force: none has a cheaper costliest shard.
    in_messages = np.array([[letter in text.split() for letter in letters] for text in texts])

    def cost(first, last):
        return 10 * (last - first) * int(in_messages[:, first:last].any(axis=1).sum())

    best = min(
        max(cost(0, i), cost(i, j), cost(j, 8)) for i in range(1, 7) for j in range(i + 1, 8)
    )
    ends = np.searchsorted(keyword.first, range(4)).tolist()
    assert max(cost(a, b) for a, b in pairwise(ends)) == best


def test_the_table_has_the_most_frequent_words_only():
    texts = ["a b c d"] * 4 + ["a b c"] * 3 + ["a b"] * 2 + ["a once"]
    keyword, _ = planned(["a", "b"], texts, 2, most_words=3)
    assert keyword.words.to_arrow().to_pylist() == ["a", "b", "c"]
    keyword, _ = planned(["a", "b"], texts, 2)
    assert keyword.words.to_arrow().to_pylist() == ["a", "b", "c", "d"]


def test_repeats_within_a_message_count_once():
    keyword, _ = planned(["a"], ["b b b b a", "a", "b", "a"], 2)
    assert keyword.words.to_arrow().to_pylist() == ["a", "b"]


@pytest.mark.parametrize("shards", [2, 3, 7, 16])
def test_one_word_in_everything_is_dealt_out_by_id(shards):
    keyword, rows = planned(["tea"] * 3000, ["tea cake"] * 50, shards)
    tea = keyword.words.find(["tea"])[0]
    assert (keyword.first[tea], keyword.last[tea]) == (0, shards)
    np.testing.assert_array_equal(
        keyword.of_subscriptions(*rows[:2]).shards, Hash(shards).of_subscriptions(*rows[:2]).shards
    )
    assert measure(keyword, *rows).balance < 1.5


@pytest.mark.parametrize("wanted", ["zebra", "zebra AND lion", "zebra AND lion AND gnu"])
def test_a_word_that_all_want_and_nobody_says_does_not_fill_one_shard(wanted):
    keyword, rows = planned([wanted] * 1000, ["tea", "tea", "cake", "cake"] * 10, 4)
    counts = np.bincount(keyword.of_subscriptions(*rows[:2]).shards, minlength=4)
    assert counts.max() < 600


def test_a_hot_word_leaves_shards_to_the_others():
    others = [f"w{i}" for i in range(200)]
    texts = [f"hot {others[i % 200]} {others[7 * i % 200]}" for i in range(1000)]
    keyword, rows = planned(["hot"] * 500 + others * 20, texts, 8)
    assert 1 < keyword.last[0] - keyword.first[0] < 8
    metrics = measure(keyword, *rows)
    assert metrics.shards_per_message < 6
    assert metrics.balance < 1.5


@pytest.mark.parametrize("shards", [2, 3, 8, 16])
def test_tweets(shards):
    tweets = Tweets(vocabulary=20_000).batch(8000)
    subscriptions = subscriptions_from(tweets, 4000)
    id_hash = hash_ids(subscriptions.ids)
    keyword = Keyword.plan(subscriptions, id_hash, tweets, shards)
    metrics = measure(keyword, subscriptions, id_hash, tweets)
    assert metrics.replication == 1.0
    assert metrics.shards_per_message < min(shards, 9)
    assert metrics.balance < 1.5
