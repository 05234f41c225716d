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
from nearcast.moving.ap_plus_tree._safe import kept_if_in, signs_among, slacks
from nearcast.moving.ap_plus_tree.index import APPlusTree
from nearcast.moving.late_positions import LatePositions
from nearcast.moving.word_quadtrees.lists import QuadtreesOfWords
from nearcast.space import RegionColumn
from nearcast.space.region_column import BOX
from nearcast.storage import part

ROUNDING = 1e-12  # of differences of borders


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
    """What is around boxes: drawn out by the most slack, that slack, and messages within."""

    drawn_out: NDArray[np.float64]
    most_slack: NDArray[np.float64]
    near: Found


class APPlusTreeSafe(APPlusTree):
    """An AP+-Tree whose clients report only when they leave their safe regions.

    A box that the server knows has a *slack*: while none of its borders has moved that far, no
    message with its words enters or leaves. Its client keeps silent meanwhile. The tree holds the
    *impact region*, the box drawn out by the slack: a message that comes into it may change that,
    so the client is asked where it is, and gets another slack. `move` stands for both sides here,
    client and server; `communication` tells what they would have sent each other. Regions that are
    no boxes are always reported.

    Messages are in a quadtree for each word, not at the nodes of the tree: who looks for the
    nearest one has to look around, through many nodes, and at most of their messages in vain.

    Parameters
    ----------
    space, lifetime, late_positions, tree: see `APPlusTree`
    look_ahead: the most slack, as a multiple of the longer side of a box

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
        self._anchor = GrowingArray(np.empty((0, 4)))  # the box that the server knows
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
            self._anchor.extend(np.zeros((fresh, 4)))
            self._slack.extend(np.zeros(fresh))
        self._current.put(slots, batch.regions)
        self._renew(slots)
        return slots

    def _moved(self, slots: NDArray[np.int32], regions: RegionColumn) -> Found:
        boxes = regions.kernel_arrays()[1]
        gone = np.abs(boxes - self._anchor.used[slots]).max(axis=1, initial=0.0)
        silent = _is_box(regions) & (gone < self._slack.used[slots] * (1.0 - ROUNDING))
        rows = np.flatnonzero(~silent)
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
        drawn_out, most_slack = self._drawn_out(regions)
        return Around(drawn_out, most_slack, self._near(slots, drawn_out, most_slack))

    def _settle(self, slots: NDArray[np.int32], regions: RegionColumn, around: Around) -> None:
        """Clients are where the server thinks they are, and the tree has their impact regions."""
        boxes = regions.kernel_arrays()[1]
        slack = around.most_slack.copy()
        slacks(self._messages.messages, boxes, around.near.rows, around.near.slots, slack)
        self._anchor.used[slots], self._slack.used[slots] = boxes, slack
        self._relocate(slots, self._impact(slots, regions))

    def _drawn_out(self, regions: RegionColumn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Boxes with the most slack there may be, and that slack; 0 where there may be none."""
        boxes = np.where(_is_box(regions)[:, None], regions.kernel_arrays()[1], 0.0)
        sides = np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])
        slack: NDArray[np.float64] = self._look_ahead * sides
        drawn_out = boxes + slack[:, None] * (-1, -1, 1, 1)
        if self.space is Space.EARTH:
            within = (np.abs(drawn_out) < (180.0, 90.0, 180.0, 90.0)).all(axis=1)
        else:
            within = (np.abs(drawn_out) < 1e30).all(axis=1)
        slack[~within] = 0.0
        return drawn_out, slack

    def _near(
        self, slots: NDArray[np.int32], drawn_out: NDArray[np.float64], slack: NDArray[np.float64]
    ) -> Found:
        """The messages in boxes that are drawn out."""
        rows = np.flatnonzero(slack > 0.0)
        around = RegionColumn.of_boxes(drawn_out[rows], self.space)
        near = self._differences(
            slots[rows],
            Sides.nowhere(around, len(rows)),
            Sides.at(around, np.arange(len(rows))),
        )
        return near._replace(rows=rows[near.rows])

    def _changes(self, slots: NDArray[np.int32], regions: RegionColumn, around: Around) -> Found:
        """What subscriptions gain and lose: among the messages near them, where these are all."""
        drawn_out, near = around.drawn_out, around.near
        before = self._current.take(slots.astype(np.int64))
        boxes = before.kernel_arrays()[1]
        is_near = (around.most_slack > 0.0) & _is_box(before)
        is_near &= (boxes[:, :2] >= drawn_out[:, :2]).all(axis=1)
        is_near &= (boxes[:, 2:] <= drawn_out[:, 2:]).all(axis=1)
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

    def _impact(self, slots: NDArray[np.int32], regions: RegionColumn) -> RegionColumn:
        """What the tree holds: boxes drawn out by their slack, other regions as they are."""
        impact = regions.take(np.arange(len(regions)))
        slack = self._slack.used[slots]
        rows = np.flatnonzero(slack > 0.0)
        boxes = regions.kernel_arrays()[1][rows] + slack[rows, None] * (-1, -1, 1, 1)
        impact.put(rows, RegionColumn.of_boxes(boxes, self.space))
        return impact

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
            "anchor": self._anchor.used,
            "slack": self._slack.used,
            "communication": np.array([self._reports, self._contacts]),
            **{f"current/{name}": array for name, array in self._current.arrays().items()},
        }

    def _take_more_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._anchor, self._slack = GrowingArray(arrays["anchor"]), GrowingArray(arrays["slack"])
        self._reports, self._contacts = arrays["communication"].tolist()
        self._current = RegionColumn.from_arrays(part(arrays, "current/"), self.space)


def _is_box(regions: RegionColumn) -> NDArray[np.bool_]:
    """Which regions are boxes, and not across the antimeridian?"""
    kind, shape = regions.kernel_arrays()[:2]
    is_box: NDArray[np.bool_] = (kind == BOX) & (shape[:, 0] <= shape[:, 2])
    return is_box


def _places(rects: NDArray[np.float64], rect_start: NDArray[np.int32]) -> Messages:
    """Places alone, as messages of which nothing else is known."""
    head = np.zeros((len(rect_start) - 1, 4), np.int32)
    head[:, RECTS_AT], head[:, RECTS] = rect_start[:-1], np.diff(rect_start)
    return Messages(np.empty(0, np.int64), head, np.empty(0), np.empty(0, np.int32), rects)
