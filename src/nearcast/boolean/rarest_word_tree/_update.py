"""Entries that come and go.

A change goes along the entry's keywords, the rarest first, to the list it belongs to. A run that
overflows becomes a node; a node whose own entries doubled, or fell to half, since it was built, and
one that lost half of its children, is built again with all that hangs below it.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import (
    EMPTY,
    FORBIDS,
    RUN,
    SHAPED,
    SHARED,
    run_count,
    run_reference,
    run_start,
)
from nearcast.boolean.rarest_word_tree._build import build
from nearcast.boolean.rarest_word_tree._layout import (
    BY_PLACE,
    CHILD_COUNT,
    CHILDREN,
    CHILDREN_AT,
    FREE_NODE,
    HEIGHT,
    LANES,
    LOST_CHILDREN,
    MOST_LANES,
    NODE,
    NODES,
    OWN,
    OWN_BUILT,
    TREE,
    Tree,
    border_at,
    claim_lanes,
    clear_lanes,
    find_child,
    get_reference,
    ints_of,
    lanes_for,
    number_at,
    prefetch_block,
    release_lanes,
    release_node,
    set_reference,
    shorts_of,
    width_for,
)
from nearcast.boolean.rarest_word_tree._pack import (
    BOX,
    ENTRY,
    FLAGS,
    SLOT,
    entry_in,
    lane_word,
    next_word,
    write_lane,
)
from nearcast.boolean.rarest_word_tree._r_tree import insert_lane, next_block
from nearcast.inner import inner, leaf
from nearcast.prefetch import prefetch_row

TOGETHER = 256
SLACK = 64  # a small list is not built again for a few changes


@inner
def _take_lanes(tree, clauses, chains, start, size, arena, total):
    """Move what is in some lanes to the arena; returns how much the arena holds then."""
    shorts, ints = shorts_of(tree.lines), ints_of(tree.lines)
    width = width_for(size)
    for position in range(start, start + size):
        number, border = number_at(position, width), border_at(position, width)
        if ints[number] < 0:
            continue
        row = arena[total]
        row[ENTRY] = entry_in(tree, chains, position, width)
        row[SLOT] = clauses.slot[row[ENTRY]]
        row[FLAGS] = ints[number + width] & (SHAPED | SHARED | FORBIDS)
        for c in range(4):
            row[BOX + c] = shorts[border + c * width]
        total += 1
    release_lanes(tree, start, size)
    return total


@inner
def gather(tree, clauses, chains, reference, spare):
    """All entries below a reference in an arena with `spare` free rows at the end.  O(n).

    What held them is given back.
    """
    arena = np.empty((64 + spare, 8), np.int32)
    total = np.int64(0)
    waiting = np.empty(64, np.int64)  # references; blocks of R-trees as negative numbers
    waiting[0] = reference
    depth = 1
    while depth:
        depth -= 1
        now = waiting[depth]
        if total + MOST_LANES + spare > len(arena):
            more = np.empty((2 * len(arena), 8), np.int32)
            more[:total] = arena[:total]
            arena = more
        if now < 0:
            block, height = -now >> 8, -now & 255
            if height == 0:
                total = _take_lanes(
                    tree, clauses, chains, block, np.int64(MOST_LANES), arena, total
                )
                continue
            waiting = _with_room(waiting, depth + MOST_LANES)
            ints, numbers = ints_of(tree.lines), number_at(block, MOST_LANES)
            for lane in range(MOST_LANES):
                child = np.int64(ints[numbers + lane])
                if child >= 0:
                    waiting[depth] = -(child << 8 | (height - 1))
                    depth += 1
            release_lanes(tree, block, np.int64(MOST_LANES))
        elif now & 3 == RUN:
            size = lanes_for(run_count(now))
            total = _take_lanes(tree, clauses, chains, run_start(now), size, arena, total)
        elif now & 3 == NODE:
            row = now >> 2
            first, count = tree.nodes[row, CHILDREN_AT], tree.nodes[row, CHILD_COUNT]
            waiting = _with_room(waiting, depth + count + 1)
            if tree.nodes[row, TREE]:
                waiting[depth] = -(tree.nodes[row, TREE] << 8 | tree.nodes[row, HEIGHT])
                depth += 1
            waiting[depth : depth + count] = tree.child[first : first + count]
            depth += count
            release_node(tree, row)
    return arena[: total + spare]


@inner
def _with_room(array, needed):
    if needed <= len(array):
        return array
    more = np.empty(2 * needed, array.dtype)
    more[: len(array)] = array
    return more


@inner
def _rebuild(tree, clauses, chance, chains, holder, depth):
    """Build everything that hangs at a holder again."""
    arena = gather(tree, clauses, chains, get_reference(tree, holder), np.int64(0))
    set_reference(tree, holder, EMPTY)
    return build(tree, clauses, chance, arena, np.int64(0), len(arena), depth, holder)


@njit(cache=True, nogil=True)
def insert_all(tree, clauses, chance, chains, arena):
    """Add entries.  O(log n) each, amortised.

    Some at a time: what an entry will read is asked for while others are on their way.
    """
    for low in range(0, len(arena), TOGETHER):
        high = min(low + TOGETHER, len(arena))
        for i in range(low, high):
            prefetch_row(tree.root, _first_list(clauses, arena[i, ENTRY]))
        for i in range(low, high):
            reference = tree.root[_first_holder(tree, clauses, arena[i, ENTRY])[1]]
            if reference & 3 == RUN:
                prefetch_row(tree.lines, run_start(reference) // LANES)
            elif reference & 3 == NODE:
                prefetch_row(tree.nodes, reference >> 2)
        for i in range(low, high):
            reference = tree.root[_first_holder(tree, clauses, arena[i, ENTRY])[1]]
            if reference & 3 == NODE:
                _prefetch_below(tree, reference >> 2)
            elif reference & 3 == RUN:
                _prefetch_moved(tree, chains, reference)
        for i in range(low, high):
            reference = tree.root[_first_holder(tree, clauses, arena[i, ENTRY])[1]]
            if reference & 3 == NODE:
                _prefetch_next_block(tree, reference >> 2, arena[i])
            elif reference & 3 == RUN:
                _prefetch_places(tree, chains, reference)
        for i in range(low, high):
            tree = _insert(tree, clauses, chance, chains, arena[i])
    return tree


@leaf
def _prefetch_below(tree, node):
    """Of a node, its children's words and the root of its R-tree."""
    prefetch_row(tree.child_word, tree.nodes[node, CHILDREN_AT])
    prefetch_block(tree.lines, tree.nodes[node, TREE])


@leaf
def _prefetch_next_block(tree, node, row):
    """Of a node, the block below the root of its R-tree that an entry would go to."""
    if tree.nodes[node, HEIGHT]:
        prefetch_block(tree.lines, next_block(tree.lines, tree.nodes[node, TREE], row))


@leaf
def _is_to_move(count):
    """Has a run of so many entries to go elsewhere when it gets one more?"""
    return lanes_for(count + 1) != lanes_for(count)


@leaf
def _prefetch_moved(tree, chains, reference):
    """Of a run that one more will move, what tells which entries are in it."""
    start, count = run_start(reference), run_count(reference)
    if _is_to_move(count):
        ints, width = ints_of(tree.lines), width_for(count)
        for position in range(start, start + count):
            prefetch_row(chains.first, ints[number_at(position, width)])


@leaf
def _prefetch_places(tree, chains, reference):
    """Of a run that one more will move, where its entries are."""
    start, count = run_start(reference), run_count(reference)
    if _is_to_move(count):
        ints, width = ints_of(tree.lines), width_for(count)
        for position in range(start, start + count):
            # The number may be an entry instead, where clauses are long: then nothing is gained.
            slot = min(ints[number_at(position, width)], len(chains.first) - 1)
            prefetch_row(tree.where, chains.first[slot])


@inner
def _insert(tree, clauses, chance, chains, row):
    entry = row[ENTRY]
    depth, holder = _first_holder(tree, clauses, entry)
    while True:
        reference = get_reference(tree, holder)
        if reference & 3 != NODE:
            return _add_to_run(tree, clauses, chance, chains, row, reference, depth, holder)
        node = reference >> 2
        at = _child_for(tree, clauses, node, entry, depth)
        if at < 0:
            break
        holder = ~at
        depth += 1
    tree = insert_lane(tree, chains, node, row, lane_word(clauses, entry, depth))
    tree.nodes[node, OWN] += 1
    if tree.nodes[node, OWN] > 2 * tree.nodes[node, OWN_BUILT] + SLACK:
        tree = _rebuild(tree, clauses, chance, chains, holder, depth)
    return tree


@leaf
def _first_holder(tree, clauses, entry):
    """(depth, holder) of an entry's way: the list of its rarest keyword, or the one by place."""
    holder = _first_list(clauses, entry)
    if holder == 0 or tree.root[holder] == BY_PLACE:
        return 0, np.int64(0)
    return 1, holder


@leaf
def _first_list(clauses, entry):
    """The list of an entry's rarest keyword, 0 where it has none."""
    return next_word(clauses, entry, 0) + 1


@inner
def _add_to_run(tree, clauses, chance, chains, row, reference, depth, holder):
    count = run_count(reference) if reference != EMPTY else 0
    if count == MOST_LANES:
        arena = gather(tree, clauses, chains, reference, np.int64(1))
        arena[count] = row
        set_reference(tree, holder, EMPTY)
        return build(tree, clauses, chance, arena, np.int64(0), count + 1, depth, holder)
    tree, start = _run_with_room(tree, chains, reference, count, count + 1)
    word = lane_word(clauses, row[ENTRY], depth)
    write_lane(tree, row, start + count, width_for(count + 1), word)
    set_reference(tree, holder, run_reference(start, count + 1))
    return tree


@inner
def _run_with_room(tree, chains, reference, count, wanted):
    """A run of `count` entries, or none, where so many have room: (tree, its first lane)."""
    if count and lanes_for(wanted) == lanes_for(count):
        return tree, run_start(reference)
    tree, start = claim_lanes(tree, lanes_for(wanted))
    if count:
        old = run_start(reference)
        for i in range(min(count, wanted)):
            _move_lane(tree, chains, old + i, width_for(count), start + i, width_for(wanted))
        release_lanes(tree, old, lanes_for(count))
    return tree, start


@leaf
def _move_lane(tree, chains, source, source_width, target, width):
    """What is in a lane goes to another one."""
    moved = entry_in(tree, chains, source, source_width)
    shorts, ints = shorts_of(tree.lines), ints_of(tree.lines)
    old_border, border = border_at(source, source_width), border_at(target, width)
    for c in range(4):
        shorts[border + c * width] = shorts[old_border + c * source_width]
    old_number, number = number_at(source, source_width), number_at(target, width)
    for c in range(2):
        ints[number + c * width] = ints[old_number + c * source_width]
    tree.where[moved] = target


@njit(cache=True, nogil=True)
def remove_all(tree, clauses, chance, chains, entries):
    """Take entries out.  O(log n) each, amortised."""
    for i in range(len(entries)):
        tree = _remove(tree, clauses, chance, chains, entries[i])
    return tree


@njit(cache=True, nogil=True)
def relocate_all(tree, clauses, chains, arena):
    """Entries that are there have other boxes now.  O(1) each in a run, O(log n) in a node.

    They stay in the lists of their keywords, so that none grows or shrinks.
    """
    for low in range(0, len(arena), TOGETHER):
        high = min(low + TOGETHER, len(arena))
        for i in range(low, high):
            prefetch_row(tree.root, _first_list(clauses, arena[i, ENTRY]))
            prefetch_row(tree.lines, tree.where[arena[i, ENTRY]] // LANES)
        for i in range(low, high):
            reference = tree.root[_first_holder(tree, clauses, arena[i, ENTRY])[1]]
            if reference & 3 == NODE:
                prefetch_row(tree.nodes, reference >> 2)
        for i in range(low, high):
            reference = tree.root[_first_holder(tree, clauses, arena[i, ENTRY])[1]]
            if reference & 3 == NODE:
                _prefetch_below(tree, reference >> 2)
        for i in range(low, high):
            entry = arena[i, ENTRY]
            depth, holder = _last_holder(tree, clauses, entry)
            reference, word = get_reference(tree, holder), lane_word(clauses, entry, depth)
            if reference & 3 == NODE:
                clear_lanes(tree.lines, tree.where[entry], 1, MOST_LANES)
                tree = insert_lane(tree, chains, reference >> 2, arena[i], word)
            else:
                width = width_for(run_count(reference))
                write_lane(tree, arena[i], tree.where[entry], width, word)
    return tree


@leaf
def _last_holder(tree, clauses, entry):
    """(depth, holder) of the list that an entry is in."""
    depth, holder = _first_holder(tree, clauses, entry)
    while get_reference(tree, holder) & 3 == NODE:
        at = _child_for(tree, clauses, get_reference(tree, holder) >> 2, entry, depth)
        if at < 0:
            break
        holder = ~at
        depth += 1
    return depth, holder


@inner
def _remove(tree, clauses, chance, chains, entry):
    depth, holder = _last_holder(tree, clauses, entry)
    reference = get_reference(tree, holder)
    position = tree.where[entry]
    tree.where[entry] = -1  # else `entry_in` could take it for what comes to lie there
    if reference & 3 == NODE:
        clear_lanes(tree.lines, position, 1, MOST_LANES)
        row = reference >> 2
        tree.nodes[row, OWN] -= 1
        own, built = tree.nodes[row, OWN], tree.nodes[row, OWN_BUILT]
        if 2 * own + SLACK < built or (own == 0 and tree.nodes[row, CHILD_COUNT] == 0):
            tree = _rebuild(tree, clauses, chance, chains, holder, depth)
    else:
        tree = _drop_from_run(tree, chains, reference, position, holder)
    if holder < 0 and get_reference(tree, holder) == EMPTY:
        tree = _forget_children(tree, clauses, chance, chains, entry)
    return tree


@leaf
def _child_for(tree, clauses, node, entry, depth):
    """Where the child for an entry's next keyword is, or -1."""
    word = next_word(clauses, entry, depth)
    return -1 if word < 0 else find_child(tree, node, word)


@inner
def _forget_children(tree, clauses, chance, chains, entry):
    """Build again the first node on an entry's way more than half of whose children are gone.

    O(children), when a child has just become empty.
    """
    depth, holder = _first_holder(tree, clauses, entry)
    while get_reference(tree, holder) & 3 == NODE:
        node = get_reference(tree, holder) >> 2
        first, count = tree.nodes[node, CHILDREN_AT], tree.nodes[node, CHILD_COUNT]
        if 2 * (tree.child[first : first + count] == EMPTY).sum() > count:
            return _rebuild(tree, clauses, chance, chains, holder, depth)
        at = _child_for(tree, clauses, node, entry, depth)
        if at < 0:
            break
        holder = ~at
        depth += 1
    return tree


@inner
def _drop_from_run(tree, chains, reference, position, holder):
    """Free a lane of a run; the last one takes its place."""
    start, count = run_start(reference), run_count(reference)
    last, width = start + count - 1, width_for(count)
    if last != position:
        _move_lane(tree, chains, last, width, position, width)
    clear_lanes(tree.lines, last, 1, width)
    if count == 1:
        release_lanes(tree, start, 1)
        set_reference(tree, holder, EMPTY)
        return tree
    half = lanes_for(count - 1)
    if width_for(half) < width:
        tree, start = _run_with_room(tree, chains, reference, count, count - 1)
    elif half < lanes_for(count):
        release_lanes(tree, start + half, half)
    set_reference(tree, holder, run_reference(start, count - 1))
    return tree


@njit(cache=True, nogil=True)
def with_packed_children(tree):
    """The tree without the places of children that belong to no node.  O(children)."""
    kept = tree.used[CHILDREN] - tree.used[LOST_CHILDREN]
    child_word, child = np.empty(max(16, kept), np.int32), np.empty(max(16, kept), np.int64)
    is_free = np.zeros(tree.used[NODES], np.bool_)
    is_free[0] = True
    row = tree.used[FREE_NODE]
    while row:
        is_free[row] = True
        row = tree.nodes[row, 0]
    at = 0
    for row in range(tree.used[NODES]):
        if is_free[row]:
            continue
        first, count = tree.nodes[row, CHILDREN_AT], tree.nodes[row, CHILD_COUNT]
        child_word[at : at + count] = tree.child_word[first : first + count]
        child[at : at + count] = tree.child[first : first + count]
        tree.nodes[row, CHILDREN_AT] = at
        at += count
    tree.used[CHILDREN], tree.used[LOST_CHILDREN] = at, 0
    return Tree(tree.lines, tree.root, tree.nodes, child_word, child, tree.where, tree.used)
