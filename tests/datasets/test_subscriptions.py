import numpy as np
import pytest

from nearcast.batches import MessageBatch
from nearcast.datasets import Tweets, bounds_of, expressions_from, subscriptions_from
from nearcast.model import Box, Message, Point
from nearcast.text import parse

STREAM = Tweets(seed=2, vocabulary=5_000)
MESSAGES = STREAM.batch(1_000)


def test_the_same_seed_gives_the_same_subscriptions():
    one, other = subscriptions_from(MESSAGES, 100), subscriptions_from(MESSAGES, 100)
    assert [one.subscription(i) for i in range(100)] == [other.subscription(i) for i in range(100)]


def test_one_to_five_words_of_one_message():
    batch = subscriptions_from(MESSAGES, len(MESSAGES), bounds=STREAM.bounds)
    counts = np.diff(batch.required_start)
    assert np.bincount(counts).nonzero()[0].tolist() == [1, 2, 3, 4, 5]
    assert np.bincount(counts)[1:].min() > 150
    for i in range(100):  # all messages are used, so subscription i is made from message i
        [clause] = batch.subscription(i).expression.clauses
        assert clause.required <= set(MESSAGES.message(i).keywords)


def test_squares_around_the_places_cover_the_wanted_shares_of_the_space():
    batch = subscriptions_from(MESSAGES, len(MESSAGES), bounds=STREAM.bounds, area=(0.0001, 0.01))
    boxes = [batch.subscription(i).region for i in range(len(batch))]
    sides = np.array([(box.east - box.west, box.north - box.south) for box in boxes])
    assert sides[:, 0] == pytest.approx(sides[:, 1])
    share = sides.prod(axis=1) / (59 * 26)
    assert 0.0001 <= share.min() < 0.0005
    assert 0.0095 < share.max() <= 0.0100001
    assert share.mean() == pytest.approx(0.00505, rel=0.05)
    centre = np.array([((box.west + box.east) / 2, (box.south + box.north) / 2) for box in boxes])
    assert centre == pytest.approx(MESSAGES.at[:, :2])


def test_squares_end_where_the_earth_ends():
    corner = MessageBatch.from_messages([Message(1, text="ice", at=Point(180.0, 90.0))])
    space = Box(-180.0, -90.0, 180.0, 90.0)
    box = subscriptions_from(corner, 1, bounds=space, area=(0.01, 0.01)).subscription(0).region
    assert (box.east, box.north) == (180.0, 90.0)
    assert box.west == pytest.approx(180 - np.sqrt(0.01 * 360 * 180) / 2)


def test_more_subscriptions_than_messages():
    batch = subscriptions_from(STREAM.batch(5), 50, first_id=100)
    assert batch.ids.to_pylist() == list(range(100, 150))


def test_the_lexicon_has_the_words_in_use_alone():
    batch = subscriptions_from(MESSAGES, 3)
    assert set(batch.required) == set(range(len(batch.lexicon)))


def test_expressions_are_a_product_or_a_sum_of_two_parts():
    batch = expressions_from(MESSAGES, 500, words=(4, 4))
    shapes = set()
    for i in range(500):
        clauses = batch.subscription(i).expression.clauses
        assert len(frozenset().union(*(clause.required for clause in clauses))) == 4
        shapes.add(tuple(sorted(len(clause.required) for clause in clauses)))
    assert shapes == {
        (4,),  # a b c d
        (2, 2, 2),  # (a or b or c) d, or a (b or c or d)
        (3, 3),  # (a or b) c d
        (2, 2, 2, 2),  # (a or b) (c or d)
        (1, 3),  # a or b c d
        (2, 2),  # a b or c d
        (1, 1, 2),  # a b or c or d
        (1, 1, 1, 1),  # a or b or c or d
    }


def test_expressions_equal_what_their_text_says():
    batch = expressions_from(MESSAGES, 100)
    for i in range(100):
        expression = batch.subscription(i).expression
        assert parse(str(expression)) == expression


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"words": (0, 3)}, r"words \(0, 3\) is no range"),
        ({"words": (3, 2)}, r"words \(3, 2\) is no range"),
        ({"area": (0.0, 0.1)}, "is no range of shares"),
        ({"area": (0.1, 2.0)}, "is no range of shares"),
    ],
)
def test_impossible_wishes_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        subscriptions_from(MESSAGES, 10, **arguments)


def test_messages_without_words_make_no_subscriptions():
    silent = MessageBatch.from_messages([Message(1, text="...", at=Point(0.0, 0.0))])
    with pytest.raises(ValueError, match="none of the messages has a word"):
        subscriptions_from(silent, 1, bounds=STREAM.bounds)


def test_bounds_hold_every_message():
    bounds = bounds_of(MESSAGES)
    assert bounds.west == MESSAGES.at[:, 0].min()
    assert bounds.north == MESSAGES.at[:, 3].max()
