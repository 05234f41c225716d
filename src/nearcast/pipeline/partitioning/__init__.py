"""Which shards keep a subscription, and which does a message have to visit?"""

from nearcast.pipeline.partitioning.choose import (
    Plan,
    Prediction,
    check_name,
    choose,
    number_of_shards,
    plan_for,
)
from nearcast.pipeline.partitioning.hash import Hash
from nearcast.pipeline.partitioning.hashing import hash_ids
from nearcast.pipeline.partitioning.keyword import Keyword
from nearcast.pipeline.partitioning.location import Location
from nearcast.pipeline.partitioning.metrics import Metrics, measure
from nearcast.pipeline.partitioning.partitioning import Partitioning
from nearcast.pipeline.partitioning.routes import Routes, first_common
from nearcast.pipeline.partitioning.saved import load_partitioning

__all__ = [
    "Hash",
    "Keyword",
    "Location",
    "Metrics",
    "Partitioning",
    "Plan",
    "Prediction",
    "Routes",
    "check_name",
    "choose",
    "first_common",
    "hash_ids",
    "load_partitioning",
    "measure",
    "number_of_shards",
    "plan_for",
]
