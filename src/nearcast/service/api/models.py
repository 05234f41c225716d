"""What goes in and out, for the documentation; the checks themselves are in `documents.py`."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from nearcast.service.documents import KINDS
from nearcast.service.stores.tokens import ROLES

_SUBSCRIPTION = {
    "type": "Feature",
    "geometry": {"type": "Point", "coordinates": [2.35, 48.86]},
    "properties": {"keywords": "coffee AND (cake OR breakfast)", "radius": 500},
}
_POSITION = {
    "type": "Feature",
    "geometry": {"type": "Point", "coordinates": [2.36, 48.86]},
    "properties": {"radius": 500, "time": 1731662000.5},
}
_MESSAGE = {
    "type": "Feature",
    "id": "m1",
    "geometry": {"type": "Point", "coordinates": [2.351, 48.861]},
    "properties": {"text": "Coffee and cake, fresh from the oven"},
}


class Feature(BaseModel):
    """A GeoJSON Feature."""

    type: Literal["Feature"]
    id: str
    geometry: dict[str, Any] | None
    bbox: Annotated[list[float], Field(min_length=4, max_length=4)] | None = None
    properties: dict[str, Any]


class SubscriptionPage(BaseModel):
    """Subscriptions in the order of their ids; `next` is the `after` of the next page."""

    type: Literal["FeatureCollection"]
    features: list[Feature]
    next: str | None


class MessagePage(BaseModel):
    """Messages, newest first; `next` is the `before` of the next page."""

    type: Literal["FeatureCollection"]
    features: list[Feature]
    next: int | None


class PutCounts(BaseModel):
    """How many subscriptions were new, and how many took the place of another."""

    created: int
    replaced: int


class ClauseReport(BaseModel):
    """One way to satisfy an expression, and what a message lacks or has too much for it."""

    required: list[str]
    forbidden: list[str]
    missing: list[str]
    unwanted: list[str]


class ExplanationReport(BaseModel):
    """Why a subscription wants a message, or why not; `text` says it in words."""

    matches: bool
    words_match: bool
    in_region: bool
    distance_metres: float
    clauses: list[ClauseReport]
    text: str


class SharedWordReport(BaseModel):
    """A word that a message and a top-k subscription share, with its weight in each."""

    word: str
    wanted: float
    said: float


class RankReport(BaseModel):
    """What a message is worth to a top-k subscription, and why; `text` says it in words.

    `place` is its place in the list now, `rank` the one it would get if it came now; null for none.
    """

    score: float
    alpha: float
    nearness: float
    cosine: float
    distance_metres: float
    words: list[SharedWordReport]
    place: int | None
    rank: int | None
    text: str


class FoundMessage(BaseModel):
    """A message of a result; `message` is null when what it said is no longer kept.

    Of a top-k list it has a score.
    """

    id: str
    score: float | None = None
    message: Feature | None


class ScoredTerm(BaseModel):
    """A term of a list, and how much it is talked about."""

    term: str
    score: float


class ResultList(BaseModel):
    """What a subscription has: messages, `results`, or `terms`; lists are best first."""

    results: list[FoundMessage] | None = None
    terms: list[ScoredTerm] | None = None


class EstimateReport(BaseModel):
    """What a subscription would match in a day, by the messages of the last so many seconds."""

    per_day: float | None
    matches: int
    messages: int
    seconds: float
    examples: list[str]


class MessageReceipt(BaseModel):
    """The message is durable; `duplicate`: its id was known, and this one was not published."""

    id: str
    offset: int
    duplicate: bool


class RejectedLine(BaseModel):
    """A line that was not accepted, counted from 1."""

    line: int
    reason: str


class BulkReceipt(BaseModel):
    """What became of the lines; `rejected` lists the first of `rejected_count`."""

    accepted: int
    duplicates: int
    rejected_count: int
    rejected: list[RejectedLine]


class PositionReceipt(BaseModel):
    """What became of the positions; `rejected` lists the first of `rejected_count`."""

    moved: int
    rejected_count: int
    rejected: list[RejectedLine]


class NewToken(BaseModel):
    """Whom a token stands for, and what it may do."""

    name: Annotated[str, Field(examples=["ann"])]
    roles: Annotated[list[Literal[ROLES]], Field(examples=[["subscriber"]], min_length=1)]  # type: ignore[valid-type]


class TokenReport(BaseModel):
    """A token, without its secret."""

    id: str
    name: str
    roles: list[str]
    created: float


class CreatedToken(TokenReport):
    """A new token; `token` is the secret, which is told only here."""

    token: str


class TokenList(BaseModel):
    """All tokens, oldest first."""

    tokens: list[TokenReport]


class Reject(BaseModel):
    """A row that the pipeline refused."""

    number: int
    side: str | None
    id: str | None
    reason: str | None
    row: str | None


class RejectPage(BaseModel):
    """In order; `next` is the `after` of the next page."""

    rejects: list[Reject]
    next: int | None


class Health(BaseModel):
    """How it is."""

    status: str


def feature_body(kind: Literal["subscription", "message"]) -> dict[str, Any]:
    """For `openapi_extra=`: the body is one Feature."""
    return _body("application/geo+json", kind, "A GeoJSON Feature.")


def feature_lines(kind: Literal["subscription", "message", "position"]) -> dict[str, Any]:
    """For `openapi_extra=`: the body is a Feature with an id on each line."""
    example = "\n".join(json.dumps({**_EXAMPLES[kind], "id": id}) for id in ("a", "b"))
    content = {"application/x-ndjson": {"schema": {"type": "string"}, "example": example}}
    return {"requestBody": {"required": True, "content": content}}


def model_body(kind: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """For `openapi_extra=`: the body is the JSON of a model that the route reads itself."""
    content = {"application/json": {"schema": kind.model_json_schema()}}
    return {"requestBody": {"required": required, "content": content}}


_EXAMPLES: dict[str, dict[str, Any]] = {
    "subscription": _SUBSCRIPTION,
    "message": _MESSAGE,
    "position": _POSITION,
}
_PROPERTIES: dict[str, dict[str, Any]] = {
    "subscription": {
        "kind": {"enum": list(KINDS)},
        "keywords": {"type": ["string", "array", "null"], "items": {"type": "string"}},
        "radius": {"type": "number", "exclusiveMinimum": 0},
        "k": {"type": "integer", "minimum": 1},
        "alpha": {"type": "number", "minimum": 0, "maximum": 1},
        "lifetime": {"type": "number", "exclusiveMinimum": 0},
        "expires": {"type": ["number", "null"]},
    },
    "message": {
        "text": {"type": "string"},
        "keywords": {"type": "array", "items": {"type": "string"}},
        "time": {"type": "number"},
        "expires": {"type": "number"},
    },
}


def _body(media_type: str, kind: str, text: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "description": text,
        "required": ["type", "properties", *(["id"] if kind == "message" else [])],
        "properties": {
            "type": {"const": "Feature"},
            "id": {"type": "string", "minLength": 1, "maxLength": 200},
            "geometry": {"type": ["object", "null"]},
            "bbox": {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4},
            "properties": {"type": "object", "properties": _PROPERTIES[kind]},
        },
        "example": _EXAMPLES[kind],
    }
    content = {each: {"schema": schema} for each in (media_type, "application/json")}
    return {"requestBody": {"required": True, "content": content}}
