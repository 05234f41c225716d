"""For admins: tokens, and what the pipeline refused."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from nearcast.service.api.access import require, service_of
from nearcast.service.api.bodies import SmallBody, read_model
from nearcast.service.api.errors import GUARDED, documented, reading_input
from nearcast.service.api.models import (
    CreatedToken,
    NewToken,
    RejectPage,
    TokenList,
    model_body,
)
from nearcast.service.stores.tokens import ADMIN, Token, checked_name

router = APIRouter(tags=["admin"], responses=GUARDED)

Admin = Annotated[Token, Depends(require(ADMIN))]


@router.get("/v1/tokens", response_model=TokenList)
def list_tokens(request: Request, token: Admin) -> dict[str, Any]:
    """All tokens, without their secrets."""
    return {"tokens": [_report(each) for each in service_of(request).tokens.all()]}


@router.post(
    "/v1/tokens", response_model=CreatedToken, status_code=201, openapi_extra=model_body(NewToken)
)
def create_token(request: Request, token: Admin, body: SmallBody) -> dict[str, Any]:
    """A new token; its secret is in this answer and can never be told again."""
    wanted = read_model(NewToken, body)
    with reading_input():
        name = checked_name(wanted.name)
    created, secret = service_of(request).tokens.create(name, wanted.roles)
    return {**_report(created), "token": secret}


@router.delete("/v1/tokens/{id}", status_code=204, responses=documented(404))
def revoke_token(request: Request, token: Admin, id: str) -> None:
    """End a token at once."""
    if not service_of(request).tokens.revoke(id):
        raise HTTPException(404, f"there is no token {id!r}; GET /v1/tokens lists them")


@router.get("/v1/rejects", response_model=RejectPage)
def list_rejects(
    request: Request,
    token: Admin,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Rows that the pipeline refused, with their reasons; the newest 10,000 are kept."""
    found = service_of(request).outbox.rejects(after, limit + 1)
    shown = found[:limit]
    return {"rejects": shown, "next": shown[-1]["number"] if len(found) > limit else None}


def _report(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "roles": sorted(token.roles),
        "created": token.created,
    }
