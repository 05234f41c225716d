"""A saved index comes back the same, and a damaged file does not come back at all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from nearcast.checks.boolean.samples import (
    SPACES,
    Check,
    MakeIndex,
    assert_answers,
    batch_of,
    some_messages,
    some_subscriptions,
)
from nearcast.checks.expecting import expects
from nearcast.model import Space, Subscription


def check_save_and_load(make_index: MakeIndex) -> None:
    """What comes back gives the same answers and the same subscriptions."""
    for space in SPACES:
        index = make_index(space=space)
        messages = some_messages(20, space)
        subscriptions = some_subscriptions(80, space)
        index.insert_batch(batch_of(subscriptions[:60], space))
        for subscription in subscriptions[60:]:
            index.insert(subscription)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "index.near"
            index.save(path)
            loaded = type(index).load(path)
            assert loaded.space is space
            assert_answers(loaded, subscriptions, messages)
            for subscription in subscriptions:
                assert loaded.subscription(subscription.id) == subscription
            assert_answers(index, subscriptions, messages)


def check_saved_empty(make_index: MakeIndex) -> None:
    """An index without subscriptions can be saved, loaded and filled."""
    index = make_index(space=Space.EARTH)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.near"
        index.save(path)
        loaded = type(index).load(path)
        assert_answers(loaded, [], some_messages(3, Space.EARTH))
        subscriptions = some_subscriptions(30, Space.EARTH)
        loaded.insert_batch(batch_of(subscriptions))
        assert_answers(loaded, subscriptions, some_messages(30, Space.EARTH))


def check_changes_after_load(make_index: MakeIndex) -> None:
    """A loaded index can be changed, saved and loaded again; its file stays as it was."""
    for space in SPACES:
        messages = some_messages(15, space)
        live = {s.id: s for s in some_subscriptions(70, space)}
        index = make_index(space=space)
        index.insert_batch(batch_of(live.values(), space))
        with TemporaryDirectory() as folder:
            first, second = Path(folder) / "first.near", Path(folder) / "second.near"
            index.save(first)
            bytes_then = first.read_bytes()
            loaded = type(index).load(first)
            for id_ in list(live)[:30]:
                loaded.remove(id_)
                del live[id_]
            assert_answers(loaded, live.values(), messages)
            more = [
                Subscription(f"new {s.id}", s.expression, s.region)
                for s in some_subscriptions(40, space, seed=5)
            ]
            for subscription in more:
                loaded.insert(subscription)
                live[subscription.id] = subscription
            assert_answers(loaded, live.values(), messages)
            assert first.read_bytes() == bytes_then
            loaded.save(second)
            again = type(index).load(second)
            assert_answers(again, live.values(), messages)
            loaded.save(first)  # over the file it lives on
            assert_answers(loaded, live.values(), messages)
            assert_answers(type(index).load(first), live.values(), messages)


def check_damaged_files(make_index: MakeIndex) -> None:
    """A truncated, damaged or foreign file is a ValueError; a missing one is an OSError."""
    index = make_index(space=Space.EARTH)
    index.insert_batch(batch_of(some_subscriptions(50, Space.EARTH)))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.near"
        index.save(path)
        whole = path.read_bytes()
        half = len(whole) // 2
        flipped = bytearray(whole)
        flipped[30] ^= 1
        for damaged in (b"", b"not an index", whole[:20], whole[:half], bytes(flipped)):
            path.write_bytes(damaged)
            with expects(ValueError, naming=str(path)):
                type(index).load(path)
        path.unlink()
        with expects(OSError):
            type(index).load(path)


SAVING: tuple[Check, ...] = (
    check_save_and_load,
    check_saved_empty,
    check_changes_after_load,
    check_damaged_files,
)
