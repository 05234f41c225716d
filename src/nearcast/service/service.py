"""`Service`: the parts of a running service, and when they start and stop."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from nearcast.durable_files import make_folder
from nearcast.pipeline.log import Log
from nearcast.service.data_folder import DataFolder
from nearcast.service.matching.process import MatchingSettings
from nearcast.service.matching.supervisor import Supervisor
from nearcast.service.settings import Settings
from nearcast.service.stores.deliveries import Deliveries
from nearcast.service.stores.messages import Messages
from nearcast.service.stores.outbox import Outbox
from nearcast.service.stores.registry import open_registry
from nearcast.service.stores.subscriptions import Subscriptions
from nearcast.service.stores.tokens import Tokens
from nearcast.service.window import window_from
from nearcast.storage import read_json, write_json

SECONDS_BETWEEN_EXPIRIES = 1.0
SECONDS_BETWEEN_CLEANINGS = 30.0
CLEANINGS_A_PRUNING = 120

logger = logging.getLogger(__name__)


class Service:
    """Everything below the web: stores, and the pipeline in its process.

    `on_events` is called, in some thread, when the outbox has news.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = DataFolder.open(settings.data)
        self._lock = self.folder.claim("service")
        self._check_ranking()
        self.log = Log(self.folder.log)
        self._registry = open_registry(self.folder)
        self.tokens = Tokens(self._registry)
        self.subscriptions = Subscriptions(self._registry, self.log)
        self.messages = Messages(self.folder, self.log)
        self.messages.catch_up()
        self.outbox = Outbox(self.folder)
        self.deliveries = Deliveries(self.folder)
        self.on_events: Callable[[], None] = lambda: None
        self.pipeline = Supervisor(
            MatchingSettings(
                folder=str(self.folder.path),
                master=settings.master,
                rows_per_batch=settings.rows_per_batch,
                keep_seconds=3600 * settings.keep_hours,
                keep_events=settings.keep_events,
                window=settings.window,
                farthest=settings.farthest,
                half_life=settings.half_life,
            ),
            on_commit=lambda: self.on_events(),
        )
        self._said_time = -math.inf  # up to when the log was told that time has passed
        self._stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep_tidy, name="tidy", daemon=True)

    def start(self) -> None:
        """Start the pipeline and what is done now and then; returns at once."""
        self.pipeline.start()
        self._keeper.start()

    def lag(self) -> int | None:
        """How many rows of the log the pipeline has yet to process; None: it has not said."""
        processed = self.pipeline.status.progress.get("offset")
        return None if processed is None else self.log.end - processed

    def stop(self) -> None:
        """Stop in good order; everything acknowledged is on the disk before, during and after."""
        self._stopping.set()
        if self._keeper.ident is not None:
            self._keeper.join()
        self.pipeline.stop()
        for part in (self.outbox, self.deliveries, self.messages, self._registry, self.log):
            part.close()
        os.close(self._lock)

    def _keep_tidy(self) -> None:
        cleaned = time.monotonic()
        cleanings = 0
        while not self._stopping.wait(SECONDS_BETWEEN_EXPIRIES):
            try:
                self.subscriptions.log_again()  # what a full disk kept from the log
                self.subscriptions.expire(time.time())
                self._let_time_pass(time.time())
                if time.monotonic() - cleaned > SECONDS_BETWEEN_CLEANINGS:
                    cleaned, cleanings = time.monotonic(), cleanings + 1
                    self._clean()
                    if cleanings % CLEANINGS_A_PRUNING == 0:
                        self._prune()
            except Exception:  # whatever it is, a full disk, say: it is tried again
                logger.exception("tidying failed")

    def _clean(self) -> None:
        oldest = time.time() - 3600 * self.settings.keep_hours
        self.deliveries.forget_dead_letters(oldest)
        progress = self.pipeline.status.progress
        if (processed := progress.get("offset")) is not None:
            self.messages.forget(oldest, self.settings.keep_messages, processed)

    def _let_time_pass(self, now: float) -> None:
        """Messages expire for those who move, also while nobody says anything."""
        expiry = self.pipeline.status.progress.get("next_expiry")
        if expiry is not None and self._said_time < expiry <= now:
            self._said_time = now  # the pipeline has yet to hear of it, and is told once
            self.log.advance(now)

    def _check_ranking(self) -> None:
        """Results that were begun in one way cannot go on in another."""
        settings, file = self.settings, self.folder.results / "ranking.json"
        about = {
            "window": settings.window,
            "farthest": settings.farthest,
            "half_life": settings.half_life,
        }
        if not file.exists():
            make_folder(self.folder.results)
            write_json(file, about)
            return
        begun = read_json(file, unchecked=lambda made: made.keys() == about.keys())
        if _comparable(begun) != _comparable(about):
            os.close(self._lock)
            raise ValueError(
                f"{_in_words(about)}: the results in {self.folder.results} have "
                f"{_in_words(begun)}; give these, or another data folder"
            )

    def _prune(self) -> None:
        """Forget what subscriptions had matched that are gone: some come and go all the time."""
        for subscriber, subscription in self.outbox.matched_ids() - self.subscriptions.ids():
            self.deliveries.forget_subscription(subscriber, subscription)
            self.outbox.forget_matched(subscriber, subscription)


def _comparable(about: dict[str, Any]) -> dict[str, Any]:
    return {**about, "window": window_from(about["window"])}


def _in_words(about: dict[str, Any]) -> str:
    window, farthest, half_life = about["window"], about["farthest"], about["half_life"]
    return f"window {window!r}, farthest {farthest:g}, half_life {half_life:g}"
