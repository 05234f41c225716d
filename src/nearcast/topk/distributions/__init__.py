"""How are top-k subscriptions and messages divided among shards?"""

from nearcast.topk.distributions.by_hash import ByHash
from nearcast.topk.distributions.by_keyword import ByKeyword
from nearcast.topk.distributions.by_location import ByLocation
from nearcast.topk.distributions.by_prefix import ByPrefix
from nearcast.topk.distributions.choose import Choice, Prediction, choose
from nearcast.topk.distributions.communication import Communication
from nearcast.topk.distributions.distributed_lists import DistributedLists
from nearcast.topk.distributions.distribution import Distribution
from nearcast.topk.distributions.placement import Placement
from nearcast.topk.distributions.word_ranges import WordRanges

__all__ = [
    "ByHash",
    "ByKeyword",
    "ByLocation",
    "ByPrefix",
    "Choice",
    "Communication",
    "DistributedLists",
    "Distribution",
    "Placement",
    "Prediction",
    "WordRanges",
    "choose",
]
