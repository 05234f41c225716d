"""Who is at the page: a visitor, or the holder of a token, who signs in."""

from __future__ import annotations

import asyncio
import hashlib

from nicegui import app, events, ui

from nearcast.service.page.screen import LOGO
from nearcast.service.service import Service
from nearcast.service.stores.tokens import SUBSCRIBER, Token

_TOKEN = "token"

# The form brings what is in it: what was typed while the page connected may come after it.
_SEND_SECRET = "(submitted) => emit(submitted.target.querySelector('input').value)"


def visitor() -> str:
    """The subscriber that this browser is on an open page; its cookie stays its secret."""
    return "visitor-" + hashlib.sha256(app.storage.browser["id"].encode()).hexdigest()[:12]


async def signed_in(service: Service) -> Token | None:
    """The token that this browser signed in with, unless it was revoked since."""
    id = app.storage.user.get(_TOKEN)
    tokens = await asyncio.to_thread(service.tokens.all)
    found = (token for token in tokens if token.id == id)
    return next((token for token in found if token.may(SUBSCRIBER)), None)


def sign_out() -> None:
    """Forget the token, and begin anew."""
    app.storage.user.pop(_TOKEN, None)
    ui.navigate.reload()


def show_sign_in(service: Service) -> None:
    """A form that takes a token.  Only the token's id is kept, and on this side."""

    async def enter(submitted: events.GenericEventArguments) -> None:
        token = await asyncio.to_thread(service.tokens.find, str(submitted.args).strip())
        if token is None:
            problem.text = "This token is unknown or was revoked; ask an admin for another."
        elif not token.may(SUBSCRIBER):
            problem.text = f"The token of {token.name!r} is not a subscriber's; ask for the role."
        else:
            app.storage.user[_TOKEN] = token.id
            ui.navigate.reload()

    with ui.element("main").classes("sign-in"):
        ui.html(LOGO, sanitize=False)
        ui.label("Sign in with a token that has the role subscriber.").classes("note")
        with ui.element("form").on("submit.prevent", enter, js_handler=_SEND_SECRET):
            secret = ui.input("Token", password=True)
            secret.props("outlined dense stack-label autofocus autocomplete=current-password")
            problem = ui.label().classes("problem").props('role="alert"')
            ui.button("Sign in", color=None).props("unelevated no-caps type=submit").classes("main")
