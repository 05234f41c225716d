"""`RequestTrace`: gives each request an id, and says in the log and in numbers how it went."""

from __future__ import annotations

import logging
import secrets
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nearcast.service.api.errors import problem
from nearcast.service.metrics import Metrics

QUIET = ("/healthz", "/readyz", "/metrics")
"""Asked every few seconds by machines: only in the log when it tells everything."""

logger = logging.getLogger(__name__)


class RequestTrace:
    """The outermost part: whatever goes wrong inside ends here as a 500 that tells nothing."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and watch."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        id = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = id
        begin = time.monotonic()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            logger.exception("a request failed", extra={"request_id": id})
            if status == 0:
                answer = problem(500, f"something went wrong here; the log has it as {id}")
                await answer(scope, receive, watched)
        finally:
            self._tell(scope, status, time.monotonic() - begin)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", None) or "other"
        self._metrics.requests.labels(scope["method"], route, status).observe(seconds)
        logger.log(
            logging.DEBUG if scope["path"] in QUIET else logging.INFO,
            "request",
            extra={
                "request_id": scope["state"]["request_id"],
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "milliseconds": round(1000 * seconds, 3),
                "token_id": scope["state"].get("token_id"),
            },
        )
