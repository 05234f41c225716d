"""Groups of regions that are alike (section 4.4 and 4.5 of the paper).

inner    float64[g, 4]  a box that is inside all regions of the group, I(SG); west > east: none
outer    float64[g, 4]  a box around all of them, U(SG)
members  int32[g]       the run of its subscriptions; of a vacant group the next vacant one
floor    int64[g]       no list of the group ends with less; minTop
outside  int64[g]       a term that was filtered out for the whole group has no more than this
cell     int64[g, 2]    the key of its cell of the quadtree
seed     int64[g, 2]    the key of the home of its first region, by which others find it
depths   int64[1024]    how many groups have cells of a size, by the code of the size
ends     int64[2]       groups that were ever used, the first vacant one or -1
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nearcast.inner import inner, leaf
from nearcast.trending._regions.places import (
    EVERYWHERE,
    HOME,
    HOMES_ACROSS,
    LARGEST_LOG,
    ORIGIN,
    SMALLEST_LOG,
    column,
    reaches,
)
from nearcast.trending._regions.rows import LEVEL
from nearcast.trending._regions.runs import (
    COUNT,
    NONE,
    START,
    Runs,
    append,
    drop_run,
    new_run,
    no_runs,
    swap_out,
)
from nearcast.trending._regions.table import Table, cell_key, drop, no_keys, put, run_of

USED, VACANT = 0, 1


class Groups(NamedTuple):
    """The arrays drawn above."""

    inner: NDArray[np.float64]
    outer: NDArray[np.float64]
    members: NDArray[np.int32]
    floor: NDArray[np.int64]
    outside: NDArray[np.int64]
    cell: NDArray[np.int64]
    seed: NDArray[np.int64]
    depths: NDArray[np.int64]
    ends: NDArray[np.int64]


class Grouping(NamedTuple):
    """Groups, their members, and by cell and by home which groups there are."""

    groups: Groups
    runs: Runs
    table: Table


def no_groups() -> Grouping:
    """None yet."""
    size = 16
    return Grouping(
        Groups(
            np.zeros((size, 4)),
            np.zeros((size, 4)),
            np.zeros(size, np.int32),
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
            np.zeros((size, 2), np.int64),
            np.zeros((size, 2), np.int64),
            np.zeros(1024, np.int64),
            np.array([0, NONE], np.int64),
        ),
        no_runs(),
        no_keys(),
    )


@leaf
def has_point(box, group, x, y):
    """Is a point in the box of a group?"""
    return box[group, 0] <= x and x <= box[group, 2] and box[group, 1] <= y and y <= box[group, 3]


@leaf
def _area(west, south, east, north):
    return max(east - west, 0.0) * max(north - south, 0.0)


@leaf
def _compactness(within, around):
    """How much of what lies around is common to all: C(SG)."""
    return within / around if around > 0.0 else 1.0


@leaf
def most_alike(grouping, rows, levels, slot, inside, threshold):
    """The group that loses least of its compactness by one more region (Algorithm 9), or -1.

    Of the groups whose first region is of the same level and can meet this one.
    """
    groups, level = grouping.groups, rows.head[slot, LEVEL]
    best, least_loss = np.int64(NONE), np.inf
    if inside[slot, 0] > inside[slot, 2] or levels.code[level] == EVERYWHERE:
        return best
    size = levels.size[level] / HOMES_ACROSS
    code = levels.code[level] + HOME
    west, south = np.float64(rows.bounds[slot, 0]), np.float64(rows.bounds[slot, 1])
    east, north = np.float64(rows.bounds[slot, 2]), np.float64(rows.bounds[slot, 3])
    first_x, last_x = column(west - levels.reach[level, 0], size), column(east, size)
    first_y, last_y = column(south - levels.reach[level, 1], size), column(north, size)
    for x in range(first_x, last_x + 1):
        for y in range(first_y, last_y + 1):
            one, other = cell_key(np.int64(x), np.int64(y), code, np.int64(0))
            run = run_of(grouping.table, one, other)
            if run == NONE:
                continue
            begin = grouping.runs.head[run, START]
            for place in range(begin, begin + grouping.runs.head[run, COUNT]):
                group = grouping.runs.pool[place]
                inner_west = max(groups.inner[group, 0], inside[slot, 0])
                inner_south = max(groups.inner[group, 1], inside[slot, 1])
                inner_east = min(groups.inner[group, 2], inside[slot, 2])
                inner_north = min(groups.inner[group, 3], inside[slot, 3])
                if inner_west > inner_east or inner_south > inner_north:
                    continue
                after = _compactness(
                    _area(inner_west, inner_south, inner_east, inner_north),
                    _area(
                        min(groups.outer[group, 0], west), min(groups.outer[group, 1], south),
                        max(groups.outer[group, 2], east), max(groups.outer[group, 3], north),
                    ),
                )  # fmt: skip
                before = _compactness(
                    _area(
                        groups.inner[group, 0], groups.inner[group, 1],
                        groups.inner[group, 2], groups.inner[group, 3],
                    ),
                    _area(
                        groups.outer[group, 0], groups.outer[group, 1],
                        groups.outer[group, 2], groups.outer[group, 3],
                    ),
                )  # fmt: skip
                if after > threshold and before - after < least_loss:
                    best, least_loss = group, before - after
    return best


@inner
def found_group(grouping, rows, levels, slot, inside):
    """The grouping with a group for one region, and its number."""
    groups, runs = _with_room(grouping.groups), grouping.runs
    group = groups.ends[VACANT]
    if group == NONE:
        group = groups.ends[USED]
        groups.ends[USED] += 1
    else:
        groups.ends[VACANT] = groups.members[group]
    runs, own = new_run(runs)
    groups.members[group] = own
    groups.floor[group] = -1
    groups.outside[group] = 0
    for i in range(4):
        groups.inner[group, i] = inside[slot, i]
        groups.outer[group, i] = np.float64(rows.bounds[slot, i])
    level = rows.head[slot, LEVEL]
    x, y = np.int64(0), np.int64(0)
    if levels.code[level] != EVERYWHERE:
        size = levels.size[level] / HOMES_ACROSS
        x = column(groups.outer[group, 0], size)
        y = column(groups.outer[group, 1], size)
    groups.seed[group, 0], groups.seed[group, 1] = cell_key(
        x, y, levels.code[level] + HOME, np.int64(0)
    )
    grouping = Grouping(groups, runs, grouping.table)
    grouping = _entered(grouping, groups.seed[group, 0], groups.seed[group, 1], group)
    return _into_cell(grouping, group), group


@inner
def with_member(grouping, rows, group, slot, inside):
    """The grouping with one region more in a group."""
    groups = grouping.groups
    grouping = _out_of_cell(grouping, group)
    for i in range(2):
        groups.inner[group, i] = max(groups.inner[group, i], inside[slot, i])
        groups.inner[group, i + 2] = min(groups.inner[group, i + 2], inside[slot, i + 2])
        low, high = np.float64(rows.bounds[slot, i]), np.float64(rows.bounds[slot, i + 2])
        groups.outer[group, i] = min(groups.outer[group, i], low)
        groups.outer[group, i + 2] = max(groups.outer[group, i + 2], high)
    groups.floor[group] = -1
    grouping = _into_cell(grouping, group)
    runs = append(grouping.runs, np.int64(groups.members[group]), np.int64(slot))
    return Grouping(groups, runs, grouping.table)


@inner
def without_member(grouping, group, slot):
    """The grouping with one region less; a group without any is vacant."""
    groups, runs = grouping.groups, grouping.runs
    run = np.int64(groups.members[group])
    swap_out(runs, run, np.int64(slot))
    if runs.head[run, COUNT] == 0:
        _out_of_cell(grouping, group)
        _left(grouping, groups.seed[group, 0], groups.seed[group, 1], group)
        drop_run(runs, run)
        groups.members[group] = groups.ends[VACANT]
        groups.ends[VACANT] = group
        groups.outer[group, 0] = np.inf
        groups.outer[group, 2] = -np.inf


@inner
def groups_to_visit(grouping, x, y, is_wide):
    """The groups of the cells that have a point, from the root of the quadtree down; or all."""
    groups, runs = grouping.groups, grouping.runs
    if is_wide:
        everyone = np.empty(groups.ends[USED], np.int64)
        count = 0
        for group in range(groups.ends[USED]):
            if groups.outer[group, 0] <= groups.outer[group, 2]:
                everyone[count] = group
                count += 1
        return everyone[:count]
    found = np.empty(64, np.int64)
    count = np.int64(0)
    for code in range(EVERYWHERE, len(groups.depths)):
        if groups.depths[code] == 0:
            continue
        one, other = cell_key(np.int64(0), np.int64(0), np.int64(code), np.int64(0))
        if code != EVERYWHERE:
            size = 2.0 ** (code - ORIGIN)
            if not reaches(size, x, y):
                continue
            one, other = cell_key(column(x, size), column(y, size), np.int64(code), np.int64(0))
        run = run_of(grouping.table, one, other)
        if run == NONE:
            continue
        here = runs.head[run, COUNT]
        if count + here > len(found):
            larger = np.empty(2 * (count + here), np.int64)
            larger[:count] = found[:count]
            found = larger
        begin = runs.head[run, START]
        for place in range(begin, begin + here):
            found[count] = runs.pool[place]
            count += 1
    return found[:count]


@leaf
def _cell_of(groups, group):
    """The code and the key of the smallest cell of the quadtree that has the whole group."""
    west, south = groups.outer[group, 0], groups.outer[group, 1]
    east, north = groups.outer[group, 2], groups.outer[group, 3]
    size = 2.0**SMALLEST_LOG
    for log in range(SMALLEST_LOG, LARGEST_LOG + 1):
        if (
            size >= east - west
            and size >= north - south
            and reaches(size, west, south)
            and reaches(size, east, north)
            and column(west, size) == column(east, size)
            and column(south, size) == column(north, size)
        ):
            one, other = cell_key(
                column(west, size), column(south, size), np.int64(ORIGIN + log), np.int64(0)
            )
            return np.int64(ORIGIN + log), one, other
        size *= 2.0
    one, other = cell_key(np.int64(0), np.int64(0), np.int64(EVERYWHERE), np.int64(0))
    return np.int64(EVERYWHERE), one, other


@inner
def _into_cell(grouping, group):
    groups = grouping.groups
    code, one, other = _cell_of(groups, group)
    groups.depths[code] += 1
    groups.cell[group, 0], groups.cell[group, 1] = one, other
    return _entered(grouping, one, other, group)


@inner
def _out_of_cell(grouping, group):
    groups = grouping.groups
    code, _, _ = _cell_of(groups, group)
    groups.depths[code] -= 1
    _left(grouping, groups.cell[group, 0], groups.cell[group, 1], group)
    return grouping


@inner
def _entered(grouping, one, other, group):
    runs, table = grouping.runs, grouping.table
    run = run_of(table, one, other)
    if run == NONE:
        runs, run = new_run(runs)
        table = put(table, one, other, run)
    return Grouping(grouping.groups, append(runs, run, group), table)


@inner
def _left(grouping, one, other, group):
    run = run_of(grouping.table, one, other)
    swap_out(grouping.runs, run, group)
    if grouping.runs.head[run, COUNT] == 0:
        drop(grouping.table, one, other)
        drop_run(grouping.runs, run)


@inner
def _with_room(groups):
    """The groups with room for one more."""
    old = len(groups.members)
    if groups.ends[VACANT] != NONE or groups.ends[USED] < old:
        return groups
    size = old + old // 2
    inner_, outer = np.zeros((size, 4)), np.zeros((size, 4))
    members, floor = np.zeros(size, np.int32), np.zeros(size, np.int64)
    outside, cell = np.zeros(size, np.int64), np.zeros((size, 2), np.int64)
    seed = np.zeros((size, 2), np.int64)
    inner_[:old] = groups.inner
    outer[:old] = groups.outer
    members[:old] = groups.members
    floor[:old] = groups.floor
    outside[:old] = groups.outside
    cell[:old] = groups.cell
    seed[:old] = groups.seed
    return Groups(inner_, outer, members, floor, outside, cell, seed, groups.depths, groups.ends)
