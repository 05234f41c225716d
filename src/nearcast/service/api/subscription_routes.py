"""Subscriptions: put, get, list, delete, explain, estimate.  Each subscriber has its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response

from nearcast.explain import Explanation, explain
from nearcast.explain.rank import RankExplanation, explain_rank
from nearcast.model import Subscription, TopKSubscription
from nearcast.pipeline.log.hosted_rows import result_kind
from nearcast.service.api.access import require, service_of
from nearcast.service.api.bodies import Body, json_object, lines_of
from nearcast.service.api.errors import GUARDED, BadInput, documented, reading_input
from nearcast.service.api.models import (
    EstimateReport,
    ExplanationReport,
    Feature,
    PutCounts,
    RankReport,
    ResultList,
    SubscriptionPage,
    feature_body,
    feature_lines,
)
from nearcast.service.api.subscription_limits import checked_entry
from nearcast.service.documents import message_from
from nearcast.service.ranking import scoring_of
from nearcast.service.service import Service
from nearcast.service.stores.deliveries import STREAM
from nearcast.service.stores.subscriptions import Registered
from nearcast.service.stores.tokens import SUBSCRIBER, Token

router = APIRouter(tags=["subscriptions"], responses=GUARDED)

Subscriber = Annotated[Token, Depends(require(SUBSCRIBER))]
SubscriptionId = Annotated[str, Path(description="As its subscriber calls it.", examples=["cafe"])]


@router.put(
    "/v1/subscriptions/{id}",
    response_model=Feature,
    response_model_exclude_unset=True,
    responses={201: {"model": Feature, "description": "It is new."}, **documented(409)},
    openapi_extra=feature_body("subscription"),
)
def put_subscription(
    request: Request, response: Response, token: Subscriber, id: SubscriptionId, body: Body
) -> dict[str, Any]:
    """Subscribe, or replace a subscription.  It is durable when the answer comes.

    The region is a Polygon; a Point with the property `radius`, in metres; a `bbox` beside a null
    geometry; or neither, for everywhere. The property `lifetime` ends it after so many seconds.
    The property `kind` asks for a result that is kept current, see its `/results`: "top", at a
    Point, the `k` best recent messages, by nearness (the more the larger `alpha`, from 0 to 1) and
    by words; "trending", the `k` terms most talked about in the region; "nearby", the same around a
    Point; "moving", the live messages that match, wherever it moves, see `/v1/positions`.
    What a GET answers can be put again.
    """
    service = service_of(request)
    settings = service.settings
    with reading_input():
        entry = checked_entry(json_object(body), id, settings)
    [is_new] = service.subscriptions.put(token.name, [entry], settings.most_subscriptions)
    response.status_code = 201 if is_new else 200
    return _document(_registered(service, token, id))


@router.get(
    "/v1/subscriptions/{id}",
    response_model=Feature,
    response_model_exclude_unset=True,
    responses=documented(404),
)
def get_subscription(request: Request, token: Subscriber, id: SubscriptionId) -> dict[str, Any]:
    """A subscription, since and until when, and how its deliveries are."""
    service = service_of(request)
    found = _registered(service, token, id)
    return _document(found, delivery=_delivery(service, found))


@router.delete("/v1/subscriptions/{id}", status_code=204, responses=documented(404))
def delete_subscription(request: Request, token: Subscriber, id: SubscriptionId) -> None:
    """End a subscription.  Events that it has already are still delivered."""
    [was_there] = service_of(request).subscriptions.remove(token.name, [id])
    if not was_there:
        raise _no_such(id)


@router.get("/v1/subscriptions", response_model=SubscriptionPage, response_model_exclude_unset=True)
def list_subscriptions(
    request: Request,
    token: Subscriber,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: Annotated[str, Query(description="The `next` of the page before.")] = "",
) -> dict[str, Any]:
    """One's own, in the order of their ids."""
    found = service_of(request).subscriptions.page(token.name, limit + 1, after)
    shown = found[:limit]
    return {
        "type": "FeatureCollection",
        "features": [_document(each) for each in shown],
        "next": shown[-1].id if len(found) > limit else None,
    }


@router.post(
    "/v1/subscriptions",
    response_model=PutCounts,
    responses=documented(409),
    openapi_extra=feature_lines("subscription"),
)
def put_subscriptions(request: Request, token: Subscriber, body: Body) -> dict[str, int]:
    """Put many, a Feature with an id on each line; all of them, or none if one breaks a rule."""
    service = service_of(request)
    settings = service.settings
    entries = []
    for number, line in lines_of(body):
        try:
            with reading_input():
                document = json_object(line)
                entries.append(checked_entry(document, document.get("id"), settings))
        except BadInput as error:
            raise BadInput(f"line {number}: {error}; nothing was stored") from None
    new = service.subscriptions.put(token.name, entries, settings.most_subscriptions)
    return {"created": sum(new), "replaced": len(new) - sum(new)}


@router.get(
    "/v1/subscriptions/{id}/explain/{message_id}",
    response_model=ExplanationReport | RankReport,
    responses=documented(404),
)
def explain_match(
    request: Request, token: Subscriber, id: SubscriptionId, message_id: str
) -> dict[str, Any]:
    """Why a subscription wants a message, or why not."""
    service = service_of(request)
    subscription = _registered(service, token, id).subscription
    document = service.messages.get(message_id)
    if document is None:
        raise HTTPException(404, f"message {message_id!r} is unknown, or is no longer kept")
    message = message_from(document, now=0.0)
    if isinstance(subscription, TopKSubscription):
        results = [(each, score) for each, score in service.outbox.result(token.name, id, "top")]
        scoring = scoring_of(service.settings)
        return _rank(explain_rank(subscription, message, scoring, tuple(results)))
    if not isinstance(subscription, Subscription):
        raise BadInput(
            f"subscription {id!r} is a list of terms, and no message matches it; GET its results"
        )
    return _explanation(explain(subscription, message))


@router.get(
    "/v1/subscriptions/{id}/results",
    response_model=ResultList,
    response_model_exclude_unset=True,
    responses=documented(404),
)
def current_results(request: Request, token: Subscriber, id: SubscriptionId) -> dict[str, Any]:
    """What a subscription has now; one that is told of each match has nothing, which is a 404."""
    service = service_of(request)
    subscription = _registered(service, token, id).subscription
    kind = result_kind(subscription)
    found = service.outbox.result(token.name, id, kind)
    get = service.messages.get
    match kind:
        case "top":
            ranked = [{"id": each, "score": score, "message": get(each)} for each, score in found]
            return {"results": ranked}
        case "trend":
            return {"terms": [{"term": term, "score": score} for term, score in found]}
        case "enter":
            return {"results": [{"id": each, "message": get(each)} for each in found]}
    raise HTTPException(
        404, f"subscription {id!r} has no result; it is told of each match, see /v1/events"
    )


@router.post(
    "/v1/estimate", response_model=EstimateReport, openapi_extra=feature_body("subscription")
)
def estimate_matches(request: Request, token: Subscriber, body: Body) -> dict[str, Any]:
    """How many messages a day a subscription would match, judged by recent messages."""
    with reading_input():
        document = json_object(body)
        id = document.get("id", "estimate")
        entry = checked_entry(document, id, service_of(request).settings)
        if not isinstance(entry.subscription, Subscription):
            kind = document["properties"]["kind"]
            raise ValueError(
                f"subscription {id!r} is of kind {kind!r} and always has its k best; "
                "leave out kind, k and alpha to estimate matches"
            )
    return asdict(request.app.state.estimator.estimate(entry.subscription))


def _registered(service: Service, token: Token, id: str) -> Registered:
    found = service.subscriptions.get(token.name, id)
    if found is None:
        raise _no_such(id)
    return found


def _no_such(id: str) -> HTTPException:
    return HTTPException(404, f"you have no subscription {id!r}; GET /v1/subscriptions lists yours")


def _document(found: Registered, **more: Any) -> dict[str, Any]:
    about = {"created": found.created, "expires": found.expires, **more}
    return {**found.document, "properties": {**found.document["properties"], **about}}


def _delivery(service: Service, found: Registered) -> dict[str, Any]:
    delivered, failed = service.deliveries.counts(found.owner, found.id)
    oldest = service.outbox.oldest_after(found.owner, found.id, _slowest_reader(service, found))
    return {
        "matched": service.outbox.matched(found.owner, found.id),
        "delivered": delivered,
        "failed": failed,
        "oldest_undelivered": None if oldest is None else oldest.written,
    }


def _slowest_reader(service: Service, found: Registered) -> int:
    """The number up to which every reader has all; a stream nobody ever read is none."""
    deliveries = service.deliveries
    stream = deliveries.cursor(found.owner, STREAM)
    cursors = [
        deliveries.cursor(found.owner, each.name) for each in deliveries.webhooks(found.owner)
    ]
    return min([*cursors, stream] if stream or not cursors else cursors)


def _rank(found: RankExplanation) -> dict[str, Any]:
    return {
        "score": found.score,
        "alpha": found.subscription.alpha,
        "nearness": found.nearness,
        "cosine": found.cosine,
        "distance_metres": found.distance,
        "words": [
            {"word": each.word, "wanted": each.wanted, "said": each.said} for each in found.words
        ],
        "place": found.place,
        "rank": found.rank,
        "text": str(found),
    }


def _explanation(found: Explanation) -> dict[str, Any]:
    return {
        "matches": found.matches,
        "words_match": found.words_match,
        "in_region": found.in_region,
        "distance_metres": found.distance,
        "clauses": [
            {
                "required": sorted(each.clause.required),
                "forbidden": sorted(each.clause.forbidden),
                "missing": sorted(each.missing),
                "unwanted": sorted(each.unwanted),
            }
            for each in found.clauses
        ],
        "text": str(found),
    }
