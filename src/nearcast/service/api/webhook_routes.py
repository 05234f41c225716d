"""Webhooks, and what they did not take."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from nearcast.service.api.access import require, service_of
from nearcast.service.api.bodies import SmallBody, read_model
from nearcast.service.api.errors import GUARDED, documented, reading_input
from nearcast.service.api.followers import hub_of
from nearcast.service.api.models import model_body
from nearcast.service.delivery.addresses import LONGEST_URL, checked_url
from nearcast.service.service import Service
from nearcast.service.stores.dead_letters import DeadLetter
from nearcast.service.stores.deliveries import Webhook
from nearcast.service.stores.tokens import SUBSCRIBER, Token, checked_name

MOST_WEBHOOKS = 100
"""Of one subscriber."""
MOST_IDS = 1_000
LARGEST_ID = 2**62

router = APIRouter(tags=["webhooks"])

Subscriber = Annotated[Token, Depends(require(SUBSCRIBER))]
_FOUND = {**GUARDED, **documented(404)}


class WebhookAddress(BaseModel):
    """Where events are to be posted."""

    url: Annotated[str, Field(max_length=LONGEST_URL, examples=["https://example.org/events"])]


class WebhookStatus(BaseModel):
    """How a webhook is.

    `pending` counts up to 10,000. Times are seconds of the Unix clock. `last_attempt`,
    `last_error` and `next_attempt` are since the service started.
    """

    name: str
    url: str
    created: float
    cursor: int
    pending: int
    oldest_undelivered: float | None
    attempts: int
    last_attempt: float | None
    last_error: str | None
    next_attempt: float | None


class NewWebhook(WebhookStatus):
    """A webhook and the secret that signs what it gets, which is told only now."""

    secret: str


class WebhookList(BaseModel):
    """All webhooks of the subscriber, by name."""

    webhooks: list[WebhookStatus]


class ParkedEvent(BaseModel):
    """An event that a webhook did not take; `wanted` when it is to be posted again."""

    webhook: str
    id: int
    subscription: str
    event: dict[str, Any]
    reason: str
    attempts: int
    parked: float
    wanted: bool


class ParkedEvents(BaseModel):
    """In the order of ids; `next` is what to give as `after`, null at the end."""

    dead_letters: list[ParkedEvent]
    next: int | None


class Redelivery(BaseModel):
    """The ids of parked events; without them, all."""

    ids: (
        Annotated[
            list[Annotated[int, Field(strict=True, ge=0, le=LARGEST_ID)]],
            Field(max_length=MOST_IDS),
        ]
        | None
    ) = None


class Redelivering(BaseModel):
    """How many parked events are posted again."""

    redelivering: int


@router.put(
    "/v1/webhooks/{name}",
    response_model=WebhookStatus,
    responses={
        **GUARDED,
        **documented(409),
        201: {"model": NewWebhook, "description": "It is new; this is its secret."},
    },
    openapi_extra=model_body(WebhookAddress),
)
async def put_webhook(
    request: Request, token: Subscriber, name: str, body: SmallBody
) -> JSONResponse:
    """Post events to an address from now on.  A name that is known gets the new address."""
    service = service_of(request)
    address = read_model(WebhookAddress, body)
    webhook, is_new = await asyncio.to_thread(_put, service, token.name, name, address.url)
    webhooks = hub_of(request).webhooks
    await webhooks.refresh(token.name, name)
    status = await asyncio.to_thread(webhooks.describe, webhook)
    if is_new:
        return JSONResponse({**status, "secret": webhook.secret}, 201)
    return JSONResponse(status)


@router.get("/v1/webhooks/{name}", responses=_FOUND)
def get_webhook(request: Request, token: Subscriber, name: str) -> WebhookStatus:
    """How a webhook is."""
    webhook = _existing(service_of(request), token.name, name)
    return WebhookStatus(**hub_of(request).webhooks.describe(webhook))


@router.get("/v1/webhooks", responses=GUARDED)
def list_webhooks(request: Request, token: Subscriber) -> WebhookList:
    """How all webhooks are."""
    webhooks = hub_of(request).webhooks
    found = service_of(request).deliveries.webhooks(token.name)
    return WebhookList(webhooks=[WebhookStatus(**webhooks.describe(each)) for each in found])


@router.delete("/v1/webhooks/{name}", status_code=204, responses=_FOUND)
async def delete_webhook(request: Request, token: Subscriber, name: str) -> None:
    """Post no more, and forget what was parked."""
    if not await hub_of(request).webhooks.remove(token.name, name):
        raise _unknown(name)


@router.post(
    "/v1/webhooks/{name}/redeliver",
    status_code=202,
    responses=_FOUND,
    openapi_extra=model_body(Redelivery, required=False),
)
async def redeliver(
    request: Request, token: Subscriber, name: str, body: SmallBody
) -> Redelivering:
    """Post parked events again, once; who is not taken stays parked."""
    service = service_of(request)
    redelivery = read_model(Redelivery, body or b"{}")
    await asyncio.to_thread(_existing, service, token.name, name)
    count = await asyncio.to_thread(service.deliveries.redeliver, token.name, name, redelivery.ids)
    hub_of(request).webhooks.ask_again(token.name, name)
    return Redelivering(redelivering=count)


@router.get("/v1/dead-letters", responses=GUARDED)
def list_dead_letters(
    request: Request,
    token: Subscriber,
    webhook: str | None = None,
    after: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> ParkedEvents:
    """Events that webhooks did not take, of one or of all."""
    find = service_of(request).deliveries.dead_letters
    letters = find(token.name, webhook, after=after, limit=limit)
    is_more = len(letters) == limit
    if is_more:
        # Two webhooks may have parked the same event: a page ends behind both.
        last = letters[-1].sequence
        ties = find(token.name, webhook, after=last - 1, limit=MOST_WEBHOOKS)
        letters = [each for each in letters if each.sequence < last]
        letters += [each for each in ties if each.sequence == last]
    return ParkedEvents(
        dead_letters=[_parked(letter) for letter in letters],
        next=letters[-1].sequence if is_more else None,
    )


def _put(service: Service, subscriber: str, name: str, url: str) -> tuple[Webhook, bool]:
    with reading_input():
        checked_url(url, private_addresses=service.settings.webhook_private_addresses)
        checked_name(name)
    known = service.deliveries.webhooks(subscriber)
    if len(known) >= MOST_WEBHOOKS and all(each.name != name for each in known):
        raise HTTPException(
            409, f"{subscriber!r} has {len(known)} webhooks, the most allowed; remove one first"
        )
    begin = service.outbox.last_sequence()
    return service.deliveries.put_webhook(subscriber, name, url, begin)


def _existing(service: Service, subscriber: str, name: str) -> Webhook:
    webhook = service.deliveries.webhook(subscriber, name)
    if webhook is None:
        raise _unknown(name)
    return webhook


def _unknown(name: str) -> HTTPException:
    return HTTPException(404, f"webhook {name!r} is not known; PUT it first")


def _parked(letter: DeadLetter) -> ParkedEvent:
    return ParkedEvent(
        webhook=letter.webhook,
        id=letter.sequence,
        subscription=letter.subscription,
        event=json.loads(letter.body),
        reason=letter.reason,
        attempts=letter.attempts,
        parked=letter.parked,
        wanted=bool(letter.wanted),
    )
