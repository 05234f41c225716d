"""The running example of the paper for nearness: Fig. 2 and 4, Table 1, Example 2.

The text gives neither the decay nor `a`. Of 180 pairs that were tried, with d3 saying w3 once or
twice, none gives more than 6 of the 12 rows of Table 1; the pair below is one of those that give 6.
So these 6 rows are pinned down, and every list is compared with the definition. Places of Example 2
are lost with the figure: only the rule is tested.
"""

import pytest

from nearcast.model import Message, NearbyTrendingSubscription, Point, Space
from nearcast.trending import FTS, SST, TS, NearbyBaseline, ScanTrending, TermFields
from nearcast.trending._nearby.documents import HELD, START
from nearcast.trending.sst import _groups

DOCUMENTS = [  # words, time, distance to s1; d3 says w3 twice (Fig. 4)
    ("w1 w3", 1001, 0.50),
    ("w1 w3 w5", 1005, 0.35),
    ("w2 w3 w4", 1007, 0.30),
    ("w3 w3 w5", 1010, 0.30),
    ("w1 w2 w5", 1015, 0.45),
    ("w2 w3 w6", 1022, 0.20),
    ("w1 w3 w4", 1024, 0.25),
    ("w3 w5", 1036, 0.20),
    ("w3 w6", 1056, 0.30),
    ("w2 w3 w5", 1080, 0.10),
    ("w1 w3 w6", 1122, 0.60),
    ("w2 w4 w6", 1146, 0.15),
]
MESSAGES = [
    Message(f"d{n}", text=words, at=Point(away, 0.0, space=Space.PLANE), time=time)
    for n, (words, time, away) in enumerate(DOCUMENTS)
]
S1 = NearbyTrendingSubscription("s1", Point(0.0, 0.0, space=Space.PLANE), k=3)
SETTINGS = {"half_life": 20.0, "a": 0.01, "space": Space.PLANE}


@pytest.mark.parametrize("kind", [NearbyBaseline, TS, FTS, SST, TermFields])
def test_table_1(kind):
    index, oracle = kind(max_error=0.0, **SETTINGS), ScanTrending(**SETTINGS)
    index.subscribe(S1)
    oracle.subscribe(S1)
    lists = []
    for message in MESSAGES:
        index.publish(message)
        oracle.publish(message)
        assert dict(index.top("s1")) == pytest.approx(dict(oracle.top("s1")))
        lists.append(" ".join(term for term, _ in index.top("s1")))
    assert lists[:2] == ["w1 w3", "w1 w3 w5"]
    assert lists[3] == "w3 w5 w1"
    assert lists[5:8] == ["w3 w2 w5", "w3 w2 w1", "w3 w5 w2"]


def test_inverted_file_of_figure_4():
    index = SST(max_error=0.0, **SETTINGS)
    for message in MESSAGES[:6]:
        index.publish(message)
    documents = index._documents
    times = {index._vocabulary.term(n): _times(documents, n) for n in range(6)}
    assert times == {
        "w1": [(1001, 1), (1005, 1), (1015, 1)],
        "w2": [(1007, 1), (1015, 1), (1022, 1)],
        "w3": [(1001, 1), (1005, 1), (1007, 1), (1010, 2), (1022, 1)],
        "w4": [(1007, 1)],
        "w5": [(1005, 1), (1010, 1), (1015, 1)],
        "w6": [(1022, 1)],
    }


def test_groups_of_example_2():
    """A document joins the group that stays the smallest, or begins one when all get too long."""
    index = SST(max_error=0.0, **SETTINGS)  # groups of 0.1 at the most
    for n, x in enumerate([0.0, 0.3, 0.35, 0.09, 0.31, 0.6]):
        at = Point(x, 0.0, space=Space.PLANE)
        index.publish(Message(n, text="tea", at=at, time=0.0))
    groups, found = index._groups, []
    g = int(groups.first[0, _groups.FIRST])
    while g >= 0:
        found.append((groups.box[g, _groups.LOW], groups.box[g, _groups.HIGH]))
        g = int(groups.next[g])
    assert sorted(found) == [(0.0, 0.09), (0.3, 0.35), (0.6, 0.6)]


def _times(documents, term):
    start, held = int(documents.lists[term, START]), int(documents.lists[term, HELD])
    postings = range(start, start + held)
    half_life = SETTINGS["half_life"]
    return [
        (round(documents.place[documents.doc[p], 6] * half_life), int(documents.times[p]))
        for p in postings
    ]
