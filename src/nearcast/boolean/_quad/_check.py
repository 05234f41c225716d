"""Are entries where a message looks for them?  Asserted in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nearcast.boolean._quad._cells import CHILDREN, DEPTH, SIDE, cells_of_box
from nearcast.boolean._records import ENTRY


def check_pairs(
    frame: NDArray[np.float64],
    records: NDArray[np.int32],
    bounds: NDArray[np.float32],
    lists: NDArray[np.int32],
    owner: NDArray[np.int32],
    codes: NDArray[np.int64],
    held: dict[tuple[int, int], NDArray[np.int32]],
) -> None:
    """Assert that the lists in cells hold just these records, and cells cover each rectangle."""
    cells_of = defaultdict(list)
    wanted = defaultdict(set)
    for i, code in zip(owner.tolist(), codes.tolist(), strict=True):
        cells_of[i].append(code)
        wanted[int(lists[i]), code].add(i)
    for i in range(len(records)):
        check_cover(cells_of[i], cells_of_box(frame, *bounds[i].tolist()))
    position = {entry: i for i, entry in enumerate(records[:, ENTRY].tolist())}
    assert held.keys() == wanted.keys()
    for key, rows in held.items():
        places = [position[entry] for entry in rows[:, ENTRY].tolist()]
        assert len(set(places)) == len(places)
        assert set(places) == wanted[key]
        assert (rows == records[places]).all()


def check_cover(codes: list[int], box: tuple[int, int, int, int]) -> None:
    """Disjoint cells that each touch the box have as much of it together as there is."""
    assert len(set(codes)) == len(codes)
    covered = 0
    for code in codes:
        level, x, y = code >> 2 * DEPTH, (code >> DEPTH) & (SIDE - 1), code & (SIDE - 1)
        for other in codes:
            rest = level - (other >> 2 * DEPTH)
            if rest > 0:
                above = (other >> DEPTH) & (SIDE - 1), other & (SIDE - 1)
                assert (x >> rest, y >> rest) != above
        shift = DEPTH - level
        columns = min(box[2], ((x + 1) << shift) - 1) - max(box[0], x << shift) + 1
        rows = min(box[3], ((y + 1) << shift) - 1) - max(box[1], y << shift) + 1
        assert columns > 0
        assert rows > 0
        covered += columns * rows
    assert covered == (box[2] - box[0] + 1) * (box[3] - box[1] + 1)


def cells_below(nodes: NDArray[np.int64], row: int, code: int) -> Iterator[tuple[int, int]]:
    """The row and code of a cell, and of all cells below it."""
    yield row, code
    yield from children_below(nodes, int(nodes[row, CHILDREN]), code)


def children_below(nodes: NDArray[np.int64], block: int, code: int) -> Iterator[tuple[int, int]]:
    """The same without the cell itself, whose children begin at `block`."""
    if block:
        level, x, y = code >> 2 * DEPTH, (code >> DEPTH) & (SIDE - 1), code & (SIDE - 1)
        assert level < DEPTH
        assert 4 <= block <= len(nodes) - 4
        for i in range(4):
            child = (level + 1) << 2 * DEPTH | (2 * x + i % 2) << DEPTH | (2 * y + i // 2)
            yield from cells_below(nodes, block + i, child)
