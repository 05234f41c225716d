"""`ListShard`: a shard that has parts of top-k lists, which are merged by subscription."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.broker.broker import AnySubscription
from nearcast.broker.kinds import at_place
from nearcast.model import Id, Notification, TopKSubscription
from nearcast.pipeline.hosted.rows import RESETTLE, is_for_all
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import HostedOutput, Result
from nearcast.pipeline.hosted.spread.distribution import Homes, ResultDistribution
from nearcast.pipeline.hosted.spread.list_events import (
    ENDED,
    EventColumns,
    ListEvent,
    Moment,
    what_to_tell,
)
from nearcast.pipeline.hosted.spread.part_lists import PartLists
from nearcast.pipeline.hosted.spread.shard import SpreadShard
from nearcast.pipeline.hosted.spread.whereabouts import Known, Whereabouts
from nearcast.pipeline.log.hosted_rows import Hosted, place_of
from nearcast.pipeline.log.schema import SUBSCRIBE_TOP
from nearcast.pipeline.rows import POSITION, Rows
from nearcast.pipeline.safe_distance import SafeDistance
from nearcast.topk.distributions import Placement
from nearcast.topk.list_change import ids_as_arrow
from nearcast.topk.parts import Part, PartChanges, Parts

_LISTS = "lists.near"


class ListShard(SpreadShard):
    """As `SpreadShard`, but for top-k lists, which may be in several shards.

    What changes in a list that is all here is told at once. All else is an event for who merges.
    """

    def __init__(
        self,
        broker: Broker,
        settings: ResultSettings,
        distribution: ResultDistribution,
        number: int,
        terms: Sequence[Id] = (),
        whereabouts: Whereabouts | None = None,
        lists: PartLists | None = None,
    ) -> None:
        super().__init__(broker, settings, distribution, number, terms, whereabouts)
        self._lists = PartLists(settings.window, settings.scoring) if lists is None else lists
        # Of lists that are here and have changed; finding one out takes as long as all else.
        self._placements: dict[Id, Placement] = {}

    @classmethod
    def open(
        cls,
        folder: Path | None,
        settings: ResultSettings,
        distribution: ResultDistribution,
        number: int,
    ) -> ListShard:
        if folder is None:
            return cls(settings.new_broker(with_lists=False), settings, distribution, number)
        broker, about = cls.read(folder)
        known = Whereabouts.of_rows(about["whereabouts"])
        lists = PartLists.load(folder / _LISTS, settings.window, settings.scoring)
        return cls(broker, settings, distribution, number, about["terms"], known, lists)

    def _save_parts(self, folder: Path) -> None:
        super()._save_parts(folder)
        self._lists.save(folder / _LISTS)

    def __len__(self) -> int:
        return super().__len__() + len(self._lists)

    @property
    def lists(self) -> PartLists:
        """What it has of top-k lists."""
        return self._lists

    def subscriptions(self) -> list[AnySubscription]:
        return [*super().subscriptions(), *self._lists.subscriptions()]

    def have_only(self, subscriptions: Iterable[AnySubscription], terms: Iterable[Id]) -> None:
        wanted = [*subscriptions]
        lists = [each for each in wanted if isinstance(each, TopKSubscription)]
        others = [each for each in wanted if not isinstance(each, TopKSubscription)]
        for had in self._lists.subscriptions():
            self._drop(had.id)
        self._lists.subscribe(lists)
        super().have_only(others, terms)

    def result(self, id: Id) -> Result | None:
        if id in self._lists:
            return Result("top", [(item, score) for item, score, _ in self._lists.part(id)])
        return super().result(id)

    def changed_results(self, output: HostedOutput) -> Iterator[tuple[Id, Result | None]]:
        for id, result in super().changed_results(output):
            # Who merges the parts of a list writes it, too.
            if id not in output.parts or id not in self._lists:
                yield id, result

    def parts(self, ids: list[Id]) -> Parts:
        """What there is here of these lists, or would be if they were here."""
        guests = [self._list(id) for id in ids if id not in self._lists]
        self._lists.subscribe(guests)
        found = self._lists.parts(ids)
        for guest in guests:
            self._lists.unsubscribe(guest.id)
        return found

    def _list(self, id: Id) -> TopKSubscription:
        found = self._whereabouts[id].subscription(id)
        assert isinstance(found, TopKSubscription)
        return found

    # ------------------------------------------------------------------ messages

    def _heard(
        self,
        said: Rows[MessageBatch],
        numbers: Sequence[int],
        output: HostedOutput,
        *,
        are_many: bool,
    ) -> None:
        if are_many and (changes := self._published_together(said)) is not None:
            id, time = said.labels[-1:], float(said.batch.time[-1])
            ids = changes.subscription_ids.to_pylist()
            homes, lengths = [self._whereabouts[each].homes for each in ids], self._lengths(ids)
            positions = np.full(len(ids), said.position[-1])
            causes = id.take(pa.array(np.zeros(len(ids), np.int64)))
            self._note_many(
                EventColumns(
                    changes, positions, causes, np.full(len(ids), time), homes, homes, lengths,
                    lengths, [self._placement(each) for each in ids],
                ),
                output,
            )  # fmt: skip
            return
        for number in numbers:
            one = said.take(np.array([number]))
            id, time = one.labels[0].as_py(), float(one.batch.time[0])
            changes = self._lists.publish(replace(one.batch, ids=one.labels))
            self._note_changes(changes, Moment(int(one.position[0]), id, time), output)

    def _published_together(self, said: Rows[MessageBatch]) -> PartChanges | None:
        """What many messages change; None if one is in the window already, that of all shards."""
        try:
            return self._lists.publish(replace(said.batch, ids=said.labels))
        except ValueError:
            return None

    def _lengths(self, ids: list[Id]) -> NDArray[np.int64]:
        return np.array([self._lists.length(id) for id in ids], np.int64)

    def _placement(self, id: Id) -> Placement:
        if id not in self._placements:
            self._placements[id] = self._distribution.placement(self._lists.subscription(id))
        return self._placements[id]

    def _note_changes(self, changes: PartChanges, moment: Moment, output: HostedOutput) -> None:
        for row, id in enumerate(changes.subscription_ids.to_pylist()):
            homes, length = self._whereabouts[id].homes, self._lists.length(id)
            event = ListEvent(
                id, moment, homes, homes, length, length, changes.before.part(row),
                changes.after.part(row), self._placement(id),
            )  # fmt: skip
            self._note(event, output)

    def _note_many(self, events: EventColumns, output: HostedOutput) -> None:
        """As `_note`, of many lists at once."""
        ids = events.changes.subscription_ids.to_pylist()
        is_whole = events.are_whole & np.array([id not in output.parts for id in ids], bool)
        told, others = np.flatnonzero(is_whole), np.flatnonzero(~is_whole)
        output.parts.add_many(events.take(others))
        whole = events.take(told)
        rows, lists = whole.changes.as_lists()
        output.told.add_lists(
            whole.positions[rows], whole.causes.take(pa.array(rows)), whole.times[rows], lists
        )
        output.changed |= dict.fromkeys(lists.subscription_ids.to_pylist())

    def _note(self, event: ListEvent, output: HostedOutput) -> None:
        """Tell of a list that is all here; others are told of when they are merged.

        Once a list has to be merged in a batch, all that follows in it is for who merges.
        """
        id, moment = event.subscription_id, event.moment
        if id in output.parts or not event.is_whole:
            output.parts.add(event)
        elif told := what_to_tell(id, moment, event.before, event.after):
            self._tell(moment.position, moment.cause, told, output)

    # ------------------------------------------------------------------ other rows

    def _play(
        self, row: dict[str, Any], output: HostedOutput
    ) -> Sequence[Notification | SafeDistance]:
        if row["kind"] == RESETTLE:
            self._resettle([row])
            return []
        told = super()._play(row, output)
        if is_for_all(row["kind"]):
            moment = Moment(row[POSITION], None, row["time"])
            self._note_changes(self._lists.advance(row["time"]), moment, output)
        return told

    def _begin_lists(
        self,
        mine: list[TopKSubscription],
        position: Mapping[Id, int],
        homes: Mapping[Id, Homes],
        output: HostedOutput,
    ) -> Sequence[Notification]:
        if not mine:
            return []
        self._lists.subscribe(mine)
        ids, count = [each.id for each in mine], len(mine)
        after = self._lists.parts(ids)
        nobody = pa.nulls(count, after.ids.type)
        self._note_many(
            EventColumns(
                PartChanges(ids_as_arrow(ids), Parts.none(count), after),
                np.array([position[id] for id in ids]), nobody,
                np.full(count, self._lists.time), [()] * count, [homes[id] for id in ids],
                np.zeros(count, np.int64), self._lengths(ids),
                [self._distribution.placement(each) for each in mine],
            ),
            output,
        )  # fmt: skip
        return []

    def _prepare_for(self, subscription: Hosted) -> None:
        if not isinstance(subscription, TopKSubscription):  # lists hear of all from the beginning
            super()._prepare_for(subscription)

    def _move(
        self, row: dict[str, Any], output: HostedOutput
    ) -> Sequence[Notification | SafeDistance]:
        known = self._whereabouts.get(row["id"])
        if known is None or known.kind != SUBSCRIBE_TOP:
            return super()._move(row, output)
        place, wants_safe = place_of(row)
        subscription = at_place(self._list(row["id"]), place)
        homes = self._distribution.homes(subscription, known.homes, safe=False)
        self._settle(subscription, known, homes, row, output)
        self._whereabouts[subscription.id] = known.moved(row, homes)
        is_told = wants_safe and self._number == homes[0]
        return [SafeDistance(subscription.id, 0.0)] if is_told else []

    def _settle(
        self,
        subscription: Hosted,
        before: Known | None,
        homes: Homes,
        row: dict[str, Any],
        output: HostedOutput,
    ) -> Sequence[Notification]:
        if not isinstance(subscription, TopKSubscription):
            return super()._settle(subscription, before, homes, row, output)
        id, lists = subscription.id, self._lists
        homes_before = before.homes if before else ()
        if self._number not in (*homes_before, *homes):
            return []
        had: Part = ()
        if id in lists:
            had = lists.part(id)
            self._drop(id)
        has: Part = ()
        if self._number in homes:
            lists.subscribe([subscription])
            has = lists.part(id)
        length_before = self._list(id).k if before else 0
        moment = Moment(row[POSITION], None, lists.time)
        placement = self._distribution.placement(subscription)
        event = ListEvent(
            id, moment, homes_before, homes, length_before, subscription.k, had, has, placement
        )
        self._note(event, output)
        return []

    def _take_lists(self, rows: list[dict[str, Any]], output: HostedOutput) -> bool:
        if rows[0]["kind"] == RESETTLE:
            self._resettle(rows)
            return True
        return super()._take_lists(rows, output)

    def _resettle(self, rows: list[dict[str, Any]]) -> None:
        """Lists of different ids get other homes; what is in them does not change."""
        homes = {row["id"]: tuple(json.loads(row["region"])) for row in rows}
        come = [id for id in homes if self._number in homes[id] and id not in self._lists]
        self._lists.subscribe([self._list(id) for id in come])
        for id in homes:
            if self._number not in homes[id] and id in self._lists:
                self._drop(id)
            self._whereabouts[id] = replace(self._whereabouts[id], homes=homes[id])

    def _end(self, id: Id, known: Known, row: dict[str, Any], output: HostedOutput) -> None:
        super()._end(id, known, row, output)
        if id not in self._lists:
            return
        had, length = self._lists.part(id), self._lists.length(id)
        self._drop(id)
        if len(known.homes) > 1 or id in output.parts:
            moment = Moment(row[POSITION], None, self._lists.time)
            self._note(ListEvent(id, moment, known.homes, (), length, 0, had, (), ENDED), output)

    def _drop(self, id: Id) -> None:
        self._lists.unsubscribe(id)
        self._placements.pop(id, None)
