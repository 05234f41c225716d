"""Does this class keep the contract of its room? One function per room, for any class in it."""

from nearcast.checks.boolean import boolean_checks, check_boolean_index
from nearcast.checks.moving import check_moving_index, moving_checks
from nearcast.checks.topk import check_top_k_index, top_k_checks
from nearcast.checks.trending import check_trending_index, trending_checks

__all__ = [
    "boolean_checks",
    "check_boolean_index",
    "check_moving_index",
    "check_top_k_index",
    "check_trending_index",
    "moving_checks",
    "top_k_checks",
    "trending_checks",
]
