"""In which sizes room is kept, so that what one list leaves fits another."""

import numpy as np

from nearcast.inner import inner

SIZES = 128  # more than an int32 can count


@inner
def size_of(kind):
    """1, 2, 3, 4, then four sizes to each doubling: 5, 6, 7, 8, 10, 12, 14, 16, 20 and so on."""
    if kind < 4:
        return kind + 1
    return (5 + kind % 4) << (kind // 4 - 1)


@inner
def kind_for(count):
    """The smallest size that is enough for so many."""
    kind = 0
    while size_of(kind) < count:
        kind += 1
    return kind


@inner
def give_room(free, links, at, size, unit):
    """So much room, of units, is free: a piece of one of the sizes, or several."""
    while size > 0:
        kind = kind_for(size)
        if size_of(kind) > size:
            kind -= 1
        links[at] = free[kind]
        free[kind] = at
        at += size_of(kind) * unit
        size -= size_of(kind)


@inner
def take_room(free, links, kind, unit):
    """Free room of a size, cut from a larger one perhaps: where it begins, -1 where there is none.

    `free` has the first piece of each size, -1 for none, whose place in `links` leads to the next.
    """
    for larger in range(kind, SIZES - 8):
        at = free[larger]
        if at >= 0:
            free[larger] = links[at]
            size = size_of(kind)
            give_room(free, links, at + size * unit, size_of(larger) - size, unit)
            return at
    return np.int32(-1)


@inner
def log2(power):
    """The exponent of a power of two."""
    kind = 0
    while (1 << kind) < power:
        kind += 1
    return kind
