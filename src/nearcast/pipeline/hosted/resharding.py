"""Results in other shards: another number of them, or another distribution.

Of everything but top-k lists some shard has heard all messages: any of them, where ids decide, and
else the one that hears everything. So each new shard is that one, in which those subscriptions end
that belong elsewhere, and those begin that belong here, with the result that they had. Lists are
made anew where several shards have parts of them, before or after: from the messages of the window,
of which each is known whole wherever it matters to somebody.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.durable_files import remove
from nearcast.model import Id, MovingSubscription, Subscription, TopKSubscription
from nearcast.pipeline.durable_parquet import write_parquet
from nearcast.pipeline.hosted.keeper import expiry_of
from nearcast.pipeline.hosted.rows import logged_rows
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import HostedOutput, HostedShard
from nearcast.pipeline.hosted.spread.distribution import Homes, ResultDistribution
from nearcast.pipeline.hosted.spread.list_shard import ListShard
from nearcast.pipeline.hosted.spread.list_window import ListWindow
from nearcast.pipeline.hosted.spread.opening import new_shard, open_shard
from nearcast.pipeline.hosted.spread.part_lists import PartLists
from nearcast.pipeline.hosted.spread.plan import plan_results
from nearcast.pipeline.hosted.spread.whereabouts import Known, Whereabouts
from nearcast.pipeline.hosted.told import NothingTold
from nearcast.pipeline.log.hosted_rows import Hosted, hosted_row
from nearcast.pipeline.partitioning import Hash, hash_ids
from nearcast.pipeline.safe_distance import hidden_id, is_hidden, owner_of
from nearcast.pipeline.state import StateFolder
from nearcast.topk import WordLists

SAMPLED_SUBSCRIPTIONS, SAMPLED_MESSAGES = 5_000, 20_000
"""From which a distribution is planned."""


@dataclass
class OldResults:
    """What all old shards have.

    - `subscriptions`: by id; those that move as such, hidden ones too
    - `turns`: of lists of terms, how many of the same shard are to be refreshed before
    - `sources`: snapshots, up to date, of shards that have heard everything; None: of nothing yet
    """

    subscriptions: dict[Id, Hosted] = field(default_factory=dict)
    turns: dict[Id, int] = field(default_factory=dict)
    sources: list[Path | None] = field(default_factory=list)
    _heard: list[MessageBatch] = field(default_factory=list)
    _lists: PartLists | None = None

    def add(self, hosted: HostedShard, *, hears_everything: bool) -> None:
        """One shard more."""
        self.subscriptions |= {each.id: _moving(each) for each in hosted.subscriptions()}
        self.turns |= {id: turn for turn, id in enumerate(hosted.terms)}
        if isinstance(hosted, ListShard):
            self._lists = hosted.lists
            self._heard.append(hosted.lists.heard())
        elif hears_everything and not self._heard:
            top = hosted.broker.top
            assert isinstance(top, WordLists)
            self.window = ListWindow.of_index(top)

    @property
    def count(self) -> int:
        """How many subscriptions have a result."""
        return sum(not is_hidden(id) for id in self.subscriptions)

    @cached_property
    def window(self) -> ListWindow:
        """The messages of top-k lists."""
        assert self._lists is not None
        return ListWindow.of_shards(self._lists.window, self._heard, self._lists.now)

    def planned(
        self, name: str, shards: int, settings: ResultSettings
    ) -> ResultDistribution | None:
        """A distribution for what is there, and for messages like those of the window."""
        visible = [each for id, each in self.subscriptions.items() if not is_hidden(id)]
        if not visible and name != Hash.name:
            raise ValueError(
                f"nobody has a result yet from which distribution {name!r} could be planned; use "
                f"{Hash.name!r}, or a ResultDistribution of your own"
            )
        sample = visible
        if len(visible) > SAMPLED_SUBSCRIPTIONS:
            sample = random.Random(0).sample(visible, SAMPLED_SUBSCRIPTIONS)
        said = self.window.messages
        plan = plan_results(
            name,
            sample,
            said.take(np.arange(max(0, len(said) - SAMPLED_MESSAGES), len(said))),
            shards,
            total_subscriptions=max(1, len(visible)),
            statistics=settings.statistics,
        )
        return plan.distribution


def read_results(
    state: StateFolder,
    shards: int,
    batch: int,
    settings: ResultSettings,
    schema: pa.Schema,
    restored: Path,
    on_step: Callable[[str], None],
) -> OldResults:
    """All results as they are after a batch, `schema` being that of what the stream tells.

    Shards that have to be played forward are saved below `restored`, once.
    """
    found, state = OldResults(), state.hosted()
    way = settings.distribution
    for shard in range(shards):
        on_step(f"reading results {shard + 1} of {shards}")
        files = state.files(shard).before(batch + 1)
        hosted = open_shard(files.snapshot, settings, shard)
        for _, rows in logged_rows(state, shard, files, files.snapshot_batch):
            hosted.apply(rows, HostedOutput(NothingTold(schema)))
        hears_everything = way is None or shard == way.everything
        found.add(hosted, hears_everything=hears_everything)
        if not hears_everything:
            continue
        source = files.snapshot
        if files.changes:  # a shard is loaded once for each new one, and the rows played once only
            source = restored / f"restored-{shard:04d}"
            hosted.save(source)
        found.sources.append(source)
    return found


def write_results(
    found: OldResults,
    state: StateFolder,
    shards: int,
    batch: int,
    settings: ResultSettings,
    on_step: Callable[[str], None],
) -> None:
    """The new shards, all that `state` is to have."""
    state = state.hosted()
    homes = _homes(found.subscriptions, settings.distribution, shards)
    whereabouts = Whereabouts()
    if settings.distribution is not None:
        for id, each in found.subscriptions.items():
            if not is_hidden(id):
                whereabouts[id] = Known.of({"keywords": None, **hosted_row(each)}, homes[id])
    for shard in range(shards):
        on_step(f"writing results {shard + 1} of {shards}")
        broker, lists = _heard(found, shard, settings)
        hosted = new_shard(broker, settings, shard, Whereabouts(whereabouts), lists)
        mine = [each for id, each in found.subscriptions.items() if shard in homes[id]]
        terms = sorted((each.id for each in mine if each.id in found.turns), key=found.turns.get)  # type: ignore[arg-type]
        hosted.have_only(mine, terms)
        hosted.save(state.new_snapshot(shard, batch))
        # The driver looks here when time has to be told.
        write_parquet(state.notifications(shard, batch), [], expiry_of(hosted))
    for source in found.sources:
        if source is not None and source.name.startswith("restored-"):
            remove(source)


def _heard(
    found: OldResults, shard: int, settings: ResultSettings
) -> tuple[Broker, PartLists | None]:
    """A broker that has heard all that a new shard has to, and what it has heard for lists."""
    # Where one number of shards divides the other, most subscriptions are there already.
    source = found.sources[shard % len(found.sources)]
    way = settings.distribution
    merges = way is not None and way.merges_lists
    broker = settings.new_broker(with_lists=not merges)
    if source is not None:
        broker, _ = HostedShard.read(source)
    if not merges:
        if broker.top is None:
            top = settings.new_broker().top
            assert isinstance(top, WordLists)
            broker.replace_top(found.window.heard_by(top))
        return broker, None
    assert way is not None
    broker.replace_top(None)
    is_whole = way.hear(found.window.messages)[:, shard]
    lists = PartLists(settings.window, settings.scoring)
    return broker, found.window.heard_in_part_by(lists, is_whole)


def _homes(
    subscriptions: Mapping[Id, Hosted], way: ResultDistribution | None, shards: int
) -> dict[Id, Homes]:
    """The shards of each subscription; a hidden one is where its owner is."""
    if way is None:
        return {id: (home,) for id, home in homes(subscriptions, shards).items()}
    found: dict[Id, Homes] = {}
    for id, each in subscriptions.items():
        if isinstance(each, TopKSubscription) and way.top:
            # Wherever something may be; it leaves what it does not need when it changes.
            found[id] = way.placement(each).shards
        elif not is_hidden(id):
            found[id] = way.homes(each, safe=hidden_id(id) in subscriptions)
    return found | {id: found[owner_of(id, found)] for id in subscriptions if is_hidden(id)}


def homes(ids: Mapping[Id, object], shards: int) -> dict[Id, int]:
    """The shard of each id, which all are of one type; a hidden one is where its owner is.

    >>> homes({"tea": None, "tea\\0safe": None}, 2)["tea"] == homes({"tea": None}, 2)["tea"]
    True
    """
    owners = pa.array([owner_of(id, ids) for id in ids])
    if not len(owners):
        return {}
    kind = pa.int64() if pa.types.is_integer(owners.type) else pa.large_string()
    home: NDArray[np.int32] = Hash(shards).of_removals(hash_ids(owners.cast(kind))).shards
    return dict(zip(ids, home.tolist(), strict=True))


def _moving(subscription: Any) -> Hosted:
    """An index of moving subscriptions gives them as plain ones."""
    if not isinstance(subscription, Subscription):
        return subscription
    return MovingSubscription(subscription.id, subscription.expression, subscription.region)
