"""`ListEvent`: a shard's part of a list is another, which only all parts together can tell of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from nearcast.broker.kinds import lists_told
from nearcast.model import Id, Notification
from nearcast.pipeline.hosted.spread.distribution import Homes
from nearcast.pipeline.hosted.spread.part_lists import Part
from nearcast.topk.distributions import Placement
from nearcast.topk.distributions.lowest_scores import lowest_of
from nearcast.topk.list_change import list_change


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


def events_table(events: Sequence[ListEvent], told: pa.Schema) -> pa.Table:
    """Events as columns; `told` is the schema of what is told, with the types of ids."""
    return pa.Table.from_pylist([_row(each) for each in events], _schema(told))


def events_of(table: pa.Table) -> list[ListEvent]:
    """The events whose table this is."""
    return [_event(row) for row in table.to_pylist()]


def _schema(told: pa.Schema) -> pa.Schema:
    message_id = told.field("message_id").type
    homes = pa.list_(pa.int32())
    part = pa.list_(
        pa.struct([("id", message_id), ("score", pa.float64()), ("number", pa.int64())])
    )
    return pa.schema(
        [
            ("subscription_id", told.field("subscription_id").type),
            ("position", pa.int64()),
            ("cause", message_id),
            ("time", pa.float64()),
            ("is_single", pa.bool_()),
            ("homes_before", homes),
            ("homes", homes),
            ("length_before", pa.int64()),
            ("length", pa.int64()),
            ("before", part),
            ("after", part),
            ("places", homes),
            ("beyond", pa.list_(pa.float64())),
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
