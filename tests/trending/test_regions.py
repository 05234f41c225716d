"""Lists of regions: the paper's stream, edges of the Earth, and what only these indexes have."""

from math import isclose

import numpy as np
import pyarrow as pa
import pytest

from nearcast.batches import MessageBatch
from nearcast.model import Box, Circle, Message, Point, Polygon, Space, TrendingSubscription
from nearcast.space import RegionColumn
from nearcast.trending import DS, RST, TP, CellRows, ScanTrending

REGIONS = [CellRows, RST, TP, DS]
HERE = Point(2.35, 48.86)

# Figure 2: what the documents say and when; d3 says w3 twice (figure 4).
STREAM = [
    ("w1 w3", 1001), ("w1 w3 w5", 1005), ("w2 w3 w4", 1007), ("w3 w3 w5", 1010), ("w1 w2 w5", 1015),
    ("w2 w3 w6", 1022), ("w1 w3 w4", 1024), ("w3 w5", 1036), ("w3 w6", 1056), ("w2 w3 w5", 1080),
    ("w1 w3 w6", 1122), ("w2 w4 w6", 1146),
]  # fmt: skip


def terms_of(index, id):
    return [term for term, _ in index.top(id)]


@pytest.mark.parametrize("kind", [ScanTrending, *REGIONS])
def test_stream_of_figure_2_in_a_region_that_has_all_documents(kind):
    """Definition 3 over the stream; decay so slow that frequencies decide, as in figure 4."""
    index = kind(half_life=1e6)
    index.subscribe(TrendingSubscription("s1", Circle(HERE, 1000.0), k=3))
    lists = []
    for number, (words, time) in enumerate(STREAM):
        index.publish(Message(number, text=words, at=HERE, time=time))
        lists.append(terms_of(index, "s1"))
    assert lists[0] == ["w1", "w3"]
    assert lists[3] == ["w3", "w5", "w1"]  # 5, 2 and 2 times; w5 was said later
    assert lists[4] == ["w3", "w5", "w1"]  # at 1015: 5, 3, 3
    assert lists[-1] == ["w3", "w2", "w1"]  # 11, 5 and 5 times, w5 5 times too but earlier
    top = dict(index.top("s1"))
    right = sum(2.0 ** -((1146 - time) / 1e6) * words.split().count("w3") for words, time in STREAM)
    assert isclose(top["w3"], right, rel_tol=1e-6)


@pytest.mark.parametrize("kind", REGIONS)
def test_order_stays_while_time_passes_and_scores_fall_alike(kind):
    """Lemma 4 and 5."""
    index = kind(half_life=10.0)
    index.subscribe(TrendingSubscription("s", Box(0, 0, 1, 1), k=3))
    for number, words in enumerate(["a1 b2", "b2 c3 c3 c3", "a1 a1"]):
        index.publish(Message(number, text=words, at=Point(0.5, 0.5), time=4.0 * number))
    before = index.top("s")
    assert index.advance(33.0) == []
    for (term, score), (later, less) in zip(before, index.top("s"), strict=True):
        assert term == later
        assert isclose(less, score * 2.0**-2.5, rel_tol=1e-12)
    score = dict(index.top("s"))["a1"]
    index.publish(Message(9, text="a1", at=Point(0.5, 0.5), time=33.0))
    assert isclose(dict(index.top("s"))["a1"], score + 1.0, rel_tol=1e-6)


@pytest.mark.parametrize("kind", REGIONS)
def test_antimeridian_and_poles(kind):
    index = kind(half_life=10.0)
    index.subscribe(TrendingSubscription("date line", Box(170, -10, -170, 10)))
    index.subscribe(TrendingSubscription("fiji", Circle(Point(179.5, 0), 150_000.0)))
    index.subscribe(TrendingSubscription("pole", Circle(Point(0, 90), 50_000.0)))
    index.subscribe(TrendingSubscription("hole", Polygon([
        [(-20, -20), (20, -20), (20, 20), (-20, 20)], [(-5, -5), (5, -5), (5, 5), (-5, 5)]
    ])))  # fmt: skip
    places = {
        "east": Point(179.9, 1), "west": Point(-179.9, 0), "line": Point(180, 0),
        "opposite": Point(-180, 5), "north": Point(77, 90), "near": Point(-120, 89.7),
        "middle": Point(0, 0), "ring": Point(10, 10), "edge": Point(5, 0),
        "wide": Box(175, -1, -175, 1),
    }  # fmt: skip
    for number, (word, at) in enumerate(places.items()):
        index.publish(Message(number, keywords=[word], at=at))
    assert set(terms_of(index, "date line")) == {"east", "west", "line", "wide", "opposite"}
    assert set(terms_of(index, "fiji")) == {"east", "west", "line", "wide"}
    assert set(terms_of(index, "pole")) == {"north", "near"}
    assert set(terms_of(index, "hole")) == {"ring", "edge"}
    index.check()


@pytest.mark.parametrize("kind", REGIONS)
def test_regions_of_very_different_sizes_far_out_in_a_plane(kind):
    index = kind(half_life=10.0, space=Space.PLANE)
    oracle = ScanTrending(half_life=10.0, space=Space.PLANE, a=1.0)
    boxes = [
        (0, 0, 1e-9, 1e-9), (-1e6, -1e6, 1e6, 1e6), (1e12, 1e12, 1e12 + 1, 1e12 + 1),
        (-1e60, -1e60, 1e60, 1e60), (3, 3, 3, 3),
    ]  # fmt: skip
    for number, corners in enumerate(boxes):
        for each in (index, oracle):
            box = Box(*corners, space=Space.PLANE)
            each.subscribe(TrendingSubscription(number, box, k=4))
    places = [(0, 0), (1e-9, 0), (3, 3), (1e12, 1e12), (1e60, -1e60), (1e6, 0), (1e12 + 1, 1e12)]
    for number, (x, y) in enumerate(places * 2):
        message = Message(
            number, keywords=[f"w{number % 3}", f"p{number % 7}"],
            at=Point(x, y, space=Space.PLANE), time=number,
        )  # fmt: skip
        for each in (index, oracle):
            each.publish(message)
    for number in range(len(boxes)):
        assert terms_of(index, number) == terms_of(oracle, number)
    index.check()


@pytest.mark.parametrize("kind", REGIONS)
def test_terms_that_are_no_longer_said_are_forgotten(kind):
    index = kind(half_life=1.0, horizon=2)
    index.subscribe(TrendingSubscription("s", Circle(HERE, 1000.0), k=5))
    for step in range(12):
        messages = [
            Message(n, keywords=[f"w{step}x{n}y{i}" for i in range(20)], at=HERE, time=3.0 * step)
            for n in range(60)
        ]
        index.publish_batch(MessageBatch.from_messages(messages))
    assert index.stats().terms == 1200
    assert len(index._vocabulary) < 10_000
    assert terms_of(index, "s") == sorted(f"w11x{n}y{i}" for n in range(60) for i in range(20))[:5]
    index.check()


def test_columns_are_as_good_as_objects():
    boxes = [[2.0, 48.0, 3.0, 49.0], [0.0, 0.0, 1.0, 1.0], [170.0, 0.0, -170.0, 1.0]]
    index = CellRows(half_life=10.0)
    regions = RegionColumn.of_boxes(boxes, Space.EARTH)
    index.subscribe_columns(pa.array([7, 8, 9]), regions, np.array([1, 2, 3], np.int32))
    index.publish(Message(1, text="rain in town", at=HERE))
    assert index.subscription(9) == TrendingSubscription(9, Box(*boxes[2]), 3)
    assert terms_of(index, 7) == ["rain"]
    index.check()


@pytest.mark.parametrize("k", [0, -1, 10_001, 10**9, 2**31, 10**12])
def test_a_list_has_a_term_at_least_and_not_very_many(k):
    index = CellRows(half_life=10.0)
    regions = RegionColumn.of_boxes([[2.0, 48.0, 3.0, 49.0]] * 2, Space.EARTH)
    with pytest.raises(ValueError, match=rf"subscription 8: k {k} is outside \[1, 10000\]"):
        index.subscribe_columns(pa.array([7, 8]), regions, np.array([1, k]))
    assert len(index) == 0
    index.check()


@pytest.mark.thorough
def test_similar_regions_are_one_group():
    index = RST(half_life=10.0, compactness=0.5)
    for number in range(5):
        shift = number * 0.01
        index.subscribe(TrendingSubscription(number, Box(shift, 0, 1 + shift, 1), k=2))
    index.subscribe(TrendingSubscription("far", Box(5, 5, 6, 6), k=2))
    assert len({int(index._group_of[index._slot(number)]) for number in range(5)}) == 1
    assert index._group_of[index._slot("far")] != index._group_of[index._slot(0)]
    with pytest.raises(ValueError, match="compactness"):
        RST(half_life=10.0, compactness=2.0)
