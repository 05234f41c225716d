"""`ListEvent`: a shard's part of a list is another, which only all parts together can tell of."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.broker.kinds import lists_told
from nearcast.model import Id, Notification
from nearcast.pipeline.hosted.spread.distribution import Homes
from nearcast.topk.distributions import Placement
from nearcast.topk.distributions.lowest_scores import lowest_of
from nearcast.topk.list_change import list_change
from nearcast.topk.parts import Part, PartChanges, part_type


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happened: a row of the stream, and the message that it was, if it was one.

    - `is_single`: is it that message alone, or are there others that came together with it?
    """

    position: int
    cause: Id | None
    time: float
    is_single: bool = True


@dataclass(frozen=True, slots=True)
class ListEvent:
    """What one of the homes of a subscription had of its list before a moment, and has after it.

    - `homes_before`, `length_before`: of the subscription, before the moment; none: it is new
    - `homes`, `length`: after it; none: it has ended
    - `placement`: the shards that it may need
    """

    subscription_id: Id
    moment: Moment
    homes_before: Homes
    homes: Homes
    length_before: int
    length: int
    before: Part
    after: Part
    placement: Placement

    @property
    def is_whole(self) -> bool:
        """Is it the whole list, before and after, if it was before?"""
        is_alone = len(self.homes) == 1 and self.homes_before in ((), self.homes)
        return is_alone and self.is_right(self.after)

    def is_right(self, ranked: Part) -> bool:
        """Can nothing come into this list, merged from the parts of all homes, from beyond them?"""
        return ranked_lowest(ranked, self.length) > self.placement.beyond[len(self.homes) - 1]


ENDED = Placement((), ())
"""Of a subscription that has ended."""


def ranked_lowest(ranked: Part, length: int) -> float:
    """The score that a message has to exceed to come into a list."""
    return lowest_of([(id, score) for id, score, _ in ranked], length)


def what_to_tell(id: Id, moment: Moment, before: Part, after: Part) -> Notification | None:
    """That a list is another; None where it is not."""
    change = list_change(id, _ranked(before), _ranked(after))
    if change is None:
        return None
    [told] = lists_told([change], moment.time, moment.cause)
    return told if moment.is_single else replace(told, score=None)


def _ranked(part: Part) -> tuple[tuple[Id, float], ...]:
    return tuple((id, score) for id, score, _ in part)


@dataclass(frozen=True, slots=True, eq=False)
class EventColumns:
    """Many events, each of another list, all of whose homes tell theirs or have not changed.

    A row of `changes` for each; `positions`, `causes` and `times` are those of `Moment`.
    """

    changes: PartChanges
    positions: NDArray[np.int64]
    causes: pa.Array
    times: NDArray[np.float64]
    homes_before: list[Homes]
    homes: list[Homes]
    length_before: NDArray[np.int64]
    length: NDArray[np.int64]
    placements: list[Placement]

    def __len__(self) -> int:
        return len(self.homes)

    def take(self, chosen: NDArray[np.int64]) -> EventColumns:
        """Some of them."""
        return EventColumns(
            self.changes.take(chosen),
            self.positions[chosen],
            self.causes.take(pa.array(chosen)),
            self.times[chosen],
            [self.homes_before[row] for row in chosen],
            [self.homes[row] for row in chosen],
            self.length_before[chosen],
            self.length[chosen],
            [self.placements[row] for row in chosen],
        )

    @property
    def are_whole(self) -> NDArray[np.bool_]:
        """Which are the whole list, before and after; see `ListEvent.is_whole`."""
        pairs = zip(self.homes, self.homes_before, strict=True)
        are_alone = np.array([len(now) == 1 and was in ((), now) for now, was in pairs], bool)
        beyond = np.array(
            [
                placement.beyond[len(homes) - 1]
                for placement, homes in zip(self.placements, self.homes, strict=True)
            ]
        )
        are_whole: NDArray[np.bool_] = are_alone & (self.changes.after.lowest(self.length) > beyond)
        return are_whole

    def table(self, told: pa.Schema) -> pa.Table:
        """As `ListEvents.table` has them."""
        schema, count = _schema(told), len(self)
        part_id = told.field("message_id").type
        columns = {
            "subscription_id": self.changes.subscription_ids,
            "position": pa.array(self.positions),
            "cause": self.causes,
            "time": pa.array(self.times),
            "is_single": pa.repeat(False, count),
            "homes_before": pa.array(self.homes_before, _HOMES),
            "homes": pa.array(self.homes, _HOMES),
            "length_before": pa.array(self.length_before),
            "length": pa.array(self.length),
            "before": self.changes.before.as_arrow(part_id),
            "after": self.changes.after.as_arrow(part_id),
            "places": pa.array([each.shards for each in self.placements], _HOMES),
            "beyond": pa.array([each.beyond for each in self.placements], _NUMBERS),
            "is_plain": pa.repeat(True, count),
        }
        return pa.table([columns[field.name].cast(field.type) for field in schema], schema=schema)


class ListEvents:
    """What a batch did to lists that other shards have parts of."""

    def __init__(self) -> None:
        self._columns: list[EventColumns] = []
        self._single: list[ListEvent] = []
        self._ids: set[Id] = set()

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def add(self, event: ListEvent) -> None:
        """One more."""
        self._single.append(event)
        self._ids.add(event.subscription_id)

    def add_many(self, events: EventColumns) -> None:
        """Many more."""
        self._columns.append(events)
        self._ids.update(events.changes.subscription_ids.to_pylist())

    def table(self, told: pa.Schema) -> pa.Table:
        """All as columns; `told` is the schema of what is told, with the types of ids."""
        single = pa.Table.from_pylist([_row(each) for each in self._single], _schema(told))
        return pa.concat_tables([single, *(each.table(told) for each in self._columns)])


def events_of(table: pa.Table) -> list[ListEvent]:
    """The events of which `ListEvents` made this table."""
    return [_event(row) for row in table.to_pylist()]


_HOMES = pa.list_(pa.int32())
_NUMBERS = pa.list_(pa.float64())


def _schema(told: pa.Schema) -> pa.Schema:
    message_id = told.field("message_id").type
    part = part_type(message_id)
    return pa.schema(
        [
            ("subscription_id", told.field("subscription_id").type),
            ("position", pa.int64()),
            ("cause", message_id),
            ("time", pa.float64()),
            ("is_single", pa.bool_()),
            ("homes_before", _HOMES),
            ("homes", _HOMES),
            ("length_before", pa.int64()),
            ("length", pa.int64()),
            ("before", part),
            ("after", part),
            ("places", _HOMES),
            ("beyond", _NUMBERS),
            ("is_plain", pa.bool_()),
        ]
    )


def _row(event: ListEvent) -> dict[str, Any]:
    return {
        "subscription_id": event.subscription_id,
        **asdict(event.moment),
        "homes_before": event.homes_before,
        "homes": event.homes,
        "length_before": event.length_before,
        "length": event.length,
        "before": [_item(each) for each in event.before],
        "after": [_item(each) for each in event.after],
        "places": event.placement.shards,
        "beyond": event.placement.beyond,
        "is_plain": False,
    }


def _item(entry: tuple[Id, float, int]) -> dict[str, Any]:
    return dict(zip(("id", "score", "number"), entry, strict=True))


def _event(row: dict[str, Any]) -> ListEvent:
    moment = Moment(row["position"], row["cause"], row["time"], row["is_single"])
    return ListEvent(
        row["subscription_id"],
        moment,
        tuple(row["homes_before"]),
        tuple(row["homes"]),
        row["length_before"],
        row["length"],
        _part(row["before"]),
        _part(row["after"]),
        Placement(tuple(row["places"]), tuple(row["beyond"])),
    )


def _part(items: list[dict[str, Any]]) -> Part:
    return tuple((each["id"], each["score"], each["number"]) for each in items)
