"""Without `open_page` one signs in with a token, and sees what is the token's."""

import pytest
from nicegui import Client
from playwright.sync_api import expect

from nearcast.model import Subscription
from nearcast.service.page.panels import PANELS
from nearcast.service.stores.deliveries import STREAM
from nearcast.service.stores.subscriptions import Entry
from tests.service.page.driving import MATCHES, MINE, field, press, subscribe, wait_for

NEVER_RELOAD = """
    const later = window.setTimeout;
    window.setTimeout = (what, ...more) =>
        String(what).includes("reload") ? 0 : later(what, ...more);
"""

SECOND_EVENT_FIRST = """
    const emit = window.socket.emit.bind(window.socket);
    const held = [];
    window.socket.emit = (kind, ...more) => {
        if (kind !== "event") return emit(kind, ...more);
        held.push(more);
        if (held.length === 2) held.reverse().forEach((each) => emit(kind, ...each));
    };
"""


@pytest.fixture
def town(start_town):
    with start_town(open_page=False) as town:
        yield town


def sign_in(page, secret):
    field(page, "Token").fill(secret)
    page.keyboard.press("Enter")


def test_a_token_opens_the_page_of_its_subscriber(town, open_page):
    _, secret = town.service.tokens.create("ann", ["subscriber"])
    _, publisher = town.service.tokens.create("pub", ["publisher"])
    town.service.subscriptions.put("ann", [Entry(Subscription("hers", "coffee"))])
    town.service.subscriptions.put("bob", [Entry(Subscription("his", "coffee"))])
    town.say("coffee", to=[("ann", "hers"), ("bob", "his")])

    page = open_page(town.address, ready=".sign-in")
    sign_in(page, "nearcast_wrong")
    expect(page.get_by_role("alert")).to_contain_text("unknown or was revoked")
    sign_in(page, publisher)
    expect(page.get_by_role("alert")).to_contain_text("not a subscriber's")
    sign_in(page, secret)
    expect(page.locator(".owner")).to_have_text("ann")
    expect(page.locator(MINE)).to_have_count(1)
    expect(page.locator(MINE)).to_contain_text("hers")
    expect(page.locator(MATCHES)).to_have_count(1)
    subscribe(page, "tea", name="more")
    assert town.service.subscriptions.get("ann", "more").expires is None
    # Her programs read the stream; looking at the page must not take events from them.
    assert town.service.deliveries.cursor("ann", STREAM) == 0

    page.reload()
    expect(page.locator(".owner")).to_have_text("ann")
    press(page, "Sign out")
    page.wait_for_selector(".sign-in")
    page.reload()
    page.wait_for_selector(".sign-in")


def test_what_was_typed_may_come_after_the_form(town, open_page):
    """While the page connects, events wait each for itself, and any may be the first to go."""
    _, secret = town.service.tokens.create("ann", ["subscriber"])
    page = open_page(town.address, ready=".sign-in")
    wait_for(lambda: page.evaluate("window.did_handshake"))
    page.evaluate(SECOND_EVENT_FIRST)
    sign_in(page, secret)
    expect(page.locator(".owner")).to_have_text("ann")


def test_a_revoked_token_shows_nothing_more(town, open_page):
    token, secret = town.service.tokens.create("ann", ["subscriber"])
    page = open_page(town.address, ready=".sign-in")
    sign_in(page, secret)
    expect(page.locator(".owner")).to_have_text("ann")
    town.service.tokens.revoke(token.id)
    page.wait_for_selector(".sign-in")


@pytest.mark.thorough
def test_a_browser_that_stays_is_shown_out_all_the_same(town, open_page):
    token, secret = town.service.tokens.create("ann", ["subscriber"])
    page = open_page(town.address, ready=".sign-in")
    sign_in(page, secret)
    expect(page.locator(".owner")).to_have_text("ann")
    wait_for(lambda: town.server.app.state.hub.streams == len(PANELS))  # each follows its events
    page.evaluate(NEVER_RELOAD)
    [client] = [each for each in Client.instances.values() if each.has_socket_connection]
    town.service.tokens.revoke(token.id)
    wait_for(lambda: town.server.app.state.hub.streams == 0)
    wait_for(lambda: client.is_deleted)
    expect(page.locator(".owner")).to_have_count(0)


def test_the_disk_has_no_secret_of_a_token(town, open_page):
    _, secret = town.service.tokens.create("ann", ["subscriber"])
    page = open_page(town.address, ready=".sign-in")
    sign_in(page, secret)
    expect(page.locator(".owner")).to_have_text("ann")
    sessions = town.service.folder.path / "page"
    wait_for(lambda: list(sessions.glob("*.json")))
    kept = [file for file in town.service.folder.path.rglob("*") if file.is_file()]
    assert not any(secret.encode() in file.read_bytes() for file in kept)
