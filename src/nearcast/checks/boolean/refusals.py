"""Bad input is refused, and the index is as it was."""

from __future__ import annotations

import pyarrow as pa

from nearcast.batches import SubscriptionBatch
from nearcast.checks.boolean.samples import (
    SPACES,
    Check,
    MakeIndex,
    assert_answers,
    batch_of,
    message_batch_of,
    some_messages,
    some_subscriptions,
)
from nearcast.checks.expecting import expects
from nearcast.model import Box, Message, Point, Space, Subscription


def check_bad_rows(make_index: MakeIndex) -> None:
    """A batch with one bad row is refused with its number, and nothing of it is taken."""
    good = {"id": 1, "keywords": "tea", "west": 0.0, "south": 0.0, "east": 1.0, "north": 1.0}
    bad_rows: list[dict[str, object]] = [
        good | {"west": float("nan")},
        good | {"east": float("inf")},
        good | {"north": 95.2},
        good | {"west": -181.0},
        good | {"south": 2.0},
        good | {"keywords": ""},
        good | {"keywords": "tea AND"},
        good | {"keywords": "NOT tea"},
        good | {"id": 0},  # a second time
        good | {"id": None},
        dict.fromkeys(good) | {"id": 1},  # neither words nor region
    ]
    index = make_index(space=Space.EARTH)
    subscriptions = some_subscriptions(50, Space.EARTH)
    index.insert_batch(batch_of(subscriptions))
    for bad in bad_rows:
        table = pa.Table.from_pylist([good | {"id": 0}, bad], _SCHEMA)
        with expects(ValueError):
            index.insert_batch(SubscriptionBatch.from_arrow(table))
    assert_answers(index, subscriptions, some_messages(30, Space.EARTH))


def check_duplicate_ids(make_index: MakeIndex) -> None:
    """One batch cannot hold an id twice."""
    index = make_index(space=Space.EARTH)
    index.insert(Subscription(7, "cake"))
    twice = [Subscription(7, "tea"), Subscription(8, "tea"), Subscription(7, "sale")]
    with expects(ValueError):
        index.insert_batch(batch_of(twice))
    assert_answers(index, [Subscription(7, "cake")], some_messages(30, Space.EARTH))


def check_other_space(make_index: MakeIndex) -> None:
    """Subscriptions and messages of the other space are refused, singly and in batches."""
    for space, other in (SPACES, SPACES[::-1]):
        index = make_index(space=space)
        subscriptions = some_subscriptions(20, space)
        index.insert_batch(batch_of(subscriptions, space))
        stranger = Subscription(0, "tea", Box(0, 0, 1, 1, space=other))
        message = Message(1, keywords=["tea"], at=Point(0, 0, space=other))
        with expects(ValueError):
            index.insert(stranger)
        with expects(ValueError):
            index.insert_batch(batch_of([stranger], other))
        with expects(ValueError):
            index.match(message)
        with expects(ValueError):
            index.match_batch(message_batch_of([message], other))
        assert_answers(index, subscriptions, some_messages(30, space))


def check_too_few_threads(make_index: MakeIndex) -> None:
    """No thread at all cannot match anything."""
    index = make_index(space=Space.EARTH)
    batch = message_batch_of(some_messages(3, Space.EARTH))
    for threads in (0, -1):
        with expects(ValueError):
            index.match_batch(batch, threads=threads)


_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("keywords", pa.string()),
        *((name, pa.float64()) for name in ("west", "south", "east", "north")),
    ]
)


REFUSALS: tuple[Check, ...] = (
    check_bad_rows,
    check_duplicate_ids,
    check_other_space,
    check_too_few_threads,
)
