"""The page: a live map of what is said, where one draws a region and watches matches arrive."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path

from fastapi import FastAPI
from nicegui import Client, ui
from nicegui import app as pages
from nicegui.storage import Storage
from starlette.responses import RedirectResponse

from nearcast.service.api.rates import RateLimit
from nearcast.service.data_folder import DataFolder
from nearcast.service.delivery.hub import Hub
from nearcast.service.page.sampler import Sampler
from nearcast.service.page.screen import Screen
from nearcast.service.page.sign_in import show_sign_in, sign_out, signed_in, visitor
from nearcast.service.page.visit import Visit, recent_corners
from nearcast.service.service import Service

PATH = "/map"
"""Not at the root: there it would answer every wrong address of the API with a page."""
ACTIONS_PER_SECOND = 10.0
"""Of one subscriber; typing and drawing ask for an estimate four times a second."""
SECONDS_TO_BUILD = 60.0
"""The stores may be busy."""

_STATIC = Path(__file__).parent / "static"
_FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#0b63c4" '
    'stroke-width="2.4"><circle cx="12" cy="12" r="3" fill="#0b63c4" stroke="none"/>'
    '<path d="M6.7 17.3a7.5 7.5 0 0 1 0-10.6m10.6 0a7.5 7.5 0 0 1 0 10.6"/></svg>'
)


def add_page(app: FastAPI, service: Service, hub: Hub) -> None:
    """Serve the page of a service at /map, and send visitors of / there.

    NiceGUI has one page in a process: the last one added is the one that is served.
    """
    sampler = Sampler(service)
    rate = RateLimit("actions", ACTIONS_PER_SECOND)
    _begin_anew(service.folder)

    @ui.page("/", response_timeout=SECONDS_TO_BUILD)
    async def page(client: Client) -> None:
        ui.add_css(_STATIC / "page.css")
        is_open = service.settings.open_page
        token = None if is_open else await signed_in(service)
        if token is None and not is_open:
            show_sign_in(service)
            return
        visit = Visit(
            service=service,
            hub=hub,
            estimate=lambda subscription: app.state.estimator.estimate(subscription),
            owner=visitor() if token is None else token.name,
            token=token,
            rate=rate,
        )
        corners = await asyncio.to_thread(recent_corners, service)
        Screen(client, visit, sampler, corners, None if token is None else sign_out)

    @app.get("/", include_in_schema=False)
    def root() -> RedirectResponse:
        return RedirectResponse(f"{PATH}/")

    ui.run_with(
        app,
        title="Nearcast",
        favicon=_FAVICON,
        dark=None,  # as the system likes it
        language="en-US",
        mount_path=PATH,
        tailwind=False,
        storage_secret=_secret(service.folder),
        show_welcome_message=False,
    )


def _begin_anew(folder: DataFolder) -> None:
    """Forget an earlier page of this process; what people's sessions say is kept in the folder."""
    pages.user_middleware.clear()
    pages.middleware_stack = None
    Storage.path = folder.path / "page"
    pages.storage._users.clear()


def _secret(folder: DataFolder) -> str:
    """What cookies are signed with, made once."""
    file = folder.path / "page.secret"
    if not file.exists():
        new = file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(secrets.token_urlsafe(32))
        os.replace(new, file)
    return file.read_text()
