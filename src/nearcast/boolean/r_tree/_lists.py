"""The inverted lists of a node: for each word the children below which entries have it.

lists     int32[W, 4]      word, and three sets of children: bit i of each is child i

A node owns a hash table of such rows (linear probing, at most three quarters full), so that a word
is found with one look at memory, and the lists of a message's other words can be on their way
meanwhile. Read by columns, they are the token sets of the children.

The three sets and what a message must have for a child depend on the listing:

all words            LONE for each word of an entry         one of the words
one word             LONE for its rarest word               that word
several words        LONE for the word of an entry that     that word, or of the other two sets
                     has one, else FIRST for its rarest     one word each
                     and SECOND for another
all, counted         the set for entries of one word, of    one word, two words or three words
                     two, or of more                        of the child's, by the set

Sets name all that is below, and after removals perhaps more: a child may be visited in vain, never
missed. The other word of an entry changes from level to level: near the leaves it is the second
rarest, a level higher the third rarest, and so on in turn, so that a message needs more of an
entry's words the deeper it gets. Entries without a word are in the node's ALWAYS.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import ENTRY
from nearcast.boolean.r_tree._layout import (
    ALWAYS,
    COUNT,
    GARBAGE,
    HEIGHT,
    LEAST_ROWS,
    LIST_ROOM,
    LIST_START,
    LIST_WORDS,
    NO_WORD_HERE,
    NODES,
    ROWS,
    RTree,
    claim_rows,
    leaves_below,
    lists_of,
)
from nearcast.boolean.r_tree._seen import is_seen
from nearcast.inner import inner

ALL_WORDS, ONE_WORD, SEVERAL_WORDS, COUNTED_WORDS = range(4)  # listings

# Columns of `lists`. Where words are counted: entries of one word, of two, of three or more.
WORD, LONE, FIRST, SECOND = range(4)

# Reading a row in passing costs a quarter of finding one.
ROWS_PER_PROBE = 4


@njit(cache=True, nogil=True, inline="always")
def first_look(word, room):
    """Where in a table of so many rows the search for a word begins."""
    return (((np.int64(word) * 2654435769) & 0xFFFFFFFF) * room) >> 32


@njit(cache=True, nogil=True, inline="always")
def find_row(lists, start, room, word):
    """The row of a word, or the free row where it would be.  O(1) expected."""
    at = first_look(word, room)
    while lists[start + at, WORD] != word and lists[start + at, WORD] != NO_WORD_HERE:
        at += 1
        if at == room:
            at = 0
    return start + at


@njit(cache=True, nogil=True, inline="always")
def enter(lists, start, room, word, column, bit):
    """Add a child to a set of a word; returns how many rows this took, 0 or 1."""
    row = find_row(lists, start, room, word)
    is_new = lists[row, WORD] == NO_WORD_HERE
    lists[row, WORD] = word
    lists[row, column] |= bit
    return 1 if is_new else 0


@inner
def most_words(clauses, entry, listing):
    """How many rows an entry may take."""
    required = np.int64(clauses.required[entry])
    if listing == ONE_WORD:
        return min(required, 1)
    if listing == SEVERAL_WORDS:
        return min(required, 2)
    return required


@inner
def enter_entry(lists, start, room, clauses, entry, height, bit, listing):
    """List an entry with words for the child that `bit` is; there must be room.

    Returns how many rows this took.  O(words listed).
    """
    begin, required = clauses.start[entry], np.int64(clauses.required[entry])
    last = begin + required - 1  # the rarest word
    if listing in (ALL_WORDS, COUNTED_WORDS):
        column = LONE if listing == ALL_WORDS else min(required, 3)
        new = 0
        for i in range(begin, last + 1):
            new += enter(lists, start, room, clauses.terms[i], column, bit)
        return new
    if required == 1 or listing == ONE_WORD:
        return enter(lists, start, room, clauses.terms[last], LONE, bit)
    other = last - 1 - (height - 1) % (required - 1)
    new = enter(lists, start, room, clauses.terms[last], FIRST, bit)
    return new + enter(lists, start, room, clauses.terms[other], SECOND, bit)


@inner
def most_keys(clauses, entry, listing):
    """Of how many words, its rarest ones, a message must have all to look at an entry's record."""
    if listing == ALL_WORDS:
        return 0
    return min(np.int64(clauses.required[entry]), 1 if listing == ONE_WORD else 2)


@inner
def rehashed(lists, start, room, words):
    """The rows of a table that name a child, in one with room for `words` more: (rows, how many).

    O(rows).
    """
    kept = 0
    for i in range(start, start + room):
        kept += (lists[i, LONE] | lists[i, FIRST] | lists[i, SECOND]) != 0
    total = kept + words
    now = max(LEAST_ROWS, total + total * 2 // 3)
    rows = np.zeros((now, 4), np.int32)
    rows[:, WORD] = NO_WORD_HERE
    for i in range(start, start + room):
        if lists[i, LONE] | lists[i, FIRST] | lists[i, SECOND]:
            rows[find_row(rows, 0, now, lists[i, WORD])] = lists[i]
    return rows, kept


@inner
def is_crowded(words, room):
    """May a table of so many rows not have so many words?"""
    return 4 * words > 3 * room


@inner
def write_lists(tree, node, rows, words):
    """Give a node these rows as its inverted lists; the old ones become garbage.  O(rows)."""
    tree.used[GARBAGE] += tree.nodes[node, LIST_ROOM]
    tree, start = claim_rows(tree, len(rows))
    tree.lists[start : start + len(rows)] = rows
    tree.nodes[node, LIST_START], tree.nodes[node, LIST_ROOM] = start, len(rows)
    tree.nodes[node, LIST_WORDS] = words
    return tree


@inner
def list_entry(tree, clauses, settings, node, position, entry):
    """List one more entry below a child of the node.  O(words listed) amortised."""
    bit = 1 << position
    if clauses.required[entry] == 0:
        tree.nodes[node, ALWAYS] |= bit
        return tree
    more = most_words(clauses, entry, settings.listing)
    start, room = lists_of(tree, node)
    if is_crowded(tree.nodes[node, LIST_WORDS] + more, room):
        rows, words = rehashed(tree.lists, start, room, more)
        tree = write_lists(tree, node, rows, words)
        start, room = lists_of(tree, node)
    height = np.int64(tree.nodes[node, HEIGHT])
    tree.nodes[node, LIST_WORDS] += enter_entry(
        tree.lists, start, room, clauses, entry, height, bit, settings.listing
    )
    return tree


@inner
def list_child(tree, clauses, settings, node, position):
    """List everything below a child of the node.  O(entries below)."""
    child = tree.children[node * settings.fanout + position]
    height = np.int64(tree.nodes[node, HEIGHT])
    for leaf in leaves_below(tree, settings, child, height - 1):
        first = leaf * settings.leaf_capacity
        for i in range(first, first + tree.leaves[leaf, COUNT]):
            entry = tree.records[i, ENTRY]
            tree = list_entry(tree, clauses, settings, node, position, entry)
    return tree


@njit(cache=True, nogil=True)
def list_node(tree, clauses, settings, node):
    """Write the inverted lists of a node anew.  O(entries below)."""
    height = np.int64(tree.nodes[node, HEIGHT])
    tree.nodes[node, ALWAYS] = 0
    rows, words = rehashed(tree.lists, np.int64(0), np.int64(0), np.int64(256))
    for position in range(tree.nodes[node, COUNT]):
        bit = 1 << position
        child = tree.children[node * settings.fanout + position]
        for leaf in leaves_below(tree, settings, child, height - 1):
            first = leaf * settings.leaf_capacity
            for i in range(first, first + tree.leaves[leaf, COUNT]):
                entry = tree.records[i, ENTRY]
                if clauses.required[entry] == 0:
                    tree.nodes[node, ALWAYS] |= bit
                    continue
                more = most_words(clauses, entry, settings.listing)
                if is_crowded(words + more, len(rows)):
                    rows, words = rehashed(rows, np.int64(0), len(rows), words + more)
                words += enter_entry(
                    rows, np.int64(0), len(rows), clauses, entry, height, bit, settings.listing
                )
    rows, words = rehashed(rows, np.int64(0), len(rows), np.int64(0))
    return write_lists(tree, node, rows, words)


@inner
def move_bit(tree, node, source, target):
    """Child `source` becomes child `target`, whose bit is forgotten; the same: only forgotten.

    O(words of the node).
    """
    start, room = lists_of(tree, node)
    keep = ~((1 << source) | (1 << target))
    moves = source != target
    for row in range(start, start + room):
        for column in range(LONE, SECOND + 1):
            children = tree.lists[row, column]
            moved = ((children >> source) & 1) << target if moves else 0
            tree.lists[row, column] = (children & keep) | moved
    children = tree.nodes[node, ALWAYS]
    moved = ((children >> source) & 1) << target if moves else 0
    tree.nodes[node, ALWAYS] = (children & keep) | moved


@njit(cache=True, nogil=True)
def without_garbage(tree):
    """The tree with the inverted lists of its nodes side by side.  O(rows)."""
    lists = np.empty((tree.used[ROWS] - tree.used[GARBAGE], 4), np.int32)
    at = 0
    for node in range(tree.used[NODES]):
        start, room = lists_of(tree, node)
        lists[at : at + room] = tree.lists[start : start + room]
        tree.nodes[node, LIST_START] = at
        at += room
    tree.used[ROWS], tree.used[GARBAGE] = at, 0
    return RTree(
        tree.nodes, tree.boxes, tree.children, lists, tree.leaves,
        tree.records, tree.keys, tree.homes, tree.used,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def children_spoken_to(lists, start, room, listing, have, begin, end, seen):
    """The children that the words of a message, have[begin:end], let it visit, as bits.

    O(words of the message), or O(rows) where there are fewer of them.
    """
    lone, first, second = 0, 0, 0
    once, twice, thrice = 0, 0, 0
    reads_all = (end - begin) * ROWS_PER_PROBE > room
    for i in range(room if reads_all else end - begin):
        if reads_all:
            row = start + i
            word = lists[row, WORD]
            if word == NO_WORD_HERE or not is_seen(seen, have, begin, end, word):
                continue
        else:
            row = find_row(lists, start, room, have[begin + i])
        # A row without a word names no child.
        a, b, c = lists[row, LONE], lists[row, FIRST], lists[row, SECOND]
        lone |= a
        first |= b
        second |= c
        named = a | b | c
        thrice |= twice & named
        twice |= once & named
        once |= named
    if listing == COUNTED_WORDS:
        return lone | (first & twice) | (second & thrice)
    return lone | (first & second)
