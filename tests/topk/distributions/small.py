"""Distributions of a handful of words and places, for any number of shards."""

from nearcast.topk.distributions import ByHash, ByKeyword, ByLocation, ByPrefix, WordRanges
from nearcast.topk.distributions.by_location import LEAF
from tests.topk.test_state_machine import WORDS


def by_hash(shards):
    return ByHash(shards)


def by_location(shards):
    """One leaf after the other is cut off in the east; two shards share the last one."""
    nodes, first = [], 0
    while shards - first > 2:
        at = len(nodes)
        nodes += [(len(nodes) % 2, 0.005, at + 1, at + 2), (LEAF, 0.0, first, first + 1)]
        first += 1
    nodes.append((LEAF, 0.0, first, shards))
    return ByLocation(shards, tuple(nodes))


def _ranges(shards):
    known = {word: n % shards for n, word in enumerate(WORDS[:3])}
    return WordRanges(known, (shards - 1, 0))


def by_keyword(shards):
    return ByKeyword(shards, _ranges(shards))


def by_prefix(shards):
    return ByPrefix(shards, _ranges(shards), {"tea": 0.3, "cake": 0.7, "jazz": 0.9})


MAKERS = (by_hash, by_location, by_keyword, by_prefix)
