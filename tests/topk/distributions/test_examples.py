"""The worked examples of DSkype (section 7.3), bolts numbered from 0."""

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.model import Message, Point, TopKSubscription
from nearcast.topk import WordStatistics
from nearcast.topk.distributions import ByKeyword, ByPrefix, WordRanges

BOLTS = (("w1", "w2"), ("w3", "w4", "w5"), ("w6", "w7", "w8"), ("w9", "w10"))
RANGES = WordRanges({word: bolt for bolt, words in enumerate(BOLTS) for word in words}, (3,))
HERE = Point(0, 0)
# Weights in the same proportions as printed; vectors have unit length here.
SUBSCRIPTION = TopKSubscription("s", ["w1"] * 4 + ["w2"] * 3 + ["w5"] * 2 + ["w6"], HERE, alpha=0.6)
MESSAGE = Message("m", keywords=["w6"] * 4 + ["w7"] * 3 + ["w8"] * 2 + ["w9"], at=HERE)
STATISTICS = WordStatistics()


def test_example_7_of_dskype():
    keyword = ByKeyword(4, RANGES)
    placement = keyword.placement(SUBSCRIPTION, STATISTICS)
    assert placement.shards == (0, 1, 2)
    assert placement.fewest == placement.needed(0.8) == 3
    [bolts] = keyword.targets(MessageBatch.from_messages([MESSAGE]), STATISTICS)
    assert np.flatnonzero(bolts).tolist() == [2, 3]


def test_example_8_of_dskype():
    prefix = ByPrefix(4, RANGES, {})
    placement = prefix.placement(SUBSCRIPTION, STATISTICS)
    assert placement.shards[: placement.needed(0.8)] == (0,)
    assert placement.shards[: placement.needed(0.7)] == (0, 1)
    assert placement.needed(-1.0) == 3  # the list is not full
    [bolts] = prefix.targets(MessageBatch.from_messages([MESSAGE]), STATISTICS)
    assert np.flatnonzero(bolts).tolist() == [2, 3]
