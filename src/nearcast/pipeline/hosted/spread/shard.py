"""`SpreadShard`: results of a shard where a `ResultDistribution` says who lives there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.broker.kinds import at_place
from nearcast.model import Id, NearbyTrendingSubscription, Notification, TopKSubscription
from nearcast.pipeline.hosted.rows import RESETTLE, HostedRows, is_for_all
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import HostedOutput, HostedShard, Result
from nearcast.pipeline.hosted.spread.bare import with_bare
from nearcast.pipeline.hosted.spread.distribution import Homes, ResultDistribution
from nearcast.pipeline.hosted.spread.list_events import ENDED, ListEvent, Moment, what_to_tell
from nearcast.pipeline.hosted.spread.part_lists import Part, PartChange, PartLists
from nearcast.pipeline.hosted.spread.whereabouts import Known, Whereabouts
from nearcast.pipeline.log.hosted_rows import Hosted, hosted_subscription, place_of, result_kind
from nearcast.pipeline.log.schema import MOVE, SUBSCRIBE_HOSTED, UNSUBSCRIBE
from nearcast.pipeline.rows import POSITION, Rows
from nearcast.pipeline.safe_distance import SafeDistance

_LISTS = "lists.near"
LARGE_K = 100
"""A longer list may be too long for its index, which is asked."""


def open_shard(folder: Path | None, settings: ResultSettings, number: int) -> HostedShard:
    """What a shard has saved there; a new one where there is nothing yet."""
    if settings.distribution is not None:
        return SpreadShard.open(folder, settings, settings.distribution, number)
    return HostedShard(settings.new_broker()) if folder is None else HostedShard.load(folder)


class SpreadShard(HostedShard):
    """Keeps the results that live here, and knows where all others do.

    Every shard takes every row but for messages, in the same order, and decides the same of it. A
    subscription whose home changes, because it moved or was replaced, is told what that changes by
    the shard that hears everything: it alone can know what the result was and what it is.
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
        super().__init__(broker, terms)
        self._lists = lists
        self._settings = settings
        self._distribution = distribution
        self._number = number
        self._hears_everything = self._refuses = number == distribution.everything
        self._whereabouts = Whereabouts() if whereabouts is None else whereabouts

    @classmethod
    def open(
        cls,
        folder: Path | None,
        settings: ResultSettings,
        distribution: ResultDistribution,
        number: int,
    ) -> SpreadShard:
        """What was saved there; a new one where there is nothing yet."""
        merges, scoring = distribution.merges_lists, settings.scoring
        if folder is None:
            lists = PartLists(settings.window, scoring) if merges else None
            broker = settings.new_broker(with_lists=not merges)
            return cls(broker, settings, distribution, number, lists=lists)
        broker, about = cls._load(folder)
        known = Whereabouts.of_rows(about["whereabouts"])
        lists = PartLists.load(folder / _LISTS, settings.window, scoring) if merges else None
        return cls(broker, settings, distribution, number, about["terms"], known, lists)

    def _about(self) -> dict[str, Any]:
        return {**super()._about(), "whereabouts": self._whereabouts.rows()}

    def _save_into(self, folder: Path) -> None:
        super()._save_into(folder)
        if self._lists is not None:
            self._lists.save(folder / _LISTS)

    def __len__(self) -> int:
        return super().__len__() + len(self._lists or ())

    def result(self, id: Id) -> Result | None:
        if self._lists is not None and id in self._lists:
            return Result("top", [(item, score) for item, score, _ in self._lists.part(id)])
        return super().result(id)

    def parts(self, ids: list[Id]) -> list[Part]:
        """What there is here of these lists, or would be if they were here."""
        lists = self._lists
        assert lists is not None
        guests = [self._list(id) for id in ids if id not in lists]
        lists.subscribe(guests)
        found = [lists.part(id) for id in ids]
        for guest in guests:
            lists.unsubscribe(guest.id)
        return found

    def _list(self, id: Id) -> TopKSubscription:
        found = self._whereabouts[id].subscription(id)
        assert isinstance(found, TopKSubscription)
        return found

    def changed_results(self, output: HostedOutput) -> Iterator[tuple[Id, Result | None]]:
        for id, result in super().changed_results(output):
            known = self._whereabouts.get(id)
            if known is None:
                is_mine = self._hears_everything
            else:  # who merges the parts of a list writes it, too
                is_mine = known.homes == (self._number,) and id not in output.parts
            if is_mine:
                yield id, result

    # ------------------------------------------------------------------ rows

    def needed(self, rows: HostedRows, output: HostedOutput) -> HostedRows:
        """The rows that concern somebody, here or elsewhere; messages that do not, bare."""
        if rows.messages is not None:
            is_whole = self._distribution.hear(rows.messages.batch)[:, self._number]
            output.copies = int(is_whole.sum())
            heard = replace(rows.messages, batch=with_bare(rows.messages.batch, is_whole))
            rows = replace(rows, messages=heard)
        if rows.others is None:
            return rows
        subscribed: set[Id] = set()
        keep = []
        columns = (rows.others[name].to_pylist() for name in ("kind", "id", POSITION))
        for kind, id, position in zip(*columns, strict=True):
            is_known = id in subscribed or id in self._whereabouts
            if kind in SUBSCRIBE_HOSTED:
                subscribed.add(id)
            elif kind == UNSUBSCRIBE and not is_known and self._hears_everything:
                output.unknown.append((id, position))
            keep.append(is_known or is_for_all(kind) or kind in (*SUBSCRIBE_HOSTED, MOVE, RESETTLE))
        return rows if all(keep) else rows.with_others(keep)

    def _take_lists(self, rows: list[dict[str, Any]], output: HostedOutput) -> bool:
        """Take in new top-k lists together; False, and nothing has changed, if one is not new."""
        if any(row["id"] in self._whereabouts for row in rows):
            return False
        try:
            new: list[Any] = [hosted_subscription(row) for row in rows]
            for each in new:
                self._check(each)
        except (TypeError, ValueError, OverflowError):
            return False
        homes = {each.id: self._distribution.homes(each, safe=False) for each in new}
        position = {row["id"]: row[POSITION] for row in rows}
        mine = [each for each in new if self._number in homes[each.id]]
        told: Sequence[Notification] = []
        if self._lists is None:
            told = self._broker.subscribe_lists(mine)
        else:
            self._lists.subscribe(mine)
            for each in mine:
                moment = Moment(position[each.id], None, self._lists.time)
                part, placement = self._lists.part(each.id), self._distribution.placement(each)
                event = ListEvent(
                    each.id, moment, (), homes[each.id], 0, each.k, (), part, placement
                )
                self._note(event, output)
        for row in rows:
            self._whereabouts[row["id"]] = Known.of(row, homes[row["id"]])
            output.changed[row["id"]] = None
        for each in told:
            self._tell(position[each.subscription_id], None, each, output)
        return True

    def _play(
        self, row: dict[str, Any], output: HostedOutput
    ) -> Sequence[Notification | SafeDistance]:
        kind, id = row["kind"], row["id"]
        if is_for_all(kind):
            told = super()._play(row, output)
            if self._lists is not None:
                changes = self._lists.advance(row["time"])
                self._note_changes(changes, Moment(row[POSITION], None, row["time"]), output)
            return told
        if kind == RESETTLE:
            self._resettle(row)
            return []
        if kind == MOVE:
            return self._move(row, output)
        if kind in SUBSCRIBE_HOSTED:
            return self._subscribe(row, output)
        # Whatever else is said of an id, it no longer has a result.
        known = self._whereabouts.pop(id, None)
        if known is not None:
            self._end_list(id, known, row, output)
            self._end(id)
            output.changed[id] = None
        elif kind == UNSUBSCRIBE and self._hears_everything:  # it ended in this batch
            output.unknown.append((id, row[POSITION]))
        return []

    def _subscribe(self, row: dict[str, Any], output: HostedOutput) -> Sequence[Notification]:
        subscription = hosted_subscription(row)
        is_list = self._lists is not None and isinstance(subscription, TopKSubscription)
        is_nearby = isinstance(subscription, NearbyTrendingSubscription)
        if not is_list and (self._hears_everything or not is_nearby):
            self._broker.prepare_for(subscription)
        self._check(subscription)
        known = self._whereabouts.get(subscription.id)
        before = known if known and known.kind == row["kind"] else None
        now = before.homes if before else ()
        homes = self._distribution.homes(subscription, now, safe=False)
        told: Sequence[Notification] = []
        if self._lists is not None and isinstance(subscription, TopKSubscription):
            self._settle_list(self._lists, subscription, before, homes, row, output)
            self._end(subscription.id)  # of another kind
        else:
            if known is not None:
                self._end_list(subscription.id, known, row, output)
            told = self._settle(subscription, before, homes)
        self._whereabouts[subscription.id] = Known.of(row, homes)
        output.changed[subscription.id] = None
        return told

    def _move(
        self, row: dict[str, Any], output: HostedOutput
    ) -> Sequence[Notification | SafeDistance]:
        id, known = row["id"], self._whereabouts.get(row["id"])
        if known is None:
            raise ValueError(f"subscription {id!r} has no result that could move")
        place, wants_safe = place_of(row)
        subscription = at_place(known.subscription(id), place)
        homes = self._distribution.homes(subscription, known.homes, safe=wants_safe)
        told: list[Notification | SafeDistance] = []
        if self._lists is not None and isinstance(subscription, TopKSubscription):
            self._settle_list(self._lists, subscription, known, homes, row, output)
            if wants_safe and self._number == homes[0]:
                told.append(SafeDistance(id, 0.0))
            self._whereabouts[id] = known.moved(row, homes)
            return told
        if homes == known.homes:
            if self._number in homes:
                told += self._broker.move(id, place)
        else:
            told += self._settle(subscription, known, homes)
            output.changed[id] = None
        self._whereabouts[id] = known.moved(row, homes)
        if self._number == homes[0]:
            told += self._safe.after_move(id, place, is_wanted=wants_safe)
        return told

    def _settle(
        self, subscription: Hosted, before: Known | None, homes: Homes
    ) -> Sequence[Notification]:
        """A subscription begins, or replaces what it was `before`: what it is told from here."""
        id, broker = subscription.id, self._broker
        is_here = self._number in homes
        changes_home = before is not None and before.homes != homes
        told: Sequence[Notification] = []
        if before is not None and changes_home and self._hears_everything:
            if id not in broker:
                broker.subscribe(before.subscription(id))
            told = broker.subscribe(subscription)
        elif is_here:
            told = broker.subscribe(subscription)
        self._safe.forget(id)
        if not is_here:
            self._end(id)
        elif result_kind(subscription) == "trend":
            self._terms[id] = None
        return [] if changes_home and not self._hears_everything else told

    # ------------------------------------------------------------------ lists that are merged

    def _heard(
        self,
        said: Rows[MessageBatch],
        numbers: Sequence[int],
        output: HostedOutput,
        *,
        are_many: bool,
    ) -> None:
        if self._lists is None or not numbers:
            return
        batch = said.batch
        if are_many:
            with suppress(ValueError):  # an id is in the window, in that of all shards
                together = replace(batch, ids=said.labels)
                last = said.position.tolist()[-1], said.labels[-1].as_py(), float(batch.time[-1])
                changes = self._lists.publish(together)
                self._note_changes(changes, Moment(*last, is_single=False), output)
                return
        for number in numbers:
            one = said.take(np.array([number]))
            id, time = one.labels[0].as_py(), float(one.batch.time[0])
            changes = self._lists.publish(replace(one.batch, ids=one.labels))
            self._note_changes(changes, Moment(int(one.position[0]), id, time), output)

    def _note_changes(
        self, changes: Iterable[PartChange], moment: Moment, output: HostedOutput
    ) -> None:
        assert self._lists is not None
        for change in changes:
            id = change.subscription_id
            homes, length = self._whereabouts[id].homes, self._lists.length(id)
            placement = self._distribution.placement(self._lists.subscription(id))
            event = ListEvent(
                id, moment, homes, homes, length, length, change.before, change.after, placement
            )
            self._note(event, output)

    def _note(self, event: ListEvent, output: HostedOutput) -> None:
        """Tell of a list that is all here; others are told of when they are merged.

        Once a list has to be merged in a batch, all that follows in it is for who merges.
        """
        id, moment = event.subscription_id, event.moment
        if id in output.parts or not event.is_whole:
            output.parts.setdefault(id, []).append(event)
        elif told := what_to_tell(id, moment, event.before, event.after):
            self._tell(moment.position, moment.cause, told, output)

    def _settle_list(
        self,
        lists: PartLists,
        subscription: TopKSubscription,
        before: Known | None,
        homes: Homes,
        row: dict[str, Any],
        output: HostedOutput,
    ) -> None:
        """A list begins, or replaces what it was `before`."""
        id, homes_before, length_before = subscription.id, (), 0
        if before is not None:
            old = before.subscription(id)
            assert isinstance(old, TopKSubscription)
            homes_before, length_before = before.homes, old.k  # type: ignore[assignment]
        if self._number not in (*homes_before, *homes):
            return
        had: Part = ()
        if id in lists:
            had = lists.part(id)
            lists.unsubscribe(id)
        has: Part = ()
        if self._number in homes:
            lists.subscribe([subscription])
            has = lists.part(id)
        moment = Moment(row[POSITION], None, lists.time)
        placement = self._distribution.placement(subscription)
        event = ListEvent(
            id, moment, homes_before, homes, length_before, subscription.k, had, has, placement
        )
        self._note(event, output)

    def _resettle(self, row: dict[str, Any]) -> None:
        """A list gets other homes; what is in it does not change."""
        assert self._lists is not None
        id, homes = row["id"], tuple(json.loads(row["region"]))
        if self._number in homes and id not in self._lists:
            self._lists.subscribe([self._list(id)])
        elif self._number not in homes and id in self._lists:
            self._lists.unsubscribe(id)
        self._whereabouts[id] = replace(self._whereabouts[id], homes=homes)

    def _end_list(self, id: Id, known: Known, row: dict[str, Any], output: HostedOutput) -> None:
        """A subscription has ended, or is of another kind now; nobody is told."""
        if self._lists is None or id not in self._lists:
            return
        had, length = self._lists.part(id), self._lists.length(id)
        self._lists.unsubscribe(id)
        if len(known.homes) > 1 or id in output.parts:
            moment = Moment(row[POSITION], None, self._lists.time)
            self._note(ListEvent(id, moment, known.homes, (), length, 0, had, (), ENDED), output)

    def _end(self, id: Id) -> None:
        """It is no longer here, if it was."""
        if id in self._broker:
            self._broker.unsubscribe(id)
            self._safe.forget(id)

    def _check(self, subscription: Hosted) -> None:
        """Refuse what the index of its home would refuse: all shards have to know."""
        if getattr(subscription, "k", 0) > LARGE_K:
            self._settings.new_broker().subscribe(subscription)
