"""The index of the paper, whatever its pieces are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nearcast.model import Space
from nearcast.topk._flat.columns import wider
from nearcast.topk._flat.fill_order import in_fill_order
from nearcast.topk._flat.index import FlatTopK
from nearcast.topk._flat.subscriptions import ALPHA, LAT
from nearcast.topk._flat.window import LIVE
from nearcast.topk.skype._cells import Cells, empty_cells
from nearcast.topk.skype._check import check_arrays
from nearcast.topk.skype._disseminate import CIQ, COLUMNS, take
from nearcast.topk.skype._lists import Lists, empty_lists, with_new_words
from nearcast.topk.skype._process import (
    How,
    Work,
    begin_all,
    no_work,
    publish_all,
)
from nearcast.topk.skype._pyramid import Pyramid, empty_pyramid
from nearcast.topk.skype._rows import Rows, empty_rows, release_row
from nearcast.topk.skype._takers import Takers, empty_takers
from nearcast.topk.skype.pieces import Pieces
from nearcast.topk.windows import CountWindow

FEW_CHANGES = 1000  # not worth an arrangement of their own


class PiecedTopK(Pieces, FlatTopK):
    """An index of one piece for dissemination and one for re-evaluation; see `pieces`."""

    _rows: Rows
    _takers: Takers
    _lists: Lists
    _cells: Cells
    _pyramid: Pyramid
    _work: Work

    _parts: ClassVar[dict[str, Any]] = {
        "rows": Rows,
        "takers": Takers,
        "lists": Lists,
        "cells": Cells,
        "pyramid": Pyramid,
        "work": Work,
    }

    def check(self) -> None:
        check_arrays(
            self._rows, self._takers, self._lists, self._cells, self._pyramid, self._how,
            self._subscriptions, self._messages, self._rings, self._idf.used, self._distances,
            self._subscription_ids.live_slots(),
        )  # fmt: skip
        assert int(self._messages.ends[LIVE]) == len(self._message_ids)

    # ------------------------------------------------------------------ subscriptions

    def _begin_parts(self) -> None:
        self._rows = empty_rows()
        self._takers = empty_takers()
        self._work = no_work()
        self._cuts = np.arange(1, self.groups) / self.groups
        self._arranged, self._changes_since = 0, 0
        self._begin_lists()

    def _begin_lists(self) -> None:
        slots = 0 if self._kind == CIQ else len(self._rows.aim)
        self._cells = empty_cells(self.space is Space.EARTH, slots)
        self._pyramid = empty_pyramid(self.levels, len(self._rows.aim) if self.levels else 0)
        self._lists = empty_lists(COLUMNS[self._kind])
        self._room_for_words(len(self._vocabulary))

    def _enter(self, slots: NDArray[np.int32]) -> None:
        if len(self._subscription_ids) == len(slots):
            self._arrange(slots)  # the first ones
        slots = in_fill_order(self._subscriptions, slots, self._grid_or_any)
        self._rows, self._takers, self._lists, self._cells = begin_all(
            self._moving, self._fixed, slots, True, *self._window_of_kernels, self._how
        )
        self._changes_since += len(slots)
        # When twice as many have come and gone as there were, all is arranged anew.
        if self._changes_since > FEW_CHANGES + 2 * self._arranged:
            live = self._subscription_ids.live_slots().astype(np.int32)
            self._arrange(live)
            self._rows, self._takers, self._lists, self._cells = begin_all(
                self._moving, self._fixed, live, False, *self._window_of_kernels, self._how
            )
            self._changes_since = 0

    def _leave(self, slot: int) -> None:
        self._lists = take(
            self._lists, self._cells, self._pyramid, self._subscriptions, slot, self._how,
            self._distances,
        )  # fmt: skip
        release_row(self._subscriptions, self._rows, slot)
        self._changes_since += 1

    def _arrange(self, slots: NDArray[np.int32]) -> None:
        """Empty lists and cells that suit these subscriptions."""
        self._begin_lists()
        self._arranged, self._changes_since = len(slots), -len(slots)  # which come now
        if len(slots):
            shares = np.arange(1, self.groups) / self.groups
            self._cuts = np.quantile(self._subscriptions.place[slots, ALPHA], shares)
            lon, lat = self._subscriptions.place[slots, : LAT + 1].T
            west, south = lon.min(), lat.min()
            size = (lon.max() - west or 1.0, lat.max() - south or 1.0)
            self._pyramid.frame[:] = west, south, *size

    def _room_for_words(self, size: int) -> None:
        lists = self._lists
        self._lists = lists._replace(
            start=wider(lists.start, size, -1),
            held=wider(lists.held, size, 0),
            room=wider(lists.room, size, 0),
        )

    def _room_for_rows(self, size: int, k: int) -> None:
        rows, cells, pyramid = self._rows, self._cells, self._pyramid
        self._rows = rows._replace(aim=wider(rows.aim, size, 0))
        if self._kind != CIQ:
            self._cells = cells._replace(
                cell=wider(cells.cell, size, -1),
                after=wider(cells.after, size, -1),
                before=wider(cells.before, size, -1),
                inside=wider(cells.inside, size, 0.0),
            )
        elif size > len(pyramid.near):
            near = np.empty((len(self._rows.aim), 4 * self.levels), np.float32)
            near[: len(pyramid.near)] = pyramid.near
            self._pyramid = pyramid._replace(near=near)

    # ------------------------------------------------------------------ messages

    def _pass(
        self,
        replaced: int,
        at: NDArray[np.float64],
        times: NDArray[np.float64],
        start: NDArray[np.int64],
        word: NDArray[np.int32],
        counts: NDArray[np.int32],
    ) -> NDArray[np.int32]:
        self._moving, changed = publish_all(
            self._moving, self._fixed, replaced, self.now, at, times, start, word, counts,
            self._most, self._seconds, *self._window_of_kernels, self._how,
        )  # fmt: skip
        return changed

    # ------------------------------------------------------------------ what the base asks for

    @property
    def _held_by_words(self) -> NDArray[np.int32]:
        return self._lists.held

    def _keep_words(self, kept: NDArray[np.int64]) -> None:
        lists = self._lists
        self._lists = with_new_words(
            lists._replace(start=lists.start[kept], held=lists.held[kept], room=lists.room[kept])
        )

    def _more_arrays(self) -> dict[str, NDArray[Any]]:
        arranged = np.array([self._arranged, self._changes_since], np.int64)
        return {"cuts": self._cuts, "arranged": arranged}

    def _take_more_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._cuts = arrays["cuts"]
        self._arranged, self._changes_since = (int(each) for each in arrays["arranged"])

    def _more_settings(self) -> dict[str, Any]:
        return self._settings()

    @property
    def _how(self) -> How:
        return How(
            self._kind, self._policy, self._cuts, self.leaf_capacity, self.levels,
            self.threshold_share, self.buffer_factor, isinstance(self.window, CountWindow),
        )  # fmt: skip

    @property
    def _window_of_kernels(self) -> tuple[Any, ...]:
        return self._idf.used, self._grid_or_any, self._distances

    @property
    def _fixed(self) -> tuple[Any, ...]:
        """Arrays that stay the same when messages come and go."""
        return self._lists, self._cells, self._pyramid, self._work, self._subscriptions

    @property
    def _moving(self) -> tuple[Any, ...]:
        """Arrays that may have to grow then."""
        return self._rows, self._takers, self._messages, self._rings, self._touched

    @_moving.setter
    def _moving(self, arrays: tuple[Any, ...]) -> None:
        self._rows, self._takers, self._messages, self._rings, self._touched = arrays
