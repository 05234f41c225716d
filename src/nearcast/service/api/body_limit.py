"""`BodyLimit`: no request makes the service read more than it should."""

from __future__ import annotations

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nearcast.service.api.bodies import SMALL_BODY


class BodyLimit:
    """Refuses a body that is too large with 413, by its header or, without one, while it comes.

    The API takes up to `largest` bytes, of those with a token. What is not the API, the page, reads
    a body before it asks who sends it, and needs little.
    """

    def __init__(self, app: ASGIApp, largest: int) -> None:
        self._app = app
        self._largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and count."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        largest = self._largest if scope["path"].startswith("/v1/") else SMALL_BODY
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            if announced.isdigit() and int(announced) > largest:
                _refuse(largest)
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > largest:
                _refuse(largest)
            return message

        await self._app(scope, counted, send)


def _refuse(largest: int) -> None:
    raise HTTPException(
        413,
        f"the body has more than {largest:,} bytes; send several smaller ones",
        {"Connection": "close"},  # else the rest would be read, to no purpose
    )
