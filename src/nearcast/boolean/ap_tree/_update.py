"""Entries that come and go, nodes that split, merge and drift (ICDE 2015, IV-E), and tidying up.

tasks     int64[T, 4]    where a walk still has to go: child position, offset, proven, flags
places    float64[T, 6]  region of the node (west, south, east, north), copies, reach

A change walks from the root to every leaf the entry belongs to. On its way it keeps the weights,
and where a node has become useless (too few entries), outgrown (twice as many as it was built
for) or drifted (its weights no longer look like those it was built for), everything below is
gathered and built again, with the change already made.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import (
    EMPTY,
    ENTRY,
    MOST_PROVEN,
    RUN,
    run_count,
    run_reference,
    run_room,
    run_start,
    settle_record,
)
from nearcast.boolean.ap_tree._build import (
    BY_KEYWORD,
    BY_SPACE,
    build,
    holds,
)
from nearcast.boolean.ap_tree._layout import (
    CHANGES,
    CHILD_START,
    CHILDREN,
    EDGES,
    ENTRIES,
    GARBAGE,
    HEIGHT,
    KEY_START,
    KEYS,
    KEYWORD_NODE,
    NODES,
    OFFSET,
    RECORDS,
    ROOT,
    SPATIAL_NODE,
    WEIGHT,
    WEIGHT_BUILT,
    WIDTH,
    Tree,
    find_cut,
    find_slab,
    get_child,
    reserve,
    set_child,
)
from nearcast.boolean.ap_tree._plan import cut_chance, keyword_at
from nearcast.inner import inner

# The weights of a node are compared again after so large a share of them changed.
SHARE_BETWEEN_LOOKS = 0.125


@inner
def subtree_size(tree, reference):
    """Nodes, keys, edges, children and records (with their spare room) below a reference."""
    size = np.zeros(5, np.int64)
    waiting = np.empty(1024, np.int64)
    waiting[0] = reference
    depth = 1
    while depth:
        depth -= 1
        what = waiting[depth] & 3
        if what == EMPTY:
            continue
        if what == RUN:
            size[RECORDS] += run_room(run_count(waiting[depth]))
            continue
        node = tree.nodes[waiting[depth] >> 2]
        children = children_of(node, what)
        size[NODES] += 1
        size[CHILDREN] += children
        if what == KEYWORD_NODE:
            size[KEYS] += 2 * node[WIDTH]
        else:
            size[EDGES] += node[WIDTH] + node[HEIGHT] - 2
        if depth + children > len(waiting):
            wider = np.empty(2 * (depth + children), np.int64)
            wider[:depth] = waiting[:depth]
            waiting = wider
        first = node[CHILD_START]
        waiting[depth : depth + children] = tree.children[first : first + children]
        depth += children
    return size


@njit(cache=True, nogil=True, inline="always")
def children_of(node, what):
    """How many children the node owns."""
    if what == KEYWORD_NODE:
        return node[WIDTH] + 2
    return node[WIDTH] * node[HEIGHT] + 1


@inner
def gather(tree, reference, spare):
    """The distinct records below a reference, in an arena with `spare` free rows at the end.

    O(n log n).  The subtree becomes garbage.
    """
    size = subtree_size(tree, reference)
    copies = np.empty((size[RECORDS], 8), np.int32)
    waiting = np.empty(size[CHILDREN] + 1, np.int64)
    waiting[0] = reference
    depth, total, replicated = 1, 0, False
    while depth:
        depth -= 1
        what = waiting[depth] & 3
        if what == RUN:
            start, count = run_start(waiting[depth]), run_count(waiting[depth])
            copies[total : total + count] = tree.records[start : start + count]
            total += count
        elif what != EMPTY:
            node = tree.nodes[waiting[depth] >> 2]
            replicated |= what == SPATIAL_NODE
            children = children_of(node, what)
            first = node[CHILD_START]
            waiting[depth : depth + children] = tree.children[first : first + children]
            depth += children
    tree.used[GARBAGE] += size[RECORDS] + size[CHILDREN] // 2
    order = np.arange(total)
    if replicated:
        order = np.argsort(copies[:total, ENTRY])
    arena = np.empty((total + spare, 8), np.int32)
    kept = 0
    for i in range(total):
        if i == 0 or copies[order[i], ENTRY] != copies[order[i - 1], ENTRY]:
            arena[kept] = copies[order[i]]
            kept += 1
    return arena[: kept + spare]


@njit(cache=True, nogil=True)
def drift(tree, first, children):
    """How far the weights have moved: KL divergence of old from new, zeros smoothed by one."""
    old_sum, new_sum = 0.0, 0.0
    for i in range(first, first + children):
        new_sum += tree.weights[i, 0] + 1
        old_sum += tree.weights[i, 1] + 1
    divergence = 0.0
    for i in range(first, first + children):
        old = (tree.weights[i, 1] + 1) / old_sum
        divergence += old * np.log(old / ((tree.weights[i, 0] + 1) / new_sum))
    return divergence


@inner
def is_due(tree, settings, node, what):
    """Should everything below this node be built again?  O(1), O(fanout) every so many changes."""
    weight, built = node[WEIGHT], node[WEIGHT_BUILT]
    if 2 * weight <= settings.leaf_capacity:
        return True
    if np.isinf(settings.drift_threshold):
        return False
    if weight >= 2 * built:
        return True
    if node[CHANGES] < max(settings.leaf_capacity, SHARE_BETWEEN_LOOKS * built):
        return False
    node[CHANGES] = 0
    return (
        weight >= settings.drift_share * tree.used[ENTRIES]
        and drift(tree, node[CHILD_START], children_of(node, what)) > settings.drift_threshold
    )


@inner
def add_to_leaf(tree, clauses, record, proven, position):
    """Append a copy of the record to the leaf at `position`; returns the tree and the new count."""
    reference = get_child(tree, position)
    start, count = run_start(reference), run_count(reference)
    if count == run_room(count):
        room = run_room(count + 1)
        none = np.int64(0)
        tree = reserve(tree, none, none, none, none, room)
        moved = tree.used[RECORDS]
        tree.used[RECORDS] += room
        tree.records[moved : moved + count] = tree.records[start : start + count]
        tree.used[GARBAGE] += count
        start = moved
    tree.records[start + count] = record
    settle_record(clauses, tree.records[start + count], proven)
    set_child(tree, position, run_reference(start, count + 1))
    return tree, count + 1


@inner
def drop_from_leaf(tree, entry, position):
    """Take the entry's record out of the leaf at `position`; the last one fills its place."""
    reference = get_child(tree, position)
    start, count = run_start(reference), run_count(reference)
    for i in range(start, start + count):
        if tree.records[i, ENTRY] == entry:
            tree.records[i] = tree.records[start + count - 1]
            break
    tree.used[GARBAGE] += run_room(count) - run_room(count - 1)
    set_child(tree, position, run_reference(start, count - 1) if count > 1 else EMPTY)


@inner
def is_time_to_split(settings, count):
    """A leaf is tried when it overflows and, if that did not help, each time it doubles."""
    tries, rest = divmod(count, settings.leaf_capacity + 1)
    return rest == 0 and tries > 0 and (tries & (tries - 1)) == 0


@inner
def change(tree, clauses, statistics, settings, record, world, adding):
    """Add the record's entry to the tree, or take it out; returns the tree and whether to re-rank.

    Re-rank means that the root itself is due: the caller then orders the keywords anew and builds
    the whole tree, which it alone can do.  O(depth) nodes for each cell the entry touches.
    """
    entry = record[ENTRY]
    bounds = record.view(np.float32)[4:8]
    sign = 1 if adding else -1
    tree.used[ENTRIES] += sign
    tasks = np.empty((256, 4), np.int64)
    places = np.empty((256, 6), np.float64)
    tasks[0, 0], tasks[0, 1], tasks[0, 2], tasks[0, 3] = -1, 0, 0, BY_KEYWORD | BY_SPACE
    places[0, :4] = world
    places[0, 4], places[0, 5] = 1.0, 1.0
    depth = 1
    while depth:
        depth -= 1
        position, offset, proven, flags = (
            tasks[depth, 0],
            tasks[depth, 1],
            tasks[depth, 2],
            tasks[depth, 3],
        )
        region = places[depth, :4].copy()
        copies, reach = places[depth, 4], places[depth, 5]
        reference = get_child(tree, position)
        what = reference & 3
        if what in (EMPTY, RUN):
            if not adding:
                drop_from_leaf(tree, entry, position)
                continue
            tree, count = add_to_leaf(tree, clauses, record, proven, position)
            if is_time_to_split(settings, count):
                arena = gather(tree, get_child(tree, position), np.int64(0))
                tree = build(
                    tree, clauses, statistics, settings, arena,
                    position, offset, proven, flags, region, copies, reach,
                )  # fmt: skip
            continue

        node = tree.nodes[reference >> 2]
        node[CHANGES] += 1
        first, width = node[CHILD_START], node[WIDTH]
        is_k = what == KEYWORD_NODE
        arrived = tree.used[ENTRIES] if position < 0 else tree.weights[position, 0]
        if is_due(tree, settings, node, what):
            if position < 0 and 2 * node[WEIGHT] > settings.leaf_capacity:
                # The caller rebuilds from the store, which has this change already.
                return tree, True
            arena = gather(tree, reference, 1 if adding else 0)
            if adding:
                arena[-1] = record
            else:
                kept = 0
                for i in range(len(arena)):
                    if arena[i, ENTRY] != entry:
                        arena[kept] = arena[i]
                        kept += 1
                arena = arena[:kept]
            tree = build(
                tree, clauses, statistics, settings, arena,
                position, offset, proven, flags, region, copies, reach,
            )  # fmt: skip
            continue
        if is_k:
            offset = node[OFFSET]
            word = keyword_at(clauses, entry, offset)
            if word < 0:
                child = first + width + 1
                flags &= ~BY_KEYWORD
            else:
                cut = find_cut(tree.keys, node[KEY_START], width, word)
                child = first + (cut if cut >= 0 else width)
                if cut >= 0 and offset < MOST_PROVEN:
                    key = node[KEY_START] + 2 * cut
                    if tree.keys[key] == tree.keys[key + 1]:
                        proven |= np.int64(1) << offset
                if cut >= 0:
                    key = node[KEY_START] + 2 * cut
                    reach *= cut_chance(statistics, tree.keys[key], tree.keys[key + 1])
                offset += 1
            node[WEIGHT] += sign
            tree.weights[child, 0] += sign
            tasks[depth, 0], tasks[depth, 1], tasks[depth, 2], tasks[depth, 3] = (
                child, offset, proven, flags,
            )  # fmt: skip
            places[depth, :4] = region
            places[depth, 4], places[depth, 5] = copies, reach
            depth += 1
            continue
        height, edge = node[HEIGHT], node[KEY_START]
        cells = width * height
        copies *= max(1.0, node[WEIGHT] / max(1, arrived))
        if holds(bounds, region):
            node[WEIGHT] += sign
            tree.weights[first + cells, 0] += sign
            tasks[depth, 0], tasks[depth, 1], tasks[depth, 2], tasks[depth, 3] = (
                first + cells, offset, proven, flags & ~BY_SPACE,
            )  # fmt: skip
            places[depth, :4] = region
            places[depth, 4], places[depth, 5] = copies, reach
            depth += 1
            continue
        x0 = find_slab(tree.edges, edge, width - 1, bounds[0])
        x1 = find_slab(tree.edges, edge, width - 1, bounds[2])
        y0 = find_slab(tree.edges, edge + width - 1, height - 1, bounds[1])
        y1 = find_slab(tree.edges, edge + width - 1, height - 1, bounds[3])
        touched = (x1 - x0 + 1) * (y1 - y0 + 1)
        node[WEIGHT] += sign * touched
        if depth + touched > len(tasks):
            wider_tasks = np.empty((2 * (depth + touched), 4), np.int64)
            wider_tasks[:depth] = tasks[:depth]
            wider_places = np.empty((2 * (depth + touched), 6), np.float64)
            wider_places[:depth] = places[:depth]
            tasks, places = wider_tasks, wider_places
        for row in range(y0, y1 + 1):
            for column in range(x0, x1 + 1):
                child = first + row * width + column
                tree.weights[child, 0] += sign
                tasks[depth, 0], tasks[depth, 1], tasks[depth, 2], tasks[depth, 3] = (
                    child, offset, proven, flags,
                )  # fmt: skip
                places[depth, :4] = region
                places[depth, 4] = copies
                places[depth, 5] = reach * tree.weights[child, 0] / max(1, node[WEIGHT])
                if column:
                    places[depth, 0] = tree.edges[edge + column - 1]
                if column + 1 < width:
                    places[depth, 2] = tree.edges[edge + column]
                if row:
                    places[depth, 1] = tree.edges[edge + width - 1 + row - 1]
                if row + 1 < height:
                    places[depth, 3] = tree.edges[edge + width - 1 + row]
                depth += 1
    return tree, False


@njit(cache=True, nogil=True)
def change_all(tree, clauses, statistics, settings, records, world, adding):
    """`change` for each record; stops early when the root is due: (tree, whether it is)."""
    for i in range(len(records)):
        tree, rank_again = change(tree, clauses, statistics, settings, records[i], world, adding)
        if rank_again:
            return tree, True
        if tree.used[GARBAGE] > 1024 + tree.used[RECORDS] // 2:
            tree = repack(tree)
    return tree, False


@njit(cache=True, nogil=True)
def repack(tree):
    """The same tree in arrays of exactly the size it needs.  O(tree)."""
    size = subtree_size(tree, tree.used[ROOT])
    new = Tree(
        np.empty((size[NODES], 8), np.int32),
        np.empty(size[KEYS], np.int32),
        np.empty(size[EDGES], np.float32),
        np.empty(size[CHILDREN], np.int64),
        np.empty((size[CHILDREN], 2), np.int32),
        np.empty((size[RECORDS], 8), np.int32),
        np.zeros(8, np.int64),
    )
    new.used[ENTRIES] = tree.used[ENTRIES]
    old = np.empty(size[CHILDREN] + 1, np.int64)
    position = np.empty(size[CHILDREN] + 1, np.int64)
    old[0], position[0] = tree.used[ROOT], -1
    depth = 1
    while depth:
        depth -= 1
        reference, at = old[depth], position[depth]
        what = reference & 3
        if what == EMPTY:
            set_child(new, at, EMPTY)
            continue
        if what == RUN:
            start, count = run_start(reference), run_count(reference)
            to = new.used[RECORDS]
            new.records[to : to + count] = tree.records[start : start + count]
            # The spare row is never read, but saved files should not hold what was in memory.
            new.records[to + count : to + run_room(count)] = 0
            new.used[RECORDS] += run_room(count)
            set_child(new, at, run_reference(to, count))
            continue
        node = tree.nodes[reference >> 2]
        children = children_of(node, what)
        row, first = new.used[NODES], new.used[CHILDREN]
        new.nodes[row] = node
        new.nodes[row, CHILD_START] = first
        key = node[KEY_START]
        if what == KEYWORD_NODE:
            keys = 2 * node[WIDTH]
            to = new.used[KEYS]
            new.keys[to : to + keys] = tree.keys[key : key + keys]
            new.used[KEYS] += keys
        else:
            lines = node[WIDTH] + node[HEIGHT] - 2
            to = new.used[EDGES]
            new.edges[to : to + lines] = tree.edges[key : key + lines]
            new.used[EDGES] += lines
        new.nodes[row, KEY_START] = to
        new.used[NODES] += 1
        new.used[CHILDREN] += children
        old_first = node[CHILD_START]
        new.weights[first : first + children] = tree.weights[old_first : old_first + children]
        set_child(new, at, (row << 2) | what)
        for i in range(children):
            old[depth] = tree.children[old_first + i]
            position[depth] = first + i
            depth += 1
    return new
