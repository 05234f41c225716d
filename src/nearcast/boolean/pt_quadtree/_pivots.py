"""Which words stand for the entries of a list, and for those of all lists below a cell?

numbering  int32[words]   all zero between calls: where a word is found again while a list is read
shelf      int32[S]       sets of words, one after the other; `sets` says where they are
sets       int64[K, 8]    start and size of a cell's own set, of what covers the lists below it, of
                          what else is below, and of all of it, each word doubled, plus one when the
                          word is in every list of the cell and below

Pivotal words are the greedy hitting set of section 4.1: the word that most entries have, then the
word that most of the others have, until every entry has one.
"""

import numpy as np
from numba import njit

from nearcast.boolean._records import EMPTY, ENTRY, run_count, run_start
from nearcast.boolean._verify import grown
from nearcast.boolean.mbr_trie._layout import lower_bound
from nearcast.boolean.pt_quadtree._layout import (
    BELOW,
    COVER,
    FIRST,
    NODES,
    OWN,
    PARENT,
    copy_words,
    put_set,
)
from nearcast.inner import inner


@inner
def chain(head, tail, following, turn, number):
    """Put a word at the end of the chain for its turn."""
    following[number] = -1
    if head[turn] < 0:
        head[turn] = number
    else:
        following[tail[turn]] = number
    tail[turn] = number


@njit(cache=True, nogil=True)
def hitting_set(clauses, records, numbering):
    """Few words, ascending, of which every record's entry has one.  O(words of the entries).

    Words are chained by how many entries are left that have them; a word whose number has become
    less since is put off until its turn comes.
    """
    total = 0
    for i in range(len(records)):
        total += np.int64(clauses.required[records[i, ENTRY]])
    word_of = np.empty(total, np.int32)  # by number in this list
    words = 0
    left = np.zeros(total, np.int32)  # entries without a pivotal word that have it
    for i in range(len(records)):
        start = clauses.start[records[i, ENTRY]]
        for j in range(start, start + clauses.required[records[i, ENTRY]]):
            word = clauses.terms[j]
            if numbering[word] == 0:
                word_of[words] = word
                words += 1
                numbering[word] = words
            left[numbering[word] - 1] += 1
    member_start = np.zeros(words + 1, np.int64)
    fill = np.empty(words, np.int64)
    most = 0
    for number in range(words):
        fill[number] = member_start[number]
        member_start[number + 1] = member_start[number] + left[number]
        most = max(most, left[number])
    members = np.empty(total, np.int32)  # the entries that have each word
    for i in range(len(records)):
        start = clauses.start[records[i, ENTRY]]
        for j in range(start, start + clauses.required[records[i, ENTRY]]):
            number = numbering[clauses.terms[j]] - 1
            members[fill[number]] = i
            fill[number] += 1
    # Chains of the words with so many entries left; those equal are taken in the order they came.
    head, tail = np.empty(most + 1, np.int32), np.empty(most + 1, np.int32)
    for turn in range(most + 1):
        head[turn] = -1
    following = np.empty(words, np.int32)
    for number in range(words):
        chain(head, tail, following, left[number], number)
    has_pivot = np.zeros(len(records), np.bool_)
    chosen = np.empty(words, np.int32)
    count = 0
    turn = most
    while turn > 0:
        number = head[turn]
        if number < 0:
            turn -= 1
            continue
        head[turn] = following[number]
        if left[number] < turn:
            chain(head, tail, following, left[number], number)
            continue
        chosen[count] = word_of[number]
        count += 1
        for k in range(member_start[number], member_start[number + 1]):
            i = members[k]
            if has_pivot[i]:
                continue
            has_pivot[i] = True
            start = clauses.start[records[i, ENTRY]]
            for j in range(start, start + clauses.required[records[i, ENTRY]]):
                left[numbering[clauses.terms[j]] - 1] -= 1
    for number in range(words):
        numbering[word_of[number]] = 0
    chosen = chosen[:count]
    chosen.sort()
    return chosen


@inner
def without(words, others):
    """The ascending `words` that are not among the ascending `others`.  O(both)."""
    kept = np.empty(len(words), np.int32)
    count, j = 0, 0
    for word in words:
        while j < len(others) and others[j] < word:
            j += 1
        if j == len(others) or others[j] != word:
            kept[count] = word
            count += 1
    return kept[:count]


@inner
def shelve(shelf, sets, i, column, words, end):
    """Put a set on the shelf: (shelf, its end)."""
    if end + len(words) > len(shelf):
        shelf = grown(shelf, end + len(words))
    copy_words(words, 0, len(words), shelf, end)
    sets[i, column], sets[i, column + 1] = end, len(words)
    return shelf, end + len(words)


@inner
def unite(shelf, sets, i, first, own):
    """What covers the lists below the children first:first+4, what else is there, and all of it."""
    size, held = 0, 0
    for child in range(first, first + 4):
        size += sets[child, 7]
        held += sets[child, 7] > 0
    every = np.empty(size + len(own), np.int32)
    size = 0
    for child in range(first, first + 4):
        start, count = sets[child, 6], sets[child, 7]
        copy_words(shelf, start, start + count, every, size)
        size += count
    words = every[:size]
    words.sort()
    cover, below = np.empty(size, np.int32), np.empty(size, np.int32)
    covers, belows = 0, 0
    at = 0
    while at < size:
        word, children = every[at] >> 1, 0
        while at < size and every[at] >> 1 == word:
            children += every[at] & 1
            at += 1
        if children == held:
            cover[covers] = word
            covers += 1
        else:
            below[belows] = word
            belows += 1
    cover, below = cover[:covers], below[:belows]
    # The words of all lists here and below, marked when they are in each of them.
    size = 0
    for word in cover:
        at = lower_bound(own, 0, len(own), word)
        every[size] = 2 * word + (len(own) == 0 or (at < len(own) and own[at] == word))
        size += 1
    for word in below:
        every[size] = 2 * word
        size += 1
    for word in without(without(own, cover), below):
        every[size] = 2 * word + (held == 0)
        size += 1
    return cover, below, every[:size]


@njit(cache=True, nogil=True)
def fit_sets(quadtree, lists, clauses, numbering, root, first_new):
    """Compute the sets of a cell and of all cells since `first_new`, which are those below it.

    Returns the quadtree and the words of all lists below.  O(words of entries + sets log sets) for
    each level.
    """
    count = 1 + quadtree.used[NODES] - first_new
    sets = np.zeros((count, 8), np.int64)
    shelf = np.empty(1024, np.int32)
    end = np.int64(0)
    for i in range(count - 1, -1, -1):  # children come after their parents
        node = root if i == 0 else first_new + i - 1
        own = np.empty(0, np.int32)
        reference = quadtree.lists[node]
        if reference != EMPTY:
            start = run_start(reference)
            own = hitting_set(
                clauses, lists.records[start : start + run_count(reference)], numbering
            )
        shelf, end = shelve(shelf, sets, i, np.int64(0), own, end)
        if quadtree.nodes[node, FIRST]:
            first = quadtree.nodes[node, FIRST] - first_new + 1
            cover, below, every = unite(shelf, sets, i, first, own)
            shelf, end = shelve(shelf, sets, i, np.int64(2), cover, end)
            shelf, end = shelve(shelf, sets, i, np.int64(4), below, end)
        else:
            every = np.empty(len(own), np.int32)
            for j in range(len(own)):
                every[j] = 2 * own[j] + 1
        shelf, end = shelve(shelf, sets, i, np.int64(6), every, end)
    none = np.empty(0, np.int32)
    for i in range(count):
        node = root if i == 0 else first_new + i - 1
        own = shelf[sets[i, 0] : sets[i, 0] + sets[i, 1]]
        cover = shelf[sets[i, 2] : sets[i, 2] + sets[i, 3]]
        below = shelf[sets[i, 4] : sets[i, 4] + sets[i, 5]]
        taken = none
        if i:
            parent = quadtree.nodes[node, PARENT]
            p = 0 if parent == root else parent - first_new + 1
            taken = shelf[sets[p, 2] : sets[p, 2] + sets[p, 3]]
        quadtree = put_set(quadtree, node, np.int64(OWN), without(own, taken))
        quadtree = put_set(quadtree, node, np.int64(COVER), without(cover, taken))
        quadtree = put_set(quadtree, node, np.int64(BELOW), below)
    words = shelf[sets[0, 6] : sets[0, 6] + sets[0, 7]]
    for j in range(len(words)):
        words[j] >>= 1
    return quadtree, words
