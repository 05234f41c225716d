"""A saved index goes on exactly where it was."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from nearcast.checks.topk.pair import Check, MakeIndex, Pair, some_messages, some_subscriptions
from nearcast.model import Space
from nearcast.topk import CountWindow, TimeWindow, WordStatistics


def check_save_and_load(make_index: MakeIndex) -> None:
    """What comes back has the same window, subscriptions and lists, and goes on alike."""
    statistics = WordStatistics(10, {"tea": 3, "bus": 9})
    for window in (CountWindow(12), TimeWindow(9.0)):
        pair = Pair(make_index, window, max_dist=1e6, statistics=statistics, lateness=1.0)
        subscriptions = list(some_subscriptions(30, Space.EARTH))
        pair.subscribe(*subscriptions)
        for gone in (3, 17, 20):
            pair.unsubscribe(gone)
        messages = list(some_messages(60, Space.EARTH))
        pair.publish(*messages[:30])
        _save_and_load(pair)
        assert (pair.index.window, pair.index.lateness) == (window, 1.0)
        pair.assert_same_lists()
        for id in pair.live:
            kept, given = pair.index.subscription(id), subscriptions[int(id)]
            assert (kept.at, kept.k, kept.alpha) == (given.at, given.k, given.alpha)
            assert sorted(kept.keywords) == sorted(given.keywords)
        pair.publish(*messages[30:])
        pair.assert_same_lists()


def check_saved_empty(make_index: MakeIndex) -> None:
    """An index without anything can be saved, loaded and used."""
    pair = Pair(make_index, CountWindow(5))
    _save_and_load(pair)
    pair.subscribe(*some_subscriptions(5, Space.EARTH))
    pair.publish(*some_messages(10, Space.EARTH))
    pair.assert_same_lists()


def _save_and_load(pair: Pair) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.near"
        pair.index.save(path)
        pair.index = type(pair.index).load(path)


SAVING: tuple[Check, ...] = (check_save_and_load, check_saved_empty)
