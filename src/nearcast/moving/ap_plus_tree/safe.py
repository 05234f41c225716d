"""The AP+-Tree with safe regions: clients that keep silent while nothing can change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.growing_array import GrowingArray
from nearcast.model import Id, Space, Subscription
from nearcast.moving._flat.index import MessageLists, Told
from nearcast.moving._flat.messages import RECTS, RECTS_AT, Messages
from nearcast.moving._flat.sides import Found, Sides
from nearcast.moving.ap_plus_tree._safe import gone, kept_if_in, signs_among, slacks
from nearcast.moving.ap_plus_tree.drawn_out import drawn_out, most_slack
from nearcast.moving.ap_plus_tree.index import APPlusTree
from nearcast.moving.late_positions import LatePositions
from nearcast.moving.word_quadtrees.lists import QuadtreesOfWords
from nearcast.space import RegionColumn
from nearcast.storage import BadFile, part


@dataclass(frozen=True, slots=True)
class Communication:
    """What went between clients and the server.

    - `moves`: positions that clients had
    - `reports`: those among them that were sent, because they left a safe region
    - `contacts`: clients that were asked where they are, because a message came near
    """

    moves: int
    reports: int
    contacts: int


class Around(NamedTuple):
    """What is around regions: the most slack there may be, and the messages within."""

    most_slack: NDArray[np.float64]
    near: Found


class APPlusTreeSafe(APPlusTree):
    """An AP+-Tree whose clients report only when they leave their safe regions.

    A region that the server knows has a *slack*: while none of its borders has moved that far, no
    message with its words enters or leaves. Its client keeps silent meanwhile. The tree holds the
    *impact region*, the region drawn out by the slack: a message that comes into it may change
    that, so the client is asked where it is, and gets another slack. `move` stands for both sides
    here, client and server; `communication` tells what they would have sent each other.

    Messages are in a quadtree for each word, not at the nodes of the tree: who looks for the
    nearest one has to look around, through many nodes, and at most of their messages in vain.

    Parameters
    ----------
    space, lifetime, late_positions, tree: see `APPlusTree`
    look_ahead: the most slack, as a multiple of the longer side of a box or of a polygon's bounds,
        or of a circle's diameter; where that leads around the world, there is none

    >>> from nearcast.model import Box, Message, Point
    >>> index = APPlusTreeSafe()
    >>> index.subscribe(Subscription("walker", "tea", Box(0, 0, 1, 1)))
    []
    >>> for step in range(1, 15):
    ...     _ = index.move("walker", Box(step / 4, 0, 1 + step / 4, 1))
    >>> index.communication
    Communication(moves=14, reports=1, contacts=0)

    References
    ----------
    The light-weighted safe regions of the paper's comparison with Elaps (section 5.2.3).
    """

    def __init__(
        self,
        *,
        space: Space = Space.EARTH,
        lifetime: float | None = None,
        late_positions: LatePositions = LatePositions.IGNORED,
        tree: Mapping[str, Any] | None = None,
        look_ahead: float = 2.5,
    ) -> None:
        if not 0 <= look_ahead < float("inf"):
            raise ValueError(f"look_ahead {look_ahead} is negative or infinite; give 0 or more")
        self._look_ahead = look_ahead
        super().__init__(
            space=space,
            lifetime=lifetime,
            late_positions=late_positions,
            tree=tree,
        )

    def _new_lists(self) -> MessageLists:
        return QuadtreesOfWords()

    def _lists_of(self, arrays: Mapping[str, NDArray[Any]]) -> MessageLists:
        return QuadtreesOfWords.from_arrays(arrays)

    @property
    def communication(self) -> Communication:
        """What went between clients and the server since the index was made."""
        return Communication(self._moves, self._reports, self._contacts)

    def _begin(self) -> None:
        super()._begin()
        self._current = RegionColumn.empty(self.space)  # where clients are, by slot
        self._anchor = RegionColumn.empty(self.space)  # where the server knows that they were
        self._slack = GrowingArray(np.empty(0))  # 0: the next move is to be reported
        self._asked = np.empty(0, np.int32)  # who was asked just now
        self._reports = 0
        self._contacts = 0

    @property
    def _regions(self) -> RegionColumn:
        return self._current

    def subscription(self, subscription_id: Id) -> Subscription:
        found = super().subscription(subscription_id)
        return Subscription(
            found.id, found.expression, self._current.region(self._slot(subscription_id))
        )

    def _insert(self, batch: SubscriptionBatch) -> NDArray[np.int32]:
        slots = super()._insert(batch)
        fresh = self._subscriptions.store.ids.slots - len(self._current)
        if fresh > 0:
            self._current.append(RegionColumn.everywhere(fresh, self.space))
            self._anchor.append(RegionColumn.everywhere(fresh, self.space))
            self._slack.extend(np.zeros(fresh))
        self._current.put(slots, batch.regions)
        self._renew(slots)
        return slots

    def _moved(self, slots: NDArray[np.int32], regions: RegionColumn) -> Found:
        rows = np.flatnonzero(self._gone(self._anchor, slots, regions) >= self._slack.used[slots])
        reported, there = slots[rows], regions.take(rows)
        around = self._look_around(reported, there)
        found = self._changes(reported, there, around)
        self._current.put(slots, regions)
        self._settle(reported, there, around)
        self._moves += len(slots)
        self._reports += len(rows)
        return found._replace(rows=rows[found.rows])

    def _renew(self, slots: NDArray[np.int32]) -> None:
        """Clients have told where they are: they get another slack."""
        there = self._current.take(slots.astype(np.int64))
        self._settle(slots, there, self._look_around(slots, there))

    def _look_around(self, slots: NDArray[np.int32], regions: RegionColumn) -> Around:
        most = most_slack(regions, self._look_ahead)
        rows = np.flatnonzero(most > 0.0)
        around = drawn_out(regions.take(rows), most[rows])
        near = self._differences(
            slots[rows],
            Sides.nowhere(around, len(rows)),
            Sides.at(around, np.arange(len(rows))),
        )
        return Around(most, near._replace(rows=rows[near.rows]))

    def _settle(self, slots: NDArray[np.int32], regions: RegionColumn, around: Around) -> None:
        """Clients are where the server thinks they are, and the tree has their impact regions."""
        slack = around.most_slack.copy()
        slacks(
            self._messages.messages, regions.kernel_arrays(), self.space is Space.EARTH,
            around.near.rows, around.near.slots, slack,
        )  # fmt: skip
        self._anchor.put(slots, regions)
        self._slack.used[slots] = slack
        rows = np.flatnonzero(slack > 0.0)
        impact = regions.take(np.arange(len(regions)))
        impact.put(rows, drawn_out(regions.take(rows), slack[rows]))
        self._relocate(slots, impact)

    def _gone(
        self, old: RegionColumn, slots: NDArray[np.int32], regions: RegionColumn
    ) -> NDArray[np.float64]:
        """How far regions are from those that `old` has at their slots."""
        is_earth = self.space is Space.EARTH
        far: NDArray[np.float64] = gone(
            old.kernel_arrays(), slots, regions.kernel_arrays(), is_earth
        )
        return far

    def _changes(self, slots: NDArray[np.int32], regions: RegionColumn, around: Around) -> Found:
        """What subscriptions gain and lose: among the messages near them, where these are all."""
        near = around.near
        is_near = self._gone(self._current, slots, regions) < around.most_slack
        known = is_near[near.rows]
        places, slots_near = near.rows[known], near.slots[known]
        signs = signs_among(
            self._messages.messages, self._current.kernel_arrays(), slots, regions.kernel_arrays(),
            places, slots_near, self.space is Space.EARTH,
        )  # fmt: skip
        others = np.flatnonzero(~is_near)
        found = self._differences(
            slots[others],
            Sides.at(self._current, slots[others].astype(np.int64)),
            Sides.at(regions, others),
        )
        changed = signs != 0
        rows = np.concatenate([places[changed], others[found.rows]])
        order = np.argsort(rows, kind="stable")
        return Found(
            rows[order],
            np.concatenate([signs[changed], found.signs])[order],
            np.concatenate([slots_near[changed], found.slots])[order],
            near.candidates + found.candidates,
        )

    def _pass(self, batch: MessageBatch | None, last_now: float, tell: Callable[..., Told]) -> Told:
        answer = super()._pass(batch, last_now, tell)
        asked, self._asked = self._asked, self._asked[:0]
        self._renew(asked)
        return answer

    def _matches(
        self,
        words: NDArray[np.int32],
        word_start: NDArray[np.int64],
        rects: NDArray[np.float64],
        rect_start: NDArray[np.int32],
        arriving: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        found, end = super()._matches(words, word_start, rects, rect_start, arriving)
        reached = np.unique(found[: end[arriving - 1]]) if arriving else found[:0]
        asked = reached[self._slack.used[reached] > 0.0]
        self._asked = asked
        self._contacts += len(asked)
        self._subscriptions.arrivals += arriving
        kept: tuple[NDArray[np.int32], NDArray[np.int64]] = kept_if_in(
            found, end, self._current.kernel_arrays(), self.space is Space.EARTH,
            _places(rects, rect_start),
        )  # fmt: skip
        return kept

    def _more_settings(self) -> dict[str, Any]:
        return {"tree": self._tree_settings, "look_ahead": self._look_ahead}

    def _more_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "slack": self._slack.used,
            "communication": np.array([self._reports, self._contacts]),
            **{f"current/{name}": array for name, array in self._current.arrays().items()},
            **{f"anchor/{name}": array for name, array in self._anchor.arrays().items()},
        }

    def _take_more_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._slack = GrowingArray(arrays["slack"])
        self._reports, self._contacts = arrays["communication"].tolist()
        if "anchor/kind" not in arrays:
            raise BadFile(
                "its safe regions are those of an older Nearcast, which had them for boxes alone; "
                "make the index again from its subscriptions and messages"
            )
        self._current = RegionColumn.from_arrays(part(arrays, "current/"), self.space)
        self._anchor = RegionColumn.from_arrays(part(arrays, "anchor/"), self.space)


def _places(rects: NDArray[np.float64], rect_start: NDArray[np.int32]) -> Messages:
    """Places alone, as messages of which nothing else is known."""
    head = np.zeros((len(rect_start) - 1, 4), np.int32)
    head[:, RECTS_AT], head[:, RECTS] = rect_start[:-1], np.diff(rect_start)
    return Messages(np.empty(0, np.int64), head, np.empty(0), np.empty(0, np.int32), rects)
