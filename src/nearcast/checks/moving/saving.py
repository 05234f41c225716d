"""A saved index goes on where it was."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from nearcast.checks.boolean.samples import some_messages, some_subscriptions
from nearcast.checks.expecting import expects
from nearcast.checks.moving.pair import SPACES, Check, MakeMoving, Pair
from nearcast.model import Message, Space, Subscription
from nearcast.moving import LatePositions


def check_save_and_load(make_index: MakeMoving) -> None:
    """Saved mid-stream, empty and full, with all settings; the stream goes on exactly."""
    for space in SPACES:
        pair = Pair(make_index, space, lifetime=30.0, late_positions=LatePositions.TAKEN)
        pair.save_and_load()
        assert pair.index.lifetime == 30.0
        assert pair.index.late_positions is LatePositions.TAKEN
        subscriptions = some_subscriptions(30, space)
        regions = [each.region for each in some_subscriptions(90, space, seed=5) if each.region]
        for number, message in enumerate(some_messages(30, space)):
            pair.subscribe(subscriptions[number])
            pair.publish(
                Message(number % 20, keywords=message.keywords, at=message.at, time=number)
            )
            pair.move(number, regions[number], time=100.0 - number)
            if number % 8 == 7:
                pair.save_and_load()
        pair.subscribe(Subscription("new", "tea OR cake OR new"))
        pair.advance(1000)


def check_foreign_files(make_index: MakeMoving) -> None:
    """A file of something else is a ValueError."""
    index = make_index(space=Space.EARTH)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index.near"
        path.write_bytes(b"not an index")
        with expects(ValueError, naming=str(path)):
            type(index).load(path)


SAVING: tuple[Check, ...] = (check_save_and_load, check_foreign_files)
