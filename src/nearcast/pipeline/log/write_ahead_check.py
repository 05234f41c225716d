"""Is a write-ahead file of SQLite damaged before its end?

After a crash SQLite reads such a file up to the first frame that does not fit its checksum, and
takes the rest for a transaction that was cut short. So a bit that flips in an older frame would
silently undo what was acknowledged. But each commit is synced before the next transaction begins:
of what was cut short nothing can follow a commit. A good frame behind a commit behind a bad frame
is proof of damage. Damage within the last transaction cannot be told from one that was cut short.

    header   32 bytes  magic, version, page size, sequence, salt (8), checksum (8)
    frame    24 bytes  page, size of the database if it is a commit or else 0, salt, checksum
             page

A checksum sums up all frames so far, as two numbers of 32 bits: for each pair of words (a, b),
s0 += s1 + a, then s1 += s0 + b. That is linear, so frames are summed up by a product of matrices.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_HEADER, _FRAME = 32, 24
_MAGIC = 0x377F0682  # the last bit says that words are big endian
_STEP = np.array([[1, 1], [1, 2]], np.uint32)


def is_damaged(path: Path) -> bool:
    """Is there proof that acknowledged transactions are lost?  O(size)."""
    data = np.fromfile(path, np.uint8)
    if len(data) <= _HEADER:
        return False
    header = data[:_HEADER].view(">u4")
    words = ">u4" if header[0] == _MAGIC + 1 else "<u4"
    check = _sums(data[None, :24], words, np.zeros((1, 2), np.uint32))
    if header[0] not in (_MAGIC, _MAGIC + 1) or not np.array_equal(check[0], header[6:]):
        return True  # it was synced before the first frame was written
    size = _FRAME + int(header[2])
    count = (len(data) - _HEADER) // size
    if count == 0:
        return False
    frames = data[_HEADER : _HEADER + count * size].reshape(count, size)
    heads = np.ascontiguousarray(frames[:, :_FRAME]).view(">u4")
    begun = np.vstack([header[6:], heads[:, 4:]])[:count].astype(np.uint32)
    checks = _sums(np.hstack([frames[:, :8], frames[:, _FRAME:]]), words, begun)
    good = (checks == heads[:, 4:]).all(1) & (heads[:, 2:4] == header[4:6]).all(1)
    if good.all():
        return False
    bad = int(np.argmin(good))
    follows_a_commit = good[bad + 1 :] & (heads[bad:-1, 1] != 0)
    return bool(follows_a_commit.any())


def _sums(rows: NDArray[np.uint8], words: str, begun: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The checksum of each row of bytes, which goes on from the sums in `begun`."""
    pairs = np.ascontiguousarray(rows).view(words).astype(np.uint32).reshape(len(rows), -1, 2)
    pairs[..., 1] += pairs[..., 0]  # what a pair adds to s0 and s1
    steps = pairs.shape[1]
    powers = np.empty((steps + 1, 2, 2), np.uint32)
    powers[0] = np.eye(2)
    for step in range(steps):
        powers[step + 1] = powers[step] @ _STEP
    # The first pair is followed by all other steps, the last by none; _STEP is symmetric.
    weights = powers[steps - 1 :: -1].reshape(2 * steps, 2)
    sums: NDArray[np.uint32] = pairs.reshape(len(rows), -1) @ weights + begun @ powers[steps]
    return sums
