"""The default index: lanes, pairs of words, lists that become trees and back, memory, extremes."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from numba import njit

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import RarestWordTree, ScanIndex
from nearcast.boolean._clauses import Clauses
from nearcast.boolean._records import MORE, NO_WORD
from nearcast.boolean._words import clear_words, no_words, take_words
from nearcast.boolean.rarest_word_tree._frame import LOWEST, frame_of, step_of, steps_of
from nearcast.boolean.rarest_word_tree._lanes import (
    boxes_met,
    four_boxes_met,
    four_lanes_equal,
    keep_four_lanes,
    keep_lanes,
    lanes_equal,
    lanes_in,
)
from nearcast.boolean.rarest_word_tree._layout import (
    BLOCK,
    LANES,
    LINES,
    MOST_LANES,
    NODES,
    PAIR,
    SECOND_OF_PAIR,
    SHORTS,
    claim_lanes,
    empty_tree,
    ints_of,
    number_at,
    release_lanes,
    shorts_of,
)
from nearcast.boolean.rarest_word_tree._match import words_are_there
from nearcast.boolean.rarest_word_tree._pack import lane_word, write_box
from nearcast.checks.boolean import samples
from nearcast.model import ANY, Box, Circle, Message, Point, Space, Subscription
from nearcast.space import RegionColumn

# ---------------------------------------------------------------- the parts


def test_steps_keep_the_order_of_coordinates():
    random = np.random.default_rng(1)
    bounds = random.normal(0, 10, (5_000, 4)).astype(np.float32)
    knots = frame_of(bounds).knots_x
    values = np.sort(np.concatenate([random.normal(0, 30, 2_000), knots, [-1e300, 1e300, np.inf]]))
    steps = [step_of(knots, value) for value in values]
    assert steps == sorted(steps)
    assert steps[0] == LOWEST


WORLD = np.array([-180.0, -90.0, 180.0, 90.0])


def steps_in(frame, boxes):
    """The steps of the rectangles that cover these boxes, and these rectangles."""
    regions = RegionColumn.of_boxes(boxes, Space.EARTH)
    rows, bounds = regions.covers()
    steps = np.empty((len(rows), 4), np.int32)
    steps_of(frame, WORLD, bounds, np.ones(len(rows), bool), boxes[rows], steps)
    return rows, bounds, steps


def test_steps_are_those_of_exact_borders_where_bounds_are_rounded():
    boxes = np.sort(np.random.default_rng(2).normal(0, 10, (500, 4)), axis=1)
    frame = frame_of(boxes.astype(np.float32))
    _, bounds, steps = steps_in(frame, boxes)
    assert (bounds != boxes).any()
    for i, j in np.ndindex(boxes.shape):
        assert steps[i, j] == step_of(frame[j % 2], boxes[i, j])


@pytest.mark.parametrize(
    "ends",
    [(170.0, -170.0), (179.99999, -179.5), (-179.99999, -179.999999), (179.999999, 179.99999)],
)
def test_a_cut_at_the_antimeridian_is_no_border(ends):
    west, east = ends
    boxes = np.array([[west, -5.0, east, 5.0]])
    frame = frame_of(np.array([[west, -5, east, 5], [-180, -1, 180, 1]], np.float32))
    rows, _, steps = steps_in(frame, boxes)
    assert rows.tolist() == [0, 0]
    assert steps[:, 0].tolist() == [step_of(frame.knots_x, west), 0]
    assert steps[:, 2].tolist() == [32767, step_of(frame.knots_x, east)]


@pytest.mark.parametrize("borders", [[], [[0, 0, 0, 0]], [[-np.inf, -np.inf, np.inf, np.inf]]])
def test_a_frame_of_hardly_anything(borders):
    frame = frame_of(np.array(borders, np.float32).reshape(-1, 4))
    assert step_of(frame.knots_x, -5.0) <= step_of(frame.knots_x, 5.0)


@njit
def lanes_of(shorts, ints, start, width, place, value):
    """The masks of a line or a block."""
    east, north, west, south = place
    if width == LANES:
        return (
            four_boxes_met(shorts, SHORTS * start, east, north, west, south),
            four_lanes_equal(ints, number_at(start, width), value),
        )
    return (
        boxes_met(shorts, SHORTS * start, east, north, west, south),
        lanes_equal(ints, number_at(start, width), value),
    )


@pytest.mark.parametrize("borders", [np.arange(40), np.array([0, 1, 2, 31_745, 32_766, 32_767])])
@pytest.mark.parametrize("width", [LANES, MOST_LANES])
def test_boxes_are_compared_at_once_as_each_by_itself(width, borders):
    random = np.random.default_rng(2)
    tree, start = claim_lanes(empty_tree((31, 31)), width)
    for _ in range(500):
        boxes = random.choice(borders, (width, 4))
        for lane in range(width):
            write_box(tree.lines, start + lane, width, boxes[lane], lane % 7)
        west, south, east, north = random.choice(borders, 4).tolist()
        met, equal = lanes_of(
            shorts_of(tree.lines), ints_of(tree.lines), start, width,
            (east, north, west, south), 3,
        )  # fmt: skip
        for lane, (w, s, e, n) in enumerate(boxes):
            assert met >> lane & 1 == (w <= east and s <= north and e >= west and n >= south)
            assert equal >> lane & 1 == (lane % 7 == 3)


@njit
def kept(ints, at, mask, width):
    out = np.full(2 * width, -1, np.int32)
    if width == LANES:
        keep_four_lanes(ints, at, mask, out, 1)
    else:
        keep_lanes(ints, at, mask, out, 1)
    return out[1 : 1 + lanes_in(mask)]


@pytest.mark.parametrize("width", [LANES, MOST_LANES])
def test_lanes_of_a_mask_are_kept_in_order(width):
    ints = np.arange(100, 140, dtype=np.int32)
    for mask in np.random.default_rng(3).integers(0, 1 << width, 500).tolist():
        wanted = [103 + lane for lane in range(width) if mask >> lane & 1]
        assert kept(ints, 3, mask, width).tolist() == wanted


def test_small_pieces_share_a_block_and_come_back():
    tree = empty_tree((31, 31))
    starts = []
    for size in (1, 2, 1, 16, 1, 2, 8):
        tree, start = claim_lanes(tree, size)
        assert start % size == 0
        starts.append((start, size))
    lanes = [lane for start, size in starts for lane in range(start, start + size)]
    assert len(set(lanes)) == len(lanes)
    assert tree.used[LINES] == 3 * BLOCK  # the first is never given out
    for start, size in starts:
        release_lanes(tree, start, size)
    before = int(tree.used[LINES])
    for size in (2, 1, 16, 1):
        tree, _ = claim_lanes(tree, size)
    assert tree.used[LINES] == before


@pytest.mark.parametrize(
    ("terms", "word"),
    [
        ([7], 7),
        ([5, 7], PAIR | 7 * SECOND_OF_PAIR | 5),
        ([1, 5, 7], PAIR | 7 * SECOND_OF_PAIR | 5 | MORE),
        ([5, 70_000], 70_000 | MORE),
        ([5_000, 6_000], 6_000 | MORE),
        ([], NO_WORD),
    ],
)
def test_a_lane_names_one_word_or_two(terms, word):
    clauses = Clauses(
        np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([len(terms)], np.uint16),
        np.zeros(1, np.uint16), np.array([*terms, 0], np.int32),
    )  # fmt: skip
    assert lane_word(clauses, 0, 0) == word
    have, count = np.array([*terms, -1, *terms], np.int32), 100_000
    bits, own = no_words(count), np.empty(len(have), np.int32)
    assert take_words(bits, have, 0, len(have), own) == len(terms)
    assert own[: len(terms)].tolist() == terms
    assert words_are_there(bits, np.int32(word))
    if terms:
        clear_words(bits, own[len(terms) - 1 :], 1)
        assert not words_are_there(bits, np.int32(word))


# ---------------------------------------------------------------- the whole


def boxes_of(count, *, seed, words, first_id=0):
    """One to three of some words, and a box somewhere near the middle."""
    random = np.random.default_rng(seed)
    keywords = [
        [words[j] for j in random.choice(len(words), random.integers(1, 4), replace=False)]
        for _ in range(count)
    ]
    corner = random.normal(0, 8, (count, 2))
    boxes = np.hstack([corner, corner + random.uniform(0.1, 4, (count, 2))])
    return SubscriptionBatch.from_arrow(
        pa.table(
            {
                "id": np.arange(first_id, first_id + count),
                "keywords": keywords,
                **{name: boxes[:, i] for i, name in enumerate(["west", "south", "east", "north"])},
            }
        )
    )


def some_messages(count, *, seed, words, size=0.0):
    random = np.random.default_rng(seed)
    found = []
    for i in range(count):
        x, y = random.normal(0, 8, 2)
        at = Box(x, y, x + size, y + size) if size else Point(x, y)
        chosen = random.choice(len(words), min(len(words), 6), replace=False)
        found.append(Message(i, keywords=[words[j] for j in chosen], at=at))
    return MessageBatch.from_messages(found)


def assert_same_answers(index, oracle, messages):
    found, right = index.match_batch(messages), oracle.match_batch(messages)
    for row in range(len(messages)):
        assert sorted(found.for_message(row)) == sorted(right.for_message(row))


@pytest.mark.parametrize("words", [["tea"], ["tea", "cake"], [f"w{i}" for i in range(40)]])
@pytest.mark.parametrize("size", [0.0, 3.0])
def test_lists_grow_into_trees_and_back(words, size):
    index, oracle = RarestWordTree(), ScanIndex()
    batch = boxes_of(1_500, seed=3, words=words * (3 if len(words) < 3 else 1))
    messages = some_messages(60, seed=4, words=words, size=size)
    for rows in np.array_split(np.arange(len(batch)), 15):
        for row in rows.tolist():
            index.insert(batch.subscription(row))
        oracle.insert_batch(batch.take(rows))
        index.check()
    assert index.stats().nodes > 0
    assert_same_answers(index, oracle, messages)
    order = np.random.default_rng(5).permutation(len(batch)).tolist()
    for step, id_ in enumerate(order):
        index.remove(id_)
        oracle.remove(id_)
        if step % 250 == 0:
            index.check()
            assert_same_answers(index, oracle, messages)
    index.check()
    assert len(index) == 0


@pytest.mark.parametrize("seed", range(20))
def test_both_halves_of_a_box_across_the_antimeridian_leave_a_list(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(38, 49))  # a tree, which becomes a run when most are gone
    south = random.uniform(-80, 70, count)
    boxes = np.stack(
        [
            180 - random.uniform(0.1, 20, count),
            south,
            random.uniform(0.1, 20, count) - 180,
            south + 9,
        ],
        axis=1,
    )
    boxes[0, [0, 2]] = -5.0, 5.0  # so that an odd number of halves is left
    batch = SubscriptionBatch.from_arrow(
        pa.table(
            {
                "id": np.arange(count),
                "keywords": ["tea"] * count,
                **dict(zip(("west", "south", "east", "north"), boxes.T, strict=True)),
            }
        )
    )
    index, oracle = RarestWordTree(), ScanIndex()
    index.insert_batch(batch)
    oracle.insert_batch(batch)
    messages = MessageBatch.from_messages(
        Message(f"{i} {lon}", text="tea", at=Point(lon, south[i] + 4))
        for i in range(count)
        for lon in (179.95, -179.95, 0.0)
    )
    for id_ in (1 + random.permutation(count - 1)).tolist():
        index.remove(id_)
        oracle.remove(id_)
        index.check()
    assert_same_answers(index, oracle, messages)


def test_nearly_all_of_the_world():
    index, oracle = RarestWordTree(), ScanIndex()
    for each in (index, oracle):
        each.insert(Subscription("west", "tea", Box(-179.99999, -10, -179.999999, 10)))
        each.insert(Subscription("east", "tea", Box(179.999999, -10, 179.99999, 10)))
        for i in range(5):  # steps are small here
            each.insert(Subscription(i, "tea", Box(-180, -1, -179.9999 + i * 1e-4, 1)))
    for lon in (-180, -179.9999998, -179.9999995, -179.999995, -179.5, 0, 179.9999995, 179.999995):
        message = Message(1, text="tea", at=Point(lon, 5))
        assert sorted(index.match(message)) == sorted(oracle.match(message))


def test_no_word_of_a_message_is_left_for_the_next():
    index = RarestWordTree()
    index.insert_batch(boxes_of(500, seed=1, words=[f"w{i}" for i in range(90)]))
    index.match_batch(some_messages(50, seed=2, words=[f"w{i}" for i in range(100)]), threads=2)
    bits = index._word_bits.lend(90)
    assert bits[-1] == 1
    assert not bits[:-1].any()


def test_memory_stays_when_as_many_come_as_go():
    words = [f"w{i}" for i in range(300)]
    index = RarestWordTree()
    index.insert_batch(boxes_of(3_000, seed=6, words=words))
    sizes = []
    for turn in range(1, 13):
        fresh = boxes_of(1_000, seed=turn, words=words, first_id=1_000 * (turn + 2))
        for row in range(len(fresh)):
            index.remove(1_000 * (turn - 1) + row)
            index.insert(fresh.subscription(row))
        sizes.append(index.stats().bytes)
    index.check()
    assert max(sizes) < 1.3 * min(sizes)


def test_many_equal_subscriptions_cost_no_more_each_to_take_out():
    count = 3_000
    index = RarestWordTree()
    everywhere = [Subscription(i, "tea AND cake") for i in range(count)]
    index.insert_batch(SubscriptionBatch.from_subscriptions(everywhere))
    message = Message(1, text="tea, cake", at=Point(3, 3))
    assert len(index.match(message)) == count
    for i in range(0, count, 2):
        index.remove(i)
    index.check()
    assert sorted(index.match(message)) == list(range(1, count, 2))


def test_a_subscription_of_a_thousand_words_among_short_ones():
    words = [f"w{i}" for i in range(1_000)]
    index = RarestWordTree()
    index.insert(Subscription("long", words, Box(0, 0, 1, 1)))
    for i in range(50):
        index.insert(Subscription(i, words[i : i + 2], Box(0, 0, 1, 1)))
    index.check()
    assert "long" in index.match(Message(1, keywords=words, at=Point(1, 1)))
    assert "long" not in index.match(Message(2, keywords=words[1:], at=Point(1, 1)))


def test_a_message_of_ten_thousand_words():
    words = [f"w{i}" for i in range(10_000)]
    index, oracle = RarestWordTree(), ScanIndex()
    batch = boxes_of(800, seed=8, words=words[:200])
    index.insert_batch(batch)
    oracle.insert_batch(batch)
    message = Message(1, keywords=words, at=Point(0.5, 0.5))
    assert sorted(index.match(message)) == sorted(oracle.match(message))


def test_shapes_and_anything_among_boxes():
    index, oracle = RarestWordTree(), ScanIndex()
    for i in range(60):
        region = Circle(Point(0, 0), 50_000.0 * i) if i % 2 else Box(170, -i, -170, i)
        subscription = Subscription(i, ANY if i % 3 == 0 else "tea", region)
        index.insert(subscription)
        oracle.insert(subscription)
    index.check()
    for at in (Point(0, 0), Point(180, 0), Point(-180, 30), Box(175, -1, -175, 1)):
        message = Message(1, text="tea", at=at)
        assert sorted(index.match(message)) == sorted(oracle.match(message))


def test_borders_in_the_plane_far_from_zero():
    index = RarestWordTree(space=Space.PLANE)
    near, far = 1e9, 1e9 + 1.0  # float32 cannot tell them apart
    index.insert(Subscription("box", "tea", Box(near, 0, far, 1, space=Space.PLANE)))
    for x, inside in ((near, True), (far, True), (near - 0.5, False), (far + 0.5, False)):
        message = Message(1, text="tea", at=Point(x, 1, space=Space.PLANE))
        assert index.match(message) == (["box"] if inside else [])


def test_a_saved_index_goes_on(tmp_path):
    words = [f"w{i}" for i in range(30)]
    index, oracle = RarestWordTree(), ScanIndex()
    batch = boxes_of(900, seed=9, words=words)
    index.insert_batch(batch)
    oracle.insert_batch(batch)
    index.save(tmp_path / "index.near")
    again = RarestWordTree.load(tmp_path / "index.near")
    assert again.stats().nodes == index.stats().nodes == int(index._tree.used[NODES]) - 1
    more = boxes_of(100, seed=10, words=words, first_id=5_000)
    for row in range(len(more)):
        again.insert(more.subscription(row))
        oracle.insert(more.subscription(row))
        again.remove(row)
        oracle.remove(row)
    again.check()
    assert_same_answers(again, oracle, some_messages(40, seed=11, words=words))


def test_equal_subscriptions_are_looked_at_by_messages_with_all_their_words_alone():
    index = RarestWordTree()
    wanted = [Subscription(n, "tea AND cake", Box(0, 0, 1, 1)) for n in range(500)]
    index.insert_batch(SubscriptionBatch.from_subscriptions(wanted))
    for word in ("tea", "cake"):
        assert index.match(Message(1, keywords=[word], at=Point(0.5, 0.5))) == []
    assert index.stats().candidates == 0
    assert len(index.match(Message(2, keywords=["tea", "cake"], at=Point(0.5, 0.5)))) == 500


@pytest.mark.parametrize("space", Space)
@pytest.mark.parametrize(("threads", "near_bytes"), [(1, 0), (3, 0), (1, 1 << 40)])
def test_a_batch_that_is_matched_by_place_has_its_answers_in_its_own_order(
    space, threads, near_bytes, monkeypatch
):
    """Points, boxes, across the antimeridian, at the ends of the world; in several chunks."""
    monkeypatch.setattr("nearcast.boolean.rarest_word_tree.tree.NEAR_BYTES", near_bytes)
    subscriptions = samples.some_subscriptions(300, space)
    messages = samples.some_messages(1200, space)
    index, oracle = RarestWordTree(space=space), ScanIndex(space=space)
    for each in (index, oracle):
        each.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions, space=space))
    batch = MessageBatch.from_messages(messages, space=space)
    found, expected = index.match_batch(batch, threads=threads), oracle.match_batch(batch)
    assert found.start.tolist() == expected.start.tolist()
    ids = [each.subscription_ids.to_numpy() for each in (found, expected)]
    for begin, end in pairwise(found.start.tolist()):
        assert sorted(ids[0][begin:end]) == sorted(ids[1][begin:end])
