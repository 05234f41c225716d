"""The results of a shard, of whichever class."""

from __future__ import annotations

from pathlib import Path

from nearcast.broker import Broker
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import HostedShard
from nearcast.pipeline.hosted.spread.list_shard import ListShard
from nearcast.pipeline.hosted.spread.part_lists import PartLists
from nearcast.pipeline.hosted.spread.shard import SpreadShard
from nearcast.pipeline.hosted.spread.whereabouts import Whereabouts


def open_shard(folder: Path | None, settings: ResultSettings, number: int) -> HostedShard:
    """What a shard has saved there; a new one where there is nothing yet."""
    way = settings.distribution
    if way is not None:
        kind = ListShard if way.merges_lists else SpreadShard
        return kind.open(folder, settings, way, number)
    return HostedShard(settings.new_broker()) if folder is None else HostedShard.load(folder)


def new_shard(
    broker: Broker,
    settings: ResultSettings,
    number: int,
    whereabouts: Whereabouts,
    lists: PartLists | None,
) -> HostedShard:
    """A shard that has a broker already, and where they are merged, lists."""
    way = settings.distribution
    if way is None:
        return HostedShard(broker)
    if lists is None:
        return SpreadShard(broker, settings, way, number, whereabouts=whereabouts)
    return ListShard(broker, settings, way, number, whereabouts=whereabouts, lists=lists)
