"""The boolean index under moving subscriptions."""

import numpy as np

from nearcast.batches import SubscriptionBatch
from nearcast.model import Box, Space, Subscription
from nearcast.moving._flat.movable import MOVES_TO_ONE_CHANGE, MovableWordTree
from nearcast.space import RegionColumn

COUNT = 60


def tree():
    index = MovableWordTree(space=Space.PLANE)
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            [
                Subscription(i, "tea", Box(i, i, i + 1, i + 1, space=Space.PLANE))
                for i in range(COUNT)
            ],
            space=Space.PLANE,
        )
    )
    return index


def test_moves_age_it_whether_they_come_singly_or_together():
    corners = np.random.default_rng(1).uniform(0, 100, (2 * COUNT, 2))
    boxes = np.hstack([corners, corners + 1])
    slots = np.tile(np.arange(COUNT, dtype=np.int32), 2)
    singly, together = tree(), tree()
    for slot, box in zip(slots, boxes, strict=True):
        singly.relocate(np.array([slot]), RegionColumn.of_boxes([box], Space.PLANE))
    for half in (slice(0, COUNT), slice(COUNT, None)):
        together.relocate(slots[half], RegionColumn.of_boxes(boxes[half], Space.PLANE))
    assert singly._changes == together._changes == 2 * COUNT // MOVES_TO_ONE_CHANGE
    for index in (singly, together):
        index.check()
