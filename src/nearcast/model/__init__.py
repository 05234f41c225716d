"""What people create: places, regions, messages, subscriptions; and what they are told."""

from nearcast.model.ids import Id, check_id
from nearcast.model.messages import Message
from nearcast.model.notifications import Notification
from nearcast.model.shapes import Box, Circle, Place, Point, Polygon, Region, Space
from nearcast.model.subscriptions import (
    ANY,
    MovingSubscription,
    NearbyTrendingSubscription,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)

__all__ = [
    "ANY",
    "Box",
    "Circle",
    "Id",
    "Message",
    "MovingSubscription",
    "NearbyTrendingSubscription",
    "Notification",
    "Place",
    "Point",
    "Polygon",
    "Region",
    "Space",
    "Subscription",
    "TopKSubscription",
    "TrendingSubscription",
    "check_id",
]
