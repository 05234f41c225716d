"""Positions: where subscriptions are now, many at once.  A WebSocket takes them too."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from nearcast.service.api.access import require, service_of
from nearcast.service.api.bodies import Body, json_object, lines_of
from nearcast.service.api.errors import GUARDED, BadInput, reading_input
from nearcast.service.api.message_routes import MOST_REASONS
from nearcast.service.api.models import PositionReceipt, feature_lines
from nearcast.service.api.subscription_limits import check_size
from nearcast.service.documents import Position, position_from
from nearcast.service.settings import Settings
from nearcast.service.stores.tokens import SUBSCRIBER, Token

router = APIRouter(tags=["subscriptions"], responses=GUARDED)

Subscriber = Annotated[Token, Depends(require(SUBSCRIBER))]


@router.post(
    "/v1/positions", response_model=PositionReceipt, openapi_extra=feature_lines("position")
)
def move_subscriptions(request: Request, token: Subscriber, body: Body) -> dict[str, Any]:
    """Say where one's subscriptions are now, a Feature with the id of one on each line.

    One of kind "moving" or "trending" moves to a region, one of kind "top" or "nearby" to a Point.
    Good lines count whatever the others are, and are durable when the answer comes; what changes by
    them are events. With a `time` an earlier position is refused once a later one has come.
    """
    lines = list(lines_of(body))
    request.app.state.position_rate.take(token.id, len(lines))
    service = service_of(request)
    numbers: list[int] = []
    positions: list[Position] = []
    rejected: list[dict[str, Any]] = []
    for number, line in lines:
        try:
            positions.append(read_position(line, service.settings))
            numbers.append(number)
        except BadInput as error:
            rejected.append({"line": number, "reason": str(error)})
    problems = service.subscriptions.move(token.name, positions)
    for number, problem in zip(numbers, problems, strict=True):
        if problem is not None:
            rejected.append({"line": number, "reason": problem})
    rejected.sort(key=lambda each: each["line"])
    return {
        "moved": len(lines) - len(rejected),
        "rejected_count": len(rejected),
        "rejected": rejected[:MOST_REASONS],
    }


def read_position(text: bytes, settings: Settings) -> Position:
    """The position that a line of JSON is; `BadInput` when it breaks a rule."""
    with reading_input():
        document = json_object(text)
        check_size(document, document.get("id"), settings)
        return position_from(document)
