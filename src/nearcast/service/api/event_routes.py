"""Events: by polling, as a stream of server-sent events, over a WebSocket; and acknowledged."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from fastapi.security import HTTPAuthorizationCredentials
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from nearcast.service.api import event_socket
from nearcast.service.api.access import bearer, require, service_of
from nearcast.service.api.bodies import SmallBody, read_model
from nearcast.service.api.errors import GUARDED
from nearcast.service.api.followers import After, acknowledge, first_number, pages_of
from nearcast.service.api.models import model_body
from nearcast.service.delivery.pages import read_page
from nearcast.service.delivery.server_sent_events import (
    FIRST_WORDS,
    EventStream,
    as_server_sent_events,
)
from nearcast.service.stores.tokens import SUBSCRIBER, Token

router = APIRouter(tags=["events"])
router.include_router(event_socket.router)

Subscriber = Annotated[Token, Depends(require(SUBSCRIBER))]
_FEATURE: dict[str, Any] = {"type": "object", "description": "The message, a GeoJSON Feature."}
_OF_ALL_EVENTS = {
    "id": {"type": "integer"},
    "subscription": {"type": "string"},
    "time": {"type": "number"},
}
_MATCH = {
    "type": "object",
    "properties": {**_OF_ALL_EVENTS, "kind": {"const": "match"}, "message": _FEATURE},
    "required": ["id", "kind", "subscription", "time", "message"],
}
_IDS = {"type": "array", "items": {"type": "string"}}
_RANKED = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "score": {"type": "number"}},
    "required": ["message", "score"],
}
_TOP = {
    "type": "object",
    "description": "The list of a top-k subscription has changed.",
    "properties": {
        **_OF_ALL_EVENTS,
        "kind": {"const": "top"},
        "cause": {"type": ["string", "null"], "description": "The message that came, if one did."},
        "results": {"type": "array", "items": _RANKED, "description": "The list, best first."},
        "entered": _IDS,
        "left": _IDS,
    },
    "required": ["id", "kind", "subscription", "time", "cause", "results", "entered", "left"],
}
_EVENT = {"oneOf": [_MATCH, _TOP]}
_GAP = {
    "type": ["object", "null"],
    "properties": {
        "kind": {"const": "gap"},
        "after": {"type": "integer"},
        "up_to": {"type": "integer"},
    },
}
_EVENTS = {
    "type": "object",
    "properties": {
        "events": {"type": "array", "items": _EVENT},
        "gap": _GAP,
        "cursor": {"type": "integer"},
    },
    "required": ["events", "gap", "cursor"],
}


class Acknowledgement(BaseModel):
    """The id of an event; all up to it have arrived."""

    id: Annotated[int, Field(strict=True, ge=0, le=2**62, examples=[0])]


class Cursor(BaseModel):
    """The id of the last event that was acknowledged."""

    cursor: int


@router.get(
    "/v1/events",
    response_class=Response,
    responses={
        **GUARDED,
        200: {"content": {"application/json": {"schema": _EVENTS}}, "description": "In order."},
    },
)
def poll_events(
    request: Request,
    token: Subscriber,
    after: After = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """The next events; give the `cursor` of the answer as `after` of the next question.

    `gap` tells of events that are no longer kept. Polling does not acknowledge.
    """
    page = read_page(service_of(request), token.name, first_number(request, token, after), limit)
    events = ", ".join(event.text for event in page.events)
    return Response(
        f'{{"events": [{events}], "gap": {page.gap or "null"}, "cursor": {page.cursor}}}',
        media_type="application/json",
    )


@router.post("/v1/events/ack", responses=GUARDED, openapi_extra=model_body(Acknowledgement))
def acknowledge_events(request: Request, token: Subscriber, body: SmallBody) -> Cursor:
    """All events up to this one have arrived; a stream begins behind them from now on."""
    acknowledge(request, token, read_model(Acknowledgement, body).id)
    return Cursor(cursor=service_of(request).deliveries.cursor(token.name))


@router.get(
    "/v1/events/stream",
    status_code=200,  # FastAPI would look for it in the signature of the class
    response_class=EventStream,
    responses={
        **GUARDED,
        200: {"content": {"text/event-stream": {}}, "description": "Until you close it."},
    },
)
def stream_events(
    request: Request,
    token: Subscriber,
    credentials: Annotated[HTTPAuthorizationCredentials, Depends(bearer)],
    last_event_id: Annotated[
        int | None, Header(ge=0, description="All up to it have arrived; go on behind it.")
    ] = None,
    after: After = None,
) -> EventStream:
    """Events as they come, as server-sent events.

    It begins behind `Last-Event-ID`, which also acknowledges; or behind `after`; or behind what was
    acknowledged.
    """
    if last_event_id is not None:
        acknowledge(request, token, last_event_id)
        after = last_event_id
    begin = first_number(request, token, after)
    return EventStream(_server_sent_events(request, token, credentials.credentials, begin))


async def _server_sent_events(
    request: Request, token: Token, secret: str, after: int
) -> AsyncGenerator[str]:
    yield FIRST_WORDS
    async with aclosing(pages_of(request, token, secret, after)) as pages:
        async for page in pages:
            yield as_server_sent_events(page)
