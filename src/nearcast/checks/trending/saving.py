"""A saved index goes on exactly where it was."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from nearcast.checks.trending.samples import (
    SPACES,
    Check,
    MakeIndex,
    Pair,
    some_documents,
    some_subscriptions,
)
from nearcast.model import Message
from nearcast.trending import TermRules


def check_save_and_load(make_index: MakeIndex) -> None:
    """What comes back has the same settings, subscriptions and lists, and goes on alike."""
    for space in SPACES:
        rules = TermRules(stop_words=["bus"], shortest=2)
        pair = Pair(make_index, half_life=6.0, horizon=4, space=space, lateness=1.0, terms=rules)
        for subscription in some_subscriptions(pair.kind, 40, space):
            pair.subscribe(subscription)
        for gone in (3, 17, 20):
            pair.unsubscribe(gone)
        messages = list(some_documents(60, space))
        for message in messages[:30]:
            pair.publish(message)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.near"
            pair.index.save(path)
            settings = pair.index.settings()
            pair.index = type(pair.index).load(path)
        assert pair.index.settings() == settings
        pair.assert_same_lists()
        for id, subscription in pair.live.items():
            assert pair.index.subscription(id) == subscription
        for message in messages[30:]:
            pair.publish(message)
        pair.assert_same_lists()


def check_saved_empty(make_index: MakeIndex) -> None:
    """An index without anything can be saved, loaded and used."""
    pair = Pair(make_index, half_life=6.0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.near"
        pair.index.save(path)
        pair.index = type(pair.index).load(path)
    for subscription in some_subscriptions(pair.kind, 5, pair.index.space):
        pair.subscribe(subscription)
    for message in some_documents(10, pair.index.space):
        pair.publish(message)
    pair.publish(Message("last", keywords=["tea"], at=message.at, time=message.time))
    pair.assert_same_lists()


SAVING: tuple[Check, ...] = (check_save_and_load, check_saved_empty)
