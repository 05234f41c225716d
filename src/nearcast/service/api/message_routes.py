"""Messages: publish one or many, read recent ones."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from nearcast.model import Message, Place
from nearcast.service.api.access import require, service_of
from nearcast.service.api.bodies import Body, json_object, lines_of
from nearcast.service.api.errors import GUARDED, BadInput, documented, reading_input
from nearcast.service.api.models import (
    BulkReceipt,
    Feature,
    MessagePage,
    MessageReceipt,
    feature_body,
    feature_lines,
)
from nearcast.service.documents import message_from
from nearcast.service.service import Service
from nearcast.service.settings import Settings
from nearcast.service.stores.messages import Receipt
from nearcast.service.stores.tokens import PUBLISHER, Token

MOST_REASONS = 1_000
"""Of one bulk: whoever gets every line wrong learns enough from the first ones."""

SECONDS_AHEAD = 300.0
"""Clocks differ."""

router = APIRouter(tags=["messages"], responses=GUARDED)

Publisher = Annotated[Token, Depends(require(PUBLISHER))]
Anyone = Annotated[Token, Depends(require())]


@router.post(
    "/v1/messages",
    response_model=MessageReceipt,
    responses={
        201: {"model": MessageReceipt, "description": "It is published."},
        **documented(409),
    },
    openapi_extra=feature_body("message"),
)
def publish_message(
    request: Request, response: Response, token: Publisher, body: Body
) -> dict[str, Any]:
    """Publish a message.  It is durable when the answer comes; an id counts once, for everybody."""
    request.app.state.message_rate.take(token.id)
    service, metrics = service_of(request), request.app.state.metrics
    try:
        message = _message(body, time.time(), service.settings)
    except BadInput:
        metrics.count_messages(rejected=1)
        raise
    [receipt] = service.messages.publish([message])
    if _taken(service, [message], [receipt]):
        metrics.count_messages(rejected=1)
        raise HTTPException(409, _is_taken(receipt.id))
    metrics.count_messages(accepted=receipt.is_new, duplicates=not receipt.is_new)
    response.status_code = 201 if receipt.is_new else 200
    return {"id": receipt.id, "offset": receipt.offset, "duplicate": not receipt.is_new}


@router.post(
    "/v1/messages/bulk", response_model=BulkReceipt, openapi_extra=feature_lines("message")
)
def publish_messages(request: Request, token: Publisher, body: Body) -> dict[str, Any]:
    """Publish many, a Feature on each line.  Good lines count whatever the others are."""
    lines = list(lines_of(body))
    request.app.state.message_rate.take(token.id, len(lines))
    service, now = service_of(request), time.time()
    numbers: list[int] = []
    messages: list[Message] = []
    rejected: list[dict[str, Any]] = []
    for number, line in lines:
        try:
            messages.append(_message(line, now, service.settings))
            numbers.append(number)
        except BadInput as error:
            rejected.append({"line": number, "reason": str(error)})
    receipts = service.messages.publish(messages) if messages else []
    taken = _taken(service, messages, receipts)
    rejected += [{"line": numbers[i], "reason": _is_taken(receipts[i].id)} for i in taken]
    rejected.sort(key=lambda each: each["line"])
    accepted = sum(receipt.is_new for receipt in receipts)
    duplicates = len(receipts) - accepted - len(taken)
    request.app.state.metrics.count_messages(
        accepted=accepted, duplicates=duplicates, rejected=len(rejected)
    )
    return {
        "accepted": accepted,
        "duplicates": duplicates,
        "rejected_count": len(rejected),
        "rejected": rejected[:MOST_REASONS],
    }


@router.get(
    "/v1/messages",
    response_class=Response,
    responses={200: {"model": MessagePage, "description": "Newest first."}},
)
def recent_messages(
    request: Request,
    token: Anyone,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Annotated[
        int | None, Query(ge=0, le=2**62, description="The `next` of the page before.")
    ] = None,
) -> Response:
    """Recent messages of everybody."""
    found = service_of(request).messages.recent(limit + 1, before)
    features = ", ".join(body for _, body in found[:limit])  # they are JSON already
    next_page = found[limit - 1][0] if len(found) > limit else "null"
    return Response(
        f'{{"type": "FeatureCollection", "features": [{features}], "next": {next_page}}}',
        media_type="application/json",
    )


@router.get(
    "/v1/messages/{id}",
    response_model=Feature,
    response_model_exclude_unset=True,
    responses=documented(404),
)
def get_message(request: Request, token: Anyone, id: str) -> dict[str, Any]:
    """One message that is still kept."""
    found = service_of(request).messages.get(id)
    if found is None:
        raise HTTPException(404, f"message {id!r} is unknown, or is no longer kept")
    return found


def _message(text: bytes, now: float, settings: Settings) -> Message:
    with reading_input():
        longest = settings.longest_message
        if len(text) > longest:
            raise ValueError(f"the message has {len(text):,} bytes; give at most {longest:,}")
        message = message_from(json_object(text), now)
        if message.time > now + SECONDS_AHEAD:
            raise ValueError(
                f"message {message.id!r}: time {message.time} is more than {SECONDS_AHEAD:g} s "
                "ahead of the clock here, and would make everything else old; give an earlier one, "
                "or none"
            )
        return message


def _taken(service: Service, messages: Sequence[Message], receipts: Sequence[Receipt]) -> list[int]:
    """The indexes of messages whose ids were known, of messages that say something else.

    Words and place are compared, not the JSON: a message that was read again from the log has its
    keywords as text.
    """
    known = [i for i, receipt in enumerate(receipts) if not receipt.is_new]
    if not known:
        return []
    bodies = service.messages.bodies(receipts[i].offset for i in known)
    return [
        i
        for i in known
        if (body := bodies.get(receipts[i].offset)) is not None
        and _said(message_from(json.loads(body), 0.0)) != _said(messages[i])
    ]


def _said(message: Message) -> tuple[list[str], Place]:
    return sorted(message.keywords), message.at


def _is_taken(id: str) -> str:
    return f"id {id!r} is taken by another message; give another id"
