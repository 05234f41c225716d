"""`SpreadShard`: results of a shard where a `ResultDistribution` says who lives there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nearcast.broker import Broker
from nearcast.broker.kinds import at_place
from nearcast.model import Id, NearbyTrendingSubscription, Notification, TopKSubscription
from nearcast.pipeline.hosted.rows import HostedRows, is_for_all
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import HostedOutput, HostedShard, Result
from nearcast.pipeline.hosted.spread.bare import with_bare
from nearcast.pipeline.hosted.spread.distribution import Homes, ResultDistribution
from nearcast.pipeline.hosted.spread.whereabouts import Known, Whereabouts
from nearcast.pipeline.log.hosted_rows import Hosted, hosted_subscription, place_of, result_kind
from nearcast.pipeline.log.schema import MOVE, SUBSCRIBE_HOSTED, UNSUBSCRIBE
from nearcast.pipeline.rows import POSITION
from nearcast.pipeline.safe_distance import SafeDistance

LARGE_K = 100
"""A longer list may be too long for its index, which is asked."""


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
    ) -> None:
        super().__init__(broker, terms)
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
        if folder is None:
            return cls(settings.new_broker(), settings, distribution, number)
        broker, about = cls.read(folder)
        known = Whereabouts.of_rows(about["whereabouts"])
        return cls(broker, settings, distribution, number, about["terms"], known)

    def _about(self) -> dict[str, Any]:
        return {**super()._about(), "whereabouts": self._whereabouts.rows()}

    def changed_results(self, output: HostedOutput) -> Iterator[tuple[Id, Result | None]]:
        for id, result in super().changed_results(output):
            known = self._whereabouts.get(id)
            if known.homes == (self._number,) if known else self._hears_everything:
                yield id, result

    # ------------------------------------------------------------------ rows

    def needed(self, rows: HostedRows, output: HostedOutput) -> HostedRows:
        """The rows that concern somebody, here or elsewhere; messages that do not, bare."""
        rows = super().needed(rows, output)
        if rows.messages is None:
            return rows
        is_whole = self._distribution.hear(rows.messages.batch)[:, self._number]
        output.copies = int(is_whole.sum())
        heard = replace(rows.messages, batch=with_bare(rows.messages.batch, is_whole))
        return replace(rows, messages=heard)

    def _knows(self, id: Id) -> bool:
        return id in self._whereabouts

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
        told = self._begin_lists(mine, position, homes, output)
        for row in rows:
            self._whereabouts[row["id"]] = Known.of(row, homes[row["id"]])
            output.changed[row["id"]] = None
        for each in told:
            self._tell(position[each.subscription_id], None, each, output)
        return True

    def _begin_lists(
        self,
        mine: list[TopKSubscription],
        position: Mapping[Id, int],
        homes: Mapping[Id, Homes],
        output: HostedOutput,
    ) -> Sequence[Notification]:
        """New lists that live here, of rows at these positions: what they are told."""
        return self._broker.subscribe_lists(mine)

    def _play(
        self, row: dict[str, Any], output: HostedOutput
    ) -> Sequence[Notification | SafeDistance]:
        kind, id = row["kind"], row["id"]
        if is_for_all(kind):
            return super()._play(row, output)
        if kind == MOVE:
            return self._move(row, output)
        if kind in SUBSCRIBE_HOSTED:
            return self._subscribe(row, output)
        # Whatever else is said of an id, it no longer has a result.
        known = self._whereabouts.pop(id, None)
        if known is not None:
            self._end(id, known, row, output)
            output.changed[id] = None
        elif kind == UNSUBSCRIBE and self._hears_everything:  # it ended in this batch
            output.unknown.append((id, row[POSITION]))
        return []

    def _subscribe(self, row: dict[str, Any], output: HostedOutput) -> Sequence[Notification]:
        subscription = hosted_subscription(row)
        self._prepare_for(subscription)
        self._check(subscription)
        known = self._whereabouts.get(subscription.id)
        before = known if known and known.kind == row["kind"] else None
        now = before.homes if before else ()
        homes = self._distribution.homes(subscription, now, safe=False)
        if known is not None and before is None:  # of another kind
            self._end(subscription.id, known, row, output)
        told = self._settle(subscription, before, homes, row, output)
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
        if homes == known.homes:
            if self._number in homes:
                told += self._broker.move(id, place)
        else:
            told += self._settle(subscription, known, homes, row, output)
            output.changed[id] = None
        self._whereabouts[id] = known.moved(row, homes)
        if self._number == homes[0]:
            told += self._safe.after_move(id, place, is_wanted=wants_safe)
        return told

    def _prepare_for(self, subscription: Hosted) -> None:
        """One of this kind begins somewhere: find later what it finds now."""
        is_nearby = isinstance(subscription, NearbyTrendingSubscription)
        if self._hears_everything or not is_nearby:
            self._broker.prepare_for(subscription)

    def _settle(
        self,
        subscription: Hosted,
        before: Known | None,
        homes: Homes,
        row: dict[str, Any],
        output: HostedOutput,
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
            self._leave(id)
        elif result_kind(subscription) == "trend":
            self._terms[id] = None
        return [] if changes_home and not self._hears_everything else told

    def _end(self, id: Id, known: Known, row: dict[str, Any], output: HostedOutput) -> None:
        """It has ended, or is of another kind now, as a row says; nobody is told."""
        self._leave(id)

    def _leave(self, id: Id) -> None:
        """It is no longer here, if it was."""
        if id in self._broker:
            self._broker.unsubscribe(id)
            self._safe.forget(id)

    def _check(self, subscription: Hosted) -> None:
        """Refuse what the index of its home would refuse: all shards have to know."""
        if getattr(subscription, "k", 0) > LARGE_K:
            self._settings.new_broker().subscribe(subscription)
