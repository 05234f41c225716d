"""`HostedShard`: the subscriptions of one shard that have a result, which follow the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.broker.broker import AnySubscription
from nearcast.durable_files import whole_folder
from nearcast.model import Id, Notification, Subscription, TopKSubscription
from nearcast.pipeline.hosted.rows import (
    RESETTLE,
    HostedRows,
    is_for_all,
    is_prepare,
    subscribe_kind,
)
from nearcast.pipeline.hosted.settings import FORMAT
from nearcast.pipeline.hosted.spread.list_events import ListEvents
from nearcast.pipeline.hosted.told import ToldColumns
from nearcast.pipeline.log.hosted_rows import hosted_subscription, place_of, result_kind
from nearcast.pipeline.log.schema import MOVE, SUBSCRIBE_HOSTED, SUBSCRIBE_TOP, UNSUBSCRIBE
from nearcast.pipeline.rows import POSITION, Rows
from nearcast.pipeline.safe_distance import SafeDistance, SafeDistances, is_hidden
from nearcast.storage import BadFile, read_json, write_json

FEW = 64
"""So many messages that follow each other, or fewer, are taken one by one: each change is told."""
TOGETHER = (SUBSCRIBE_TOP, RESETTLE)
"""Kinds of rows that are taken together when they follow each other."""
REFRESHED = 250
"""Lists of terms whose scores a batch tells anew, in turn, though their order is as it was."""
_BROKER, _ABOUT = "broker.near", "about.json"


class Result(NamedTuple):
    """What a subscription has: messages or terms, and the kind of its notifications.

    - `kind`: `top`, ids with scores; `trend`, terms with scores; `enter`, ids
    """

    kind: str
    items: list[Any]


@dataclass(slots=True)
class HostedOutput:
    """What rows did.

    - `told`: in their order
    - `changed`: whose results are others, have begun or ended
    - `rejects`: (row, reason) of those that break a rule
    - `unknown`: (id, position) of those to be ended that are not here
    - `copies`: how many messages were heard whole
    - `parts`: what changed in lists of which other shards have parts
    """

    told: ToldColumns
    changed: dict[Id, None] = field(default_factory=dict)
    rejects: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    unknown: list[tuple[Id, int]] = field(default_factory=list)
    copies: int = 0
    parts: ListEvents = field(default_factory=ListEvents)


class HostedShard:
    """Keeps the results of top-k, trending and moving subscriptions current.

    Every shard hears of all messages and of the time, so that each is as it would be if all
    subscriptions were in one `Broker`.
    """

    _refuses = True
    """Is it this shard that tells of rows that break a rule, and of ids that nobody knows?"""

    def __init__(self, broker: Broker, terms: Sequence[Id] = ()) -> None:
        self._broker = broker
        self._safe = SafeDistances(broker)
        # Lists of terms; those that were refreshed longest ago come first.
        self._terms: dict[Id, None] = dict.fromkeys(terms)

    def __len__(self) -> int:
        return len(self._broker)

    @property
    def broker(self) -> Broker:
        """What keeps the results."""
        return self._broker

    @property
    def next_expiry(self) -> float:
        """When somebody's result changes though no message comes; inf for never."""
        return self._broker.next_expiry

    def result(self, id: Id) -> Result | None:
        """The result of a subscription as it is now; None where there is no such subscription."""
        if id not in self._broker:
            return None
        # An index of moving subscriptions gives them as plain ones.
        kind = result_kind(self._broker.subscription(id)) or "enter"
        return Result(kind, self._broker.results(id))

    def changed_results(self, output: HostedOutput) -> Iterator[tuple[Id, Result | None]]:
        """Those that changed, and some lists of terms in turn; None for those that have ended."""
        for id in dict.fromkeys([*output.changed, *self._to_refresh()]):
            yield id, self.result(id)

    def _to_refresh(self) -> list[Id]:
        """Lists of terms in turn: their scores change without a word."""
        chosen = [id for id, _ in zip(self._terms, range(REFRESHED), strict=False)]
        for id in chosen:
            del self._terms[id]
            if id in self._broker:
                self._terms[id] = None
        return chosen

    # ------------------------------------------------------------------ resharding

    def subscriptions(self) -> list[AnySubscription]:
        """All of them, the hidden ones of safe distances too; those that move as plain ones."""
        return [self._broker.subscription(id) for id in self._broker.ids()]

    @property
    def terms(self) -> list[Id]:
        """Lists of terms, in the order in which they are to be refreshed."""
        return [id for id in self._terms if id in self._broker]

    def have_only(self, subscriptions: Iterable[AnySubscription], terms: Iterable[Id]) -> None:
        """Have these subscriptions and no others, as `subscriptions` and `terms` gave them.

        Nobody is told of anything: what a shard has heard of messages is the same in all of them,
        so that results are what they were.
        """
        missing = {each.id: each for each in subscriptions}
        for id in self._broker.ids():
            if missing.pop(id, None) is None:
                self._broker.unsubscribe(id)
        lists = [each for each in missing.values() if isinstance(each, TopKSubscription)]
        self._broker.subscribe_lists(lists)
        for each in missing.values():
            if not isinstance(each, TopKSubscription):
                self._broker.subscribe(each, follows=isinstance(each, Subscription))
        self._terms = dict.fromkeys(terms)

    # ------------------------------------------------------------------ saving

    def save(self, folder: Path) -> None:
        """Write it as `folder`, all or nothing; the name must be new."""
        with whole_folder(folder) as unfinished:
            self.save_into(unfinished)

    def save_into(self, folder: Path) -> None:
        """Write it as files of a folder, which whoever made the folder makes durable."""
        self._save_parts(folder)
        write_json(folder / _ABOUT, {"format": FORMAT, **self._about()})

    def _save_parts(self, folder: Path) -> None:
        self._broker.save(folder / _BROKER)

    def _about(self) -> dict[str, Any]:
        """What there is to save besides the broker, as JSON."""
        return {"terms": [*self._terms]}

    @classmethod
    def load(cls, folder: Path) -> HostedShard:
        """What `save` wrote; `BadFile` when it is damaged or of another format."""
        broker, about = cls.read(folder)
        return cls(broker, about["terms"])

    @staticmethod
    def read(folder: Path) -> tuple[Broker, dict[str, Any]]:
        """The broker of any shard that was saved, and what else there is of it."""
        try:
            about = read_json(folder / _ABOUT)
            found = about["format"]
        except (OSError, ValueError, KeyError) as error:
            raise BadFile(f"{folder} is damaged: {error}; restore the checkpoint") from None
        if found != FORMAT:
            raise BadFile(
                f"{folder} has format {found}, this Nearcast reads {FORMAT}; start a new "
                "checkpoint, or use the release that made it"
            )
        return Broker.load(folder / _BROKER), about

    # ------------------------------------------------------------------ rows

    def needed(self, rows: HostedRows, output: HostedOutput) -> HostedRows:
        """The rows that concern somebody; of ids to be ended that nobody knows `output` is told."""
        output.copies = len(rows.messages or ())
        if rows.others is None:
            return rows
        subscribed: set[Id] = set()
        keep = []
        columns = (rows.others[name].to_pylist() for name in ("kind", "id", POSITION))
        for kind, id, position in zip(*columns, strict=True):
            is_known = id in subscribed or self._knows(id)
            if kind in SUBSCRIBE_HOSTED:
                subscribed.add(id)
            elif kind == UNSUBSCRIBE and not is_known and self._refuses:
                output.unknown.append((id, position))
            keep.append(is_known or is_for_all(kind) or kind in (*SUBSCRIBE_HOSTED, MOVE, RESETTLE))
        return rows if all(keep) else rows.with_others(keep)

    def _knows(self, id: Id) -> bool:
        """Is there a subscription of this id, of which this shard has to hear?"""
        return id in self._broker

    def apply(self, rows: HostedRows, output: HostedOutput) -> None:
        """Take in the rows of a batch, and note what they did.

        Messages that nobody waits for go in together, and so do more than `FEW` that follow each
        other. Lists of terms may be off by a little, and by how much depends on the calls, so that
        who reads a changelog must make the same ones.
        """
        for stretch in rows.stretches():
            if isinstance(stretch, Rows):
                self._hear(stretch, output)
            else:
                for run in _runs(stretch.to_pylist()):
                    if len(run) == 1 or not self._take_lists(run, output):
                        for row in run:
                            self._take(row, output)

    def _hear(self, said: Rows[MessageBatch], output: HostedOutput) -> None:
        if len(self._broker) and len(said) <= FEW:
            self._hear_one_by_one(said, output)
            return
        try:
            batch = replace(said.batch, ids=said.labels)
            if not len(self._broker):
                self._broker.publish_batch(batch)
                self._heard(said, range(len(said)), output, are_many=len(said) > FEW)
                return
            told = self._broker.publish_together(batch)
        except ValueError:  # an id is there twice, or a row is refused: which, and why?
            self._hear_one_by_one(said, output)
            return
        places, causes = said.position.tolist(), said.labels.to_pylist()
        for row, each in told.single:
            self._tell(places[row], causes[row], each, output)
        if told.lists is not None and len(told.lists):
            output.told.add_lists(places[-1], causes[-1], float(batch.time[-1]), told.lists)
            output.changed |= dict.fromkeys(told.lists.subscription_ids.to_pylist())
        for terms in told.terms:
            output.told.add_terms(places[-1], causes[-1], float(batch.time[-1]), terms)
            output.changed |= dict.fromkeys(terms.subscription_ids.to_pylist())
        self._heard(said, range(len(said)), output, are_many=True)

    def _heard(
        self,
        said: Rows[MessageBatch],
        numbers: Sequence[int],
        output: HostedOutput,
        *,
        are_many: bool,
    ) -> None:
        """The broker has taken these messages; `are_many`: all of them together."""

    def _hear_one_by_one(self, said: Rows[MessageBatch], output: HostedOutput) -> None:
        taken = []
        for number, (id, place) in enumerate(
            zip(said.labels.to_pylist(), said.position.tolist(), strict=True)
        ):
            message = replace(said.batch.message(number), id=id)
            try:
                told = self._broker.publish(message)
            except ValueError as error:
                self._refuse({"kind": "message", "id": id}, error, output)
                continue
            taken.append(number)
            for each in told:
                self._tell(place, id, each, output)
        self._heard(said, taken, output, are_many=False)

    def _take_lists(self, rows: list[dict[str, Any]], output: HostedOutput) -> bool:
        """Take in new top-k lists together; False, and nothing has changed, if one is refused."""
        try:
            told = self._broker.subscribe_lists([hosted_subscription(row) for row in rows])  # type: ignore[misc]
        except (TypeError, ValueError, OverflowError):
            return False
        position = {row["id"]: row[POSITION] for row in rows}
        for id in position:
            self._safe.forget(id)
            output.changed[id] = None
        for each in told:
            self._tell(position[each.subscription_id], None, each, output)
        return True

    def _take(self, row: dict[str, Any], output: HostedOutput) -> None:
        """Take in a row that is no message, and note what it did."""
        try:
            for each in self._play(row, output):
                self._tell(row[POSITION], None, each, output)
        except (TypeError, ValueError, OverflowError) as error:
            self._refuse(row, error, output)

    def _refuse(self, row: dict[str, Any], error: Exception, output: HostedOutput) -> None:
        if self._refuses:
            output.rejects.append((row, str(error)))

    def _tell(
        self,
        position: int,
        cause: Id | None,
        each: Notification | SafeDistance,
        output: HostedOutput,
    ) -> None:
        change: Notification | SafeDistance | None = each
        if isinstance(each, Notification) and is_hidden(each.subscription_id):
            change = self._safe.what_to_tell(each)
        if change is not None:
            output.told.add(position, cause, change)
            output.changed[change.subscription_id] = None

    def _play(
        self, row: dict[str, Any], output: HostedOutput
    ) -> Sequence[Notification | SafeDistance]:
        broker, id = self._broker, row["id"]
        match row["kind"]:
            case "advance":
                if row["time"] is None:
                    raise ValueError("time is null; a row of kind advance says which time it is")
                return broker.advance(row["time"])
            case kind if is_prepare(kind):
                broker.prepare_for(hosted_subscription(row | {"kind": subscribe_kind(kind)}))
                return []
            case kind if kind == MOVE:
                if id not in broker:
                    raise ValueError(f"subscription {id!r} has no result that could move")
                place, wants_safe = place_of(row)
                told = broker.move(id, place)
                return [*told, *self._safe.after_move(id, place, is_wanted=wants_safe)]
            case kind if kind in SUBSCRIBE_HOSTED:
                subscription = hosted_subscription(row)
                told = broker.subscribe(subscription)
                self._safe.forget(id)
                output.changed[id] = None
                if result_kind(subscription) == "trend":
                    self._terms[id] = None
                return told
        # Whatever else is said of an id, it no longer has a result.
        if id in broker:
            broker.unsubscribe(id)
            self._safe.forget(id)
            output.changed[id] = None
        elif row["kind"] == UNSUBSCRIBE:  # it ended in this batch
            output.unknown.append((id, row[POSITION]))
        return []


def _runs(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rows in their order: of top-k lists, those that begin together, or get other homes."""
    run: dict[Id, dict[str, Any]] = {}
    kind = None
    for row in rows:
        if run and (row["kind"] != kind or kind not in TOGETHER or row["id"] in run):
            yield [*run.values()]
            run = {}
        kind = row["kind"]
        run[row["id"]] = row
    if run:
        yield [*run.values()]
