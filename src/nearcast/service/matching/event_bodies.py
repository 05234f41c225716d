"""What an event says of a result that has changed."""

from __future__ import annotations

import json
from typing import Any

from nearcast.pipeline.hosted.told import SAFE


def body_of(told: dict[str, Any]) -> tuple[str, str]:
    """The kind of the event, and the JSON of what it says besides its number and whose it is.

    >>> body_of({"kind": "leave", "cause": None, "message_id": "m1"})
    ('leave', '{"cause": null, "message_id": "m1"}')
    """
    kind = told["kind"]
    if kind == SAFE:
        return SAFE, json.dumps({"metres": told["score"]})
    body: dict[str, Any] = {"cause": told["cause"]}
    if kind == "top":
        body["results"] = _renamed(told["items"], "message")
        body |= {name: told[name] for name in ("entered", "left")}
    elif kind == "trend":
        body["terms"] = _renamed(told["items"], "term")
        body |= {name: told[name] for name in ("entered", "left", "moved")}
    else:
        body["message_id"] = told["message_id"]
    return kind, json.dumps(body)


def _renamed(items: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [{name: each["item"], "score": each["score"]} for each in items]
