"""What the state machine does not come to: trees that grow and shrink, words that are forgotten."""

import numpy as np
import pyarrow as pa
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.model import Box, Message, Point, Space, Subscription
from nearcast.moving import APPlusTree, SSIndex, WordQuadtrees
from nearcast.moving._flat import pool, words
from nearcast.space import RegionColumn

WORDS = [f"w{n}" for n in range(12)]
SIZE = 100.0


def box(x, y, side):
    return Box(x, y, x + side, y + side, space=Space.PLANE)


def place(random):
    x, y = random.uniform(0, SIZE, 2).tolist()
    if random.random() < 0.1:
        return box(x, y, float(random.choice([1e-3, 5.0, 40.0])))
    return Point(x, y, space=Space.PLANE)


def messages(random, first, count, time):
    return MessageBatch.from_messages(
        [
            Message(
                n,
                keywords=random.choice(WORDS, random.integers(1, 5)).tolist(),
                at=place(random),
                time=time,
                expires=time + random.uniform(1, 4),
            )
            for n in range(first, first + count)
        ],
        space=Space.PLANE,
    )


def rows(changes):
    return sorted((each.subscription_id, each.sign, each.message_id) for each in changes.to_list())


@pytest.mark.thorough
def test_indexes_that_share_little_tell_the_same_of_thousands():
    random = np.random.default_rng(7)
    indexes = [WordQuadtrees(space=Space.PLANE), SSIndex(space=Space.PLANE)]
    indexes.append(APPlusTree(space=Space.PLANE, most_copies=8, tree={"leaf_capacity": 5}))
    corners = random.uniform(0, SIZE, (300, 2))
    subscriptions = SubscriptionBatch.from_subscriptions(
        [
            Subscription(n, random.choice(WORDS, random.integers(1, 3)).tolist(), box(x, y, 8.0))
            for n, (x, y) in enumerate(corners.tolist())
        ],
        space=Space.PLANE,
    )
    for index in indexes:
        index.subscribe_batch(subscriptions)
    for step in range(6):
        batch = messages(random, 500 * step, 500, float(step))
        told = [rows(index.publish_batch(batch)) for index in indexes]
        assert told[0] == told[1] == told[2]
        moving = np.flatnonzero(random.random(300) < 0.4)
        corners[moving] += random.normal(scale=3.0, size=(len(moving), 2))
        regions = RegionColumn.of_boxes(
            np.concatenate([corners, corners + 8.0], axis=1)[moving], Space.PLANE
        )
        told = [rows(index.move_batch(pa.array(moving), regions)) for index in indexes]
        assert told[0] == told[1] == told[2]
        assert told[0]
    for index in indexes:
        index.check()
        assert index.stats().messages > 500
    indexes[0].advance(100.0)
    indexes[0].check()
    assert indexes[0].stats().messages == 0


@pytest.mark.thorough
def test_words_that_nobody_has_any_more_are_forgotten(monkeypatch):
    monkeypatch.setattr(words, "FEW", 4)
    monkeypatch.setattr(pool, "FEW", 4)
    for kind in (WordQuadtrees, SSIndex):
        index = kind()
        index.subscribe(Subscription("s", "tea", Box(0, 0, 1, 1)))
        for n in range(60):
            message = Message(
                n, keywords=["tea", f"only{n}"], at=Point(0.5, 0.5), time=n, expires=n + 3
            )
            index.publish(message)
            index.check()
        assert len(index._words) < 15
        assert index.results("s") == {57, 58, 59}


def test_messages_that_are_replaced_again_and_again_leave_nothing_behind():
    index = WordQuadtrees()
    for n in range(1600):
        index.publish(Message(n % 2, keywords=["tea"], at=Point(0, 0), expires=1e9 + n))
    index.check()
    assert index._messages._heap_size <= 1100
    assert len(index._messages._words.used) < 1400
