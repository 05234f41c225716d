"""Who is asking, and may they?  Each route says which role it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, cast

from fastapi import Depends, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection, Request

from nearcast.service.service import Service
from nearcast.service.stores.tokens import Token

_CHALLENGE = {"WWW-Authenticate": "Bearer"}

bearer = HTTPBearer(
    auto_error=False, description="A token, made by `nearcast token create` or by an admin."
)


def service_of(connection: HTTPConnection) -> Service:
    """The service behind a request or a WebSocket."""
    return cast(Service, connection.app.state.service)


def require(*roles: str) -> Callable[..., Token]:
    """A dependency: the token of the request, which has one of the roles; none: any token does.

    401 without a token that is known, 403 with the wrong role, 429 when it asks too often.
    """

    def token(
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> Token:
        return admit(request, None if credentials is None else credentials.credentials, *roles)

    return token


def admit(connection: HTTPConnection, secret: str | None, *roles: str) -> Token:
    """The token of this secret, if it may; an HTTPException if not.  For WebSockets too."""
    if not secret:
        raise HTTPException(
            401, "no token; send the header Authorization: Bearer <token>", _CHALLENGE
        )
    token = service_of(connection).tokens.find(secret)
    if token is None:
        raise HTTPException(
            401, "the token is unknown or was revoked; ask an admin for another", _CHALLENGE
        )
    connection.state.token_id = token.id  # for the log
    connection.app.state.request_rate.take(token.id)
    if roles and not any(token.may(role) for role in roles):
        raise HTTPException(
            403,
            f"token {token.id} of {token.name!r} may not do this; it needs the role "
            f"{' or '.join(roles)}",
        )
    return token
