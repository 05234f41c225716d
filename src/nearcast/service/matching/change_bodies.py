"""What an event says of a result that has changed."""

from __future__ import annotations

import json
from typing import Any

from nearcast.model import Notification
from nearcast.pipeline.hosted_subscriptions import HostedChange

SAFE = "safe"
"""The kind of an event that says how far a subscription may go unseen."""


def body_of(change: HostedChange) -> tuple[str, str]:
    """The kind of the event, and the JSON of what it says besides its number and whose it is.

    >>> from nearcast.model import Notification
    >>> body_of(HostedChange(7, None, Notification("ann/walk", "leave", "m1")))
    ('leave', '{"cause": null, "message_id": "m1"}')
    """
    told = change.told
    if not isinstance(told, Notification):
        return SAFE, json.dumps({"metres": told.metres})
    body: dict[str, Any] = {"cause": change.cause}
    if told.kind == "top":
        body["results"] = [{"message": id, "score": score} for id, score in told.results or ()]
        body |= {"entered": told.entered, "left": told.left}
    elif told.kind == "trend":
        body["terms"] = [{"term": term, "score": score} for term, score in told.terms or ()]
        body |= {"entered": told.entered, "left": told.left, "moved": told.moved}
    else:
        body["message_id"] = told.message_id
    return told.kind, json.dumps(body)
