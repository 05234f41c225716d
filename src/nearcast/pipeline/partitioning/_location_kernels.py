"""Walking the kd-tree of `Location`.

```
axis   int8[m]      node i is split by x (0) or y (1), or is a leaf (LEAF); node 0 is the root
split  float64[m]   the lower child has x <= split, the upper one x > split
low    int32[m]     the lower child, a higher number than i; of a leaf: its first shard
high   int32[m]     the upper child, likewise; of a leaf: the shard after its last

row    int[r]       the row a rectangle belongs to; a row may have several
rects  float[r, 4]  west, south, east, north; float32 or float64
masks  uint64[n, w] the shards of each row, see `_route_kernels`
```

The cells of the leaves are half open, so each point of the plane is in one cell. Two rectangles
that meet share a point, and so both touch the cell of that point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nearcast.pipeline.partitioning._route_kernels import Masks, set_bit

LEAF = 2


@njit(cache=True, nogil=True)
def mark_leaves(
    axis: NDArray[np.int8],
    split: NDArray[np.float64],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    row: NDArray[Any],
    rects: NDArray[Any],
    spread: NDArray[np.uint64],
    masks: Masks,
) -> None:
    """Set the shards of the leaves that each rectangle touches.  O(nodes touched).

    `spread` uint64[n] picks one shard of a leaf for each row; where it is empty a row goes to all
    shards of the leaf.
    """
    waiting = np.empty(len(axis), np.int32)  # a node waits once: each has one parent
    for i in range(len(row)):
        waiting[0] = 0
        count = 1
        while count:
            count -= 1
            node = waiting[count]
            where = axis[node]
            if where == LEAF:
                first, last = low[node], high[node]
                if last - first == 1:
                    set_bit(masks, row[i], first)
                elif len(spread):
                    chosen = spread[row[i]] % np.uint64(last - first)
                    set_bit(masks, row[i], first + np.int64(chosen))
                else:
                    for shard in range(first, last):
                        set_bit(masks, row[i], shard)
                continue
            if rects[i, where] <= split[node]:
                waiting[count] = low[node]
                count += 1
            if rects[i, where + 2] > split[node]:
                waiting[count] = high[node]
                count += 1
