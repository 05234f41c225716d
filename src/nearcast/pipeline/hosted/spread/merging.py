"""`merge`: whole lists from the parts that several shards have of them.

Nothing is kept from one batch to the next: a home of a list that said nothing has not changed, and
is asked for its part. A list that has become so poor that messages beyond its homes might be in it
gets more homes (DSkype's lazy re-allocation), which are asked, too; they have it from the next
batch on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

import pyarrow as pa

from nearcast.model import Id, Notification
from nearcast.pipeline.hosted.spread.distribution import Homes
from nearcast.pipeline.hosted.spread.list_events import (
    ListEvent,
    Moment,
    ranked_lowest,
    what_to_tell,
)
from nearcast.topk.distributions.distributed_lists import SPARE
from nearcast.topk.parts import Part, Parts

Ask = Callable[[pa.Table], Iterable[tuple[int, bytes]]]
"""Asks shards for their parts of lists, as they are after the batch; see `tell_parts`."""

ASKED = pa.schema([("shard", pa.int32()), ("ids", pa.string())])


@dataclass(slots=True)
class MergedList:
    """What a batch did to a list.

    - `last`: what happened last
    - `told`: each change from one right list to the next
    - `result`: the list, None where it has ended
    - `homes`: those that it is to have from the next batch on
    """

    subscription_id: Id
    last: ListEvent
    told: list[tuple[Moment, Notification]] = field(default_factory=list)
    result: Part | None = None
    homes: Homes = ()
    _right: Part = ()

    def play(self, events: list[tuple[int, ListEvent]], parts: dict[int, Part]) -> dict[int, Part]:
        """All events in their order, from the parts before the batch to those after it."""
        self._right = self.result = merged([*parts.values()], events[0][1].length_before)
        for _, at_once in groupby(events, key=lambda each: each[1].moment.position):
            together = [*at_once]
            event = together[0][1]
            if self.result is None:  # it has begun anew, and may have been in one shard since
                parts = {shard: each.before for shard, each in together}
                self._right = merged([*parts.values()], event.length_before)
            parts |= {shard: each.after for shard, each in together}
            self.result = merged([*parts.values()], event.length) if event.homes else None
            if self.result is not None and event.is_right(self.result):
                self._tell(event.moment, self.result)
        self.homes = self.last.homes
        return parts

    @property
    def is_poor(self) -> bool:
        """Might messages beyond its homes be in the list?"""
        return self.result is not None and not self.last.is_right(self.result)

    def settle(self, parts: Mapping[int, Part]) -> None:
        """Take in the parts of further homes, as many as it needs, and leave those it does not."""
        if self.result is None:
            return
        length, placement, used = self.last.length, self.last.placement, len(self.homes)
        while placement.beyond[used - 1] >= ranked_lowest(self.result, length):
            used += 1
            self.result = merged([parts[shard] for shard in placement.shards[:used]], length)
        self._tell(self.last.moment, self.result)
        enough = placement.needed(ranked_lowest(self.result, length) - SPARE)
        self.homes = placement.shards[: min(used, enough)]

    def _tell(self, moment: Moment, ranked: Part) -> None:
        if change := what_to_tell(self.subscription_id, moment, self._right, ranked):
            self.told.append((moment, change))
        self._right = ranked


def merge(events: Iterable[tuple[int, ListEvent]], ask: Ask) -> list[MergedList]:
    """The lists of which these events, each of a shard, tell; those of a batch, in any order."""
    by_list: dict[Id, list[tuple[int, ListEvent]]] = {}
    for shard, event in events:
        by_list.setdefault(event.subscription_id, []).append((shard, event))
    silent: dict[Id, Iterable[int]] = {}
    for id, mine in by_list.items():
        mine.sort(key=lambda each: each[1].moment.position)
        known = {shard for shard, _ in mine}
        silent[id] = [shard for shard in mine[0][1].homes_before if shard not in known]
    asked = _asked(silent, ask)
    lists, parts = {}, {}
    for id, mine in by_list.items():
        before = {shard: event.before for shard, event in reversed(mine)}  # of each the first
        lists[id] = MergedList(id, mine[-1][1])
        parts[id] = lists[id].play(mine, before | asked.get(id, {}))
    poor = {id: each for id, each in lists.items() if each.is_poor}
    more = _asked({id: set(e.last.placement.shards) - set(e.homes) for id, e in poor.items()}, ask)
    for id, each in lists.items():
        each.settle(parts[id] | more.get(id, {}))
    return [*lists.values()]


def _asked(wanted: Mapping[Id, Iterable[int]], ask: Ask) -> dict[Id, dict[int, Part]]:
    """The parts that some shards have of lists."""
    by_shard: dict[int, list[Id]] = {}
    for id, shards in wanted.items():
        for shard in shards:
            by_shard.setdefault(shard, []).append(id)
    found: dict[Id, dict[int, Part]] = {}
    for shard, parts in asked_parts(by_shard, ask).items():
        for row, id in enumerate(by_shard[shard]):
            found.setdefault(id, {})[shard] = parts.part(row)
    return found


def asked_parts(ids: Mapping[int, list[Id]], ask: Ask) -> dict[int, Parts]:
    """What each shard has of the lists of these ids."""
    if not ids:
        return {}
    rows = [{"shard": shard, "ids": json.dumps(some)} for shard, some in ids.items()]
    told = ask(pa.Table.from_pylist(rows, ASKED))
    return {shard: Parts.of_bytes(data) for shard, data in told}


def merged(parts: list[Part], k: int) -> Part:
    """The k best of several parts, which may have messages in common.

    >>> merged([(("a", 0.5, 1), ("b", 0.2, 2)), (("c", 0.5, 3), ("b", 0.2, 2))], 3)
    (('c', 0.5, 3), ('a', 0.5, 1), ('b', 0.2, 2))
    """
    every: dict[Id, tuple[Id, float, int]] = {each[0]: each for part in parts for each in part}
    return tuple(sorted(every.values(), key=lambda each: (-each[1], -each[2]))[:k])
