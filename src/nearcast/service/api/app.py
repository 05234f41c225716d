"""`create_app`: the web on top of a `Service`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, HTTPException, Request
from fastapi.routing import APIRoute

from nearcast.service.api import (
    admin_routes,
    event_routes,
    message_routes,
    operation_routes,
    position_routes,
    subscription_routes,
    webhook_routes,
)
from nearcast.service.api.body_limit import BodyLimit
from nearcast.service.api.errors import add_error_handlers
from nearcast.service.api.rates import RateLimit
from nearcast.service.api.request_trace import RequestTrace
from nearcast.service.delivery.hub import Hub
from nearcast.service.estimate import Estimator
from nearcast.service.metrics import Metrics
from nearcast.service.service import Service

ROUTERS = (
    subscription_routes.router,
    position_routes.router,
    message_routes.router,
    event_routes.router,
    webhook_routes.router,
    admin_routes.router,
    operation_routes.router,
)
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]


def create_app(service: Service, *, page: bool = True) -> FastAPI:
    """The API, the deliveries and the page of a service.

    The caller starts and stops the service itself. NiceGUI allows one page in a process, so that
    tests of the API go without.
    """
    hub = Hub(service)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await hub.start()
        try:
            yield
        finally:
            await hub.stop()

    app = FastAPI(
        title="Nearcast",
        version=version("nearcast"),
        description="Publish messages at a place, subscribe to words in a region.",
        lifespan=lifespan,
        docs_url=None,  # it would load its script from elsewhere
        redoc_url=None,
    )
    settings = service.settings
    app.state.service = service
    app.state.hub = hub
    app.state.request_rate = RateLimit("requests", settings.requests_per_second)
    app.state.message_rate = RateLimit("messages", settings.messages_per_second)
    app.state.position_rate = RateLimit("positions", settings.messages_per_second)
    app.state.estimator = Estimator(service.messages)
    app.state.metrics = Metrics(service, hub)
    add_error_handlers(app)
    app.add_middleware(BodyLimit, largest=settings.largest_body)
    app.add_middleware(RequestTrace, metrics=app.state.metrics)  # the last is the outermost
    for router in ROUTERS:
        app.include_router(router)
    app.add_api_route("/v1/{path:path}", _nothing_here, methods=METHODS, include_in_schema=False)
    if page:
        # Here, because NiceGUI takes a second to load.
        from nearcast.service.page import add_page

        add_page(app, service, hub)
    return app


async def _nothing_here(request: Request) -> None:
    """An address or a method of the API that is not there; else the page would answer."""
    allowed = {
        method
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and route.path_regex.match(request.url.path)
        for method in route.methods or ()
    }
    if allowed:
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))})
    raise HTTPException(404)
