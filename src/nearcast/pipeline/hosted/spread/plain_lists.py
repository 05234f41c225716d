"""Lists that are merged as columns: each has changed once in the batch, and has the homes it had.

Most lists are such, and there may be very many. All others are left to `merge`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.model import Id
from nearcast.pipeline.hosted.spread.distribution import Homes
from nearcast.pipeline.hosted.spread.merging import Ask, asked_parts
from nearcast.topk.distributions import Placement
from nearcast.topk.distributions.distributed_lists import SPARE
from nearcast.topk.parts import PartChanges, Parts


@dataclass(frozen=True, slots=True, eq=False)
class PlainLists:
    """Whole lists, what they were and what they are; a row for each.

    - `positions`, `causes`, `times`: when and why they changed
    - `moved`: those that need fewer homes from the next batch on
    """

    changes: PartChanges
    positions: NDArray[np.int64]
    causes: pa.Array
    times: NDArray[np.float64]
    moved: list[tuple[Id, Homes]]


def merge_plain(events: pa.Table, ask: Ask, *, moves_lists: bool) -> tuple[PlainLists, pa.Table]:
    """Whole lists from the events of several shards, and the events of those left to `merge`.

    - `events`: those of `ListEvents`, each with its `shard`
    - `moves_lists`: may lists get other homes?
    """
    plain, others = _divided(events)
    ids, codes, first = _lists_of(plain)
    about = plain.take(pa.array(first))  # what all homes of a list say alike
    length = about["length"].to_numpy()
    silent, silent_codes = _silent_parts(ids, codes, plain["shard"].to_numpy(), about, ask)
    owners = np.append(codes, silent_codes)
    after = Parts.joined([Parts.of_arrow(plain["after"]), silent]).best(owners, length)
    before = Parts.joined([Parts.of_arrow(plain["before"]), silent]).best(
        owners, about["length_before"].to_numpy()
    )
    homes, beyond = about["homes"].to_pylist(), about["beyond"].to_pylist()
    lowest = after.lowest(length)
    is_right = lowest > np.array([b[len(h) - 1] for b, h in zip(beyond, homes, strict=True)])
    right = np.flatnonzero(is_right)
    kept = about.take(pa.array(right))
    lists = PlainLists(
        PartChanges(ids, before, after).take(right),
        kept["position"].to_numpy(),
        kept["cause"].combine_chunks(),
        kept["time"].to_numpy(),
        _moved(kept, lowest[right]) if moves_lists else [],
    )
    return lists, pa.concat_tables([others, plain.filter(pa.array(~is_right[codes]))])


def _lists_of(events: pa.Table) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
    """Whose lists events are of: each id once, its place there for each event, its first event."""
    coded = events["subscription_id"].combine_chunks().dictionary_encode()
    codes = coded.indices.to_numpy().astype(np.int64)
    return coded.dictionary, codes, np.unique(codes, return_index=True)[1]


def _divided(events: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Events of lists that have changed once, and others."""
    _, codes, first = _lists_of(events)
    position = events["position"].to_numpy()
    is_plain = np.ones(len(first), bool)
    is_plain[codes[~events["is_plain"].to_numpy()]] = False
    is_plain[codes[position != position[first][codes]]] = False
    chosen = is_plain[codes]
    return events.filter(pa.array(chosen)), events.filter(pa.array(~chosen))


def _silent_parts(
    ids: pa.Array,
    codes: NDArray[np.int64],
    shards: NDArray[np.int32],
    about: pa.Table,
    ask: Ask,
) -> tuple[Parts, NDArray[np.int64]]:
    """The parts of homes that said nothing, where nothing has changed, and whose they are."""
    heard = set(zip(codes.tolist(), shards.tolist(), strict=True))
    silent: dict[int, list[int]] = {}
    for code, homes in enumerate(about["homes_before"].to_pylist()):
        for home in homes:
            if (code, home) not in heard:
                silent.setdefault(home, []).append(code)
    found = asked_parts(
        {home: ids.take(pa.array(mine)).to_pylist() for home, mine in silent.items()}, ask
    )
    whose = [silent[home] for home in found]
    return (
        Parts.joined([Parts.none(0), *found.values()]),
        np.concatenate([np.empty(0, np.int64), *whose]).astype(np.int64),
    )


def _moved(about: pa.Table, lowest: NDArray[np.float64]) -> list[tuple[Id, Homes]]:
    """The lists that need fewer homes than they have; see `Placement.needed`."""
    names = ("subscription_id", "homes", "places", "beyond")
    moved = []
    for id, homes, places, beyond, low in zip(
        *(about[name].to_pylist() for name in names), lowest.tolist(), strict=True
    ):
        needed = Placement(tuple(places), tuple(beyond)).needed(low - SPARE)
        if needed < len(homes):
            moved.append((id, tuple(homes[:needed])))
    return moved
