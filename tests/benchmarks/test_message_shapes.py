"""Messages of another length or extent than the data set's own."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import message_shapes
from benchmarks.message_shapes import with_area, with_words
from benchmarks.workloads import Settings, make
from nearcast.batches import MessageBatch
from nearcast.datasets import Tweets
from nearcast.model import Box, Message, Point

POOL = MessageBatch.from_messages(
    Message(number, keywords=words.split(), at=Point(number, 0))
    for number, words in enumerate(["a b a", "b c d", "e", "a f"])
)


def words_of(batch):
    return [batch.message(row).keywords for row in range(len(batch))]


def test_words_are_joined_with_those_that_follow_around_the_end():
    joined = with_words(POOL, 4, 3)
    assert words_of(joined) == [("a", "b", "c"), ("b", "c", "d"), ("e", "a", "f"), ("a", "f", "b")]
    assert joined.ids.equals(POOL.ids)
    assert np.array_equal(joined.at, POOL.at)


def test_fewer_messages_are_spread_over_the_pool():
    assert with_words(POOL, 2, 1).ids.to_pylist() == [0, 2]


def test_a_pool_with_too_few_words_gives_all_it_has():
    assert [sorted(words) for words in words_of(with_words(POOL, 2, 99))] == [list("abcdef")] * 2


def test_a_joined_batch_carries_no_words_that_nobody_says():
    assert with_words(POOL, 1, 1).lexicon.to_pylist() == ["a"]


def test_a_range_message_is_a_square_of_its_share():
    ranges = with_area(POOL, Box(0, 0, 20, 10), 0.02)
    assert ranges.is_box.all()
    assert ranges.message(1).at == Box(0, -1, 2, 1)


def test_a_range_ends_where_the_earth_does():
    edge = replace(POOL, at=np.tile([179.5, 89.5, 179.5, 89.5], (4, 1)))
    assert with_area(edge, Box(0, 0, 20, 10), 0.02).message(0).at == Box(178.5, 88.5, 180, 90)


@pytest.mark.parametrize("data", ["synthetic", "gnis"])
def test_messages_of_a_workload_have_the_wanted_shape(data):
    workload = make(Settings(data, 50, 20, message_words=40, message_area=0.001))
    for batch in (workload.messages, workload.history):
        assert batch.is_box.all()
        assert (np.diff(batch.word_start) == 40).all()


def test_long_messages_are_fewer(monkeypatch):
    monkeypatch.setattr(message_shapes, "MOST_WORDS", 300)
    assert len(make(Settings("synthetic", 50, 20, message_words=100)).messages) == 3


def test_a_joined_message_still_reaches_the_subscriptions_around_it():
    first = Tweets().batch(1)
    assert set(words_of(first)[0]) <= set(words_of(with_words(Tweets().batch(30), 1, 50))[0])
