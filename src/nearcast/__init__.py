"""Nearcast: which of millions of subscriptions, words and a region each, does a message concern?

Everything that people create and the broker that serves them can be had from here. A name is loaded
when it is first used, so that `import nearcast` stays quick.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.batches import Matches, MessageBatch, SubscriptionBatch
    from nearcast.broker import Broker
    from nearcast.explain import Explanation
    from nearcast.explain.rank import RankExplanation
    from nearcast.model import (
        ANY,
        Box,
        Circle,
        Message,
        MovingSubscription,
        NearbyTrendingSubscription,
        Notification,
        Point,
        Polygon,
        Space,
        Subscription,
        TopKSubscription,
        TrendingSubscription,
    )

__all__ = [
    "ANY",
    "Box",
    "Broker",
    "Circle",
    "Explanation",
    "Matches",
    "Message",
    "MessageBatch",
    "MovingSubscription",
    "NearbyTrendingSubscription",
    "Notification",
    "Point",
    "Polygon",
    "RankExplanation",
    "Space",
    "Subscription",
    "SubscriptionBatch",
    "TopKSubscription",
    "TrendingSubscription",
]

__version__ = version("nearcast")

# Where a name comes from, when it is not from the model.
_ROOMS = {
    "Broker": "nearcast.broker",
    "Explanation": "nearcast.explain",
    "Matches": "nearcast.batches",
    "MessageBatch": "nearcast.batches",
    "RankExplanation": "nearcast.explain.rank",
    "SubscriptionBatch": "nearcast.batches",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'nearcast' has no attribute {name!r}")
    value = getattr(import_module(_ROOMS.get(name, "nearcast.model")), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
