"""The running example of the LFilter paper (CIKM 2015), whose figures 1, 2 and 4 are lost.

These twelve subscriptions are consistent with the text, statement by statement:

| id  | words | region         | what is said of it                                             |
|-----|-------|----------------|----------------------------------------------------------------|
| s1  | a b c | 25 0  30 20    | given; with s2 below node 1, whose box is (10, 0), (30, 40)    |
| s2  | a c d | 10 33 18 40    | matches m_r; leaf 7; three trie nodes (5-7) besides node 1     |
| s3  | b c d | 20 32 35 35    | given; leaves 2 and 3                                          |
| s4  | b c d | 20 10 28 18    | given; matches m_p                                             |
| s5  | b c h | 32 22 41 28    | leaf 5; s3, s5, s9 have the words b c d f h; node 12 not visited |
| s6  | b d   | 33 1  39 6     | node 14, pruned by its box; leaf 20, where b is pivotal        |
| s7  | b e f | 22 5  29 17    | matches m_p; nodes 16-18                                       |
| s8  | b f   | 1 33  6 43     | node 19, pruned by its box                                     |
| s9  | b f h | 21 16 24 24    | below node 19; leaves 4 and 18                                 |
| s10 | d e   | 25 12 38 18    | matches m_p and m_r; nodes 23-25; leaf 17, where d is pivotal  |
| s11 | e     | 12 15 18 25    | matches m_r; below node 26; leaves 10 and 12                   |
| s12 | e g h | -1 -2 8 8      | below node 26; leaf 14                                         |

Nodes of the trie are numbered in pre-order, a leaf as the first child of its node: 31 of them.
Cells of the quadtree too, 21 of them, quadrants counter-clockwise from the north-east; so node 1 is
the north-east, 6 the north-west, 11 the south-west, 16 the south-east. The text lists regions
that only touch a cell's border (s1 at x = 30 and y = 20) as outside of it; ours are closed, so that
the frame here is (-1, -2), (41, 43), whose lines at 20, 20.5 and 30.5 touch no border.

Three statements contradict others, and cannot be reproduced:
- "find an answer s1 in node 2" for m_p, and nodes 1-4 among the visited: s1 has the word a, which
  m_p lacks, as the text says elsewhere. A message with a as well visits just the printed nodes.
- s10 matches m_p, yet is not in the list {s1, s4, s7, s9} of the leaf where m_p is. It is in ours.
- Therefore leaf 18 has two pivotal words, b and d, where the text has b, and is a candidate for m_r
  beside 7, 10, 12 and 17. The sets of node 16 are as printed either way.
"""

from nearcast.batches import SubscriptionBatch
from nearcast.model import Box, Message, Point, Space, Subscription
from tests.boolean.hand_tree import Alphabetical

PLANE = Space.PLANE

WORDS = {
    "s1": "a b c",
    "s2": "a c d",
    "s3": "b c d",
    "s4": "b c d",
    "s5": "b c h",
    "s6": "b d",
    "s7": "b e f",
    "s8": "b f",
    "s9": "b f h",
    "s10": "d e",
    "s11": "e",
    "s12": "e g h",
}
REGIONS = {
    "s1": (25, 0, 30, 20),
    "s2": (10, 33, 18, 40),
    "s3": (20, 32, 35, 35),
    "s4": (20, 10, 28, 18),
    "s5": (32, 22, 41, 28),
    "s6": (33, 1, 39, 6),
    "s7": (22, 5, 29, 17),
    "s8": (1, 33, 6, 43),
    "s9": (21, 16, 24, 24),
    "s10": (25, 12, 38, 18),
    "s11": (12, 15, 18, 25),
    "s12": (-1, -2, 8, 8),
}
SUBSCRIPTIONS = [
    Subscription(id_, words.split(), Box(*REGIONS[id_], space=PLANE))
    for id_, words in WORDS.items()
]
BATCH = SubscriptionBatch.from_subscriptions(SUBSCRIPTIONS, space=PLANE)
IDS = list(WORDS)

M_P = Message("m_p", keywords=list("bcdef"), at=Point(26, 14, space=PLANE))
M_P_WITH_A = Message("m_p", keywords=list("abcdef"), at=Point(26, 14, space=PLANE))
M_R = Message("m_r", keywords=list("acde"), at=Box(10, 10, 40, 40, space=PLANE))
ANSWERS = {"m_p": {"s4", "s7", "s10"}, "m_r": {"s2", "s10", "s11"}}

LETTERS = "abcdefgh"


def alphabetical():
    """The order of words in the example."""
    return Alphabetical(BATCH.lexicon.to_pylist())


def built(index):
    """The index with the example in it, built at once."""
    index.insert_batch(BATCH)
    index.rebuild()
    index.check()
    return index


def ranks(index, message):
    """The message's words as the index knows them, ascending."""
    return sorted(index._store.ranks_of(sorted(set(message.keywords))).tolist())


def ids_of(index, slots):
    """The subscriptions in some slots, in their order."""
    return [index._store.ids.id_of(int(slot)) for slot in slots]


def trie_numbers(trie):
    """The number of each node of a trie, and of its leaf if it has one: pre-order, leaves first."""
    numbers, leaves = {}, {}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        numbers[node] = len(numbers) + len(leaves)
        first, count, _, run = trie.rows[node, :4].tolist()
        if run:
            leaves[node] = len(numbers) + len(leaves)
        waiting.extend(range(first + count - 1, first - 1, -1))
    return numbers, leaves


def cell_numbers(quadtree):
    """The cell with each number of Figure 4, beginning with the root of entries with words."""
    cells = []
    waiting = [0]
    while waiting:
        cell = waiting.pop()
        cells.append(cell)
        first = int(quadtree.nodes[cell, 0])
        if first:
            waiting.extend(first + quarter for quarter in (1, 0, 2, 3))
    return cells
