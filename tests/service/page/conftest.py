"""A browser, and a service with a page that needs no Spark."""

import logging
import shutil
from contextlib import contextmanager

import pytest

from nearcast.model import Box, Circle, Message, Point, Subscription
from nearcast.service.documents import Position
from nearcast.service.server import serving
from nearcast.service.service import Service
from nearcast.service.settings import Settings
from tests.service.outboxes import HostingPipeline, PretendPipeline

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


class Town:
    """A running service: `say` publishes a message, and who wants it gets it."""

    def __init__(self, server):
        self.server = server
        self.service = server.service
        self.address = server.address
        self._pipeline = PretendPipeline(self.service)
        self._lists = None
        self._count = 0

    def rank(self, *texts, at=(14.25, 40.84)):
        """Publish, and let results follow; no `say` after this."""
        self._lists = self._lists or HostingPipeline(self.service)
        for text in texts:
            self._count += 1
            message = Message(f"m{self._count}", text=text, at=Point(*at), time=self._count)
            self.service.messages.publish([message])
        self._lists.run(tell=True)

    def move(self, owner, id, at, radius):
        """A subscription is elsewhere now, and its result follows."""
        [problem] = self.service.subscriptions.move(
            owner, [Position(id, Circle(Point(*at), radius))]
        )
        assert problem is None
        self.rank()

    def say(self, text, lon=14.25, lat=40.84, to=()):
        """Publish; `to` names owner and subscription of each match.  The ids of the events."""
        self._count += 1
        message = Message(f"m{self._count}", text=text, at=Point(lon, lat), time=self._count)
        [receipt] = self.service.messages.publish([message])
        return self._pipeline.commit([(f"{owner}/{id}", receipt.offset) for owner, id in to])

    def owners(self):
        return {owner for owner, _ in self.service.subscriptions.ids()}

    def close(self):
        self._pipeline.close()
        if self._lists is not None:
            self._lists.close()


@pytest.fixture
def start_town(tmp_path, monkeypatch, caplog):
    """A function that starts a town; whatever it logs as an error fails the test."""
    monkeypatch.setattr(Service, "start", lambda self: None)  # no Spark

    @contextmanager
    def start(**changes):
        settings = {"open_page": True, "tiles": "", **changes}
        with serving(Settings(data=str(tmp_path / "data"), port=0, **settings)) as server:
            town = Town(server)
            yield town
            town.close()

    yield start
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.fixture
def town(start_town):
    with start_town() as town:
        for i in range(40):  # something to look at, and to estimate from
            town.say("fresh coffee and cake", 14.22 + 0.001 * i, 40.82 + 0.001 * i)
        # The first estimate on a machine compiles kernels, which takes a minute.
        town.server.app.state.estimator.estimate(
            Subscription("warm", "coffee", Box(14, 40, 15, 41))
        )
        yield town


@pytest.fixture(scope="module")  # not longer: while it lives, no other test can run an event loop
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed; apt-get install chromium")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # for a busy machine: what is expected comes in a moment
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """A function that opens the page in a browser of its own; errors in there fail the test."""
    errors, contexts = [], []

    def open(address, *, ready=".live-map[data-ready]", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: said.type == "error" and errors.append(said.text))
        page.goto(address)
        page.wait_for_selector(ready)
        return page

    yield open
    for context in contexts:
        context.close()
    assert errors == []
