"""What IQ-tree and RQ-tree share: the grid, the cost model, divided lists, memory."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import ScanIndex
from nearcast.boolean._quad._cells import (
    DEPTH,
    SIDE,
    STEP_SHARE,
    Grid,
    Pricing,
    cell_chance,
    cells_of_box,
    cover_all,
)
from nearcast.boolean._quad._check import check_cover
from nearcast.boolean._quad._grid import grid_over
from nearcast.boolean._run_pool import GARBAGE, RECORDS
from nearcast.boolean.iq_tree import IQTree
from nearcast.boolean.rq_tree import RQTree
from nearcast.model import ANY, Box, Message, Point, Space, Subscription
from tests.boolean.hand_tree import match

TREES = {"IQTree": IQTree, "RQTree": partial(RQTree, list_capacity=4)}
each_tree = pytest.mark.parametrize("make_index", TREES.values(), ids=TREES)


def batch(subscriptions, space=Space.EARTH):
    return SubscriptionBatch.from_subscriptions(subscriptions, space=space)


# ---------------------------------------------------------------- the cost model


def naive_cost(grid, box, chance, price, level=0, x=0, y=0):
    """The definition: an entry is at a cell, or at the cheapest cells of its touched children."""
    shift = DEPTH - level
    columns = range(max(box[0], x << shift), min(box[2], ((x + 1) << shift) - 1) + 1)
    rows = range(max(box[1], y << shift), min(box[3], ((y + 1) << shift) - 1) + 1)
    if not columns or not rows:
        return 0.0
    here = price + chance * cell_chance(grid.mass, level, x, y)
    # Without the second condition the naive tree is too large; it leaves out what cannot pay.
    if level == DEPTH or here - price < STEP_SHARE * price:
        return here
    below = STEP_SHARE * price + sum(
        naive_cost(grid, box, chance, price, level + 1, 2 * x + i, 2 * y + j)
        for i in range(2)
        for j in range(2)
    )
    return min(here, below)


def cost_of(grid, codes, chance, price):
    """The steps down to the cells are counted once for each inner cell."""
    inner, looks = set(), 0.0
    for code in codes:
        level, x, y = code >> 2 * DEPTH, (code >> DEPTH) & (SIDE - 1), code & (SIDE - 1)
        looks += chance * cell_chance(grid.mass, level, x, y)
        inner |= {(level - up, x >> up, y >> up) for up in range(1, level + 1)}
    return looks + price * (len(codes) + STEP_SHARE * len(inner))


corners = st.tuples(*[st.integers(0, SIDE - 1)] * 4).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)


@given(
    corners, st.sampled_from([1.0, 0.1, 0.003]), st.sampled_from([0.02, 0.002]), st.integers(0, 9)
)
def test_the_cheapest_cells_are_found(box, chance, price, seed):
    """Against the recursion as it is defined, over messages in a random few places."""
    random = np.random.default_rng(seed)
    places = random.normal(random.uniform(0, SIDE, 2), SIDE / 20, (500, 2))
    whole = grid_over(np.array([[0, 0, SIDE, SIDE]], np.float32), places)
    grid = Grid(np.array([0.0, 0.0, 1.0, 1.0]), whole.mass)
    bounds = np.array([box], np.float32)
    owner, codes = cover_all(
        grid, Pricing(price, 10_000), bounds,
        np.zeros(1, np.int32), np.array([chance], np.float32), np.ones(1, bool),
    )  # fmt: skip
    assert (owner == 0).all()
    box = cells_of_box(grid.frame, *bounds[0].tolist())
    check_cover(codes.tolist(), box)
    chance = float(np.float32(chance))
    cheapest = naive_cost(grid, box, chance, price)
    assert cost_of(grid, codes.tolist(), chance, price) == pytest.approx(cheapest)


@given(corners, st.integers(1, 20))
def test_an_entry_has_no_more_cells_than_allowed(box, most):
    grid = Grid(np.array([0.0, 0.0, 1.0, 1.0]), grid_over(np.empty((0, 4), np.float32), None).mass)
    bounds = np.array([box], np.float32)
    _, codes = cover_all(
        grid, Pricing(1e-6, most), bounds,
        np.zeros(1, np.int32), np.ones(1, np.float32), np.ones(1, bool),
    )  # fmt: skip
    assert 1 <= len(codes) <= most
    check_cover(codes.tolist(), cells_of_box(grid.frame, *bounds[0].tolist()))


def test_the_chances_of_cells_add_up():
    points = np.random.default_rng(1).normal(0, 1, (1000, 2))
    grid = grid_over(np.array([[-3, -3, 3, 3]], np.float32), points)
    for level in range(9):
        cells = [
            cell_chance(grid.mass, level, x, y) for x in range(2**level) for y in range(2**level)
        ]
        assert sum(cells) == pytest.approx(1)
        assert min(cells) > 0
    assert cell_chance(grid.mass, 0, 0, 0) == pytest.approx(1)


@pytest.mark.parametrize("far", [1e30, -1e30, np.inf])
def test_one_region_far_away_does_not_make_cells_coarse(far):
    bounds = np.array([[i, i, i + 1, i + 1] for i in range(100)] * 3, np.float32)
    near = grid_over(bounds, None).frame
    with_far = np.vstack([bounds, np.full((1, 4), far, np.float32)])
    assert (grid_over(with_far, None).frame[2:] > 0.4 * near[2:]).all()


def test_rare_words_stay_at_the_root_and_likely_ones_do_not():
    box = np.array([[10, 10, 11, 11]], np.float32)
    grid = grid_over(np.array([[i, i, i + 1, i + 1] for i in range(64)], np.float32), None)
    levels = []
    for chance in (1e-6, 1e-3, 1.0):
        _, codes = cover_all(
            grid, Pricing(1e-4, 64), box,
            np.zeros(1, np.int32), np.array([chance], np.float32), np.ones(1, bool),
        )  # fmt: skip
        levels.append(int((codes >> 2 * DEPTH).max()))
    assert levels[0] == 0 < levels[1] < levels[2]


# ---------------------------------------------------------------- words


@each_tree
def test_the_rarest_word_is_that_of_the_history(make_index):
    """Of two words that subscriptions have equally often, messages have one seldom."""
    past = [Message(i, keywords=["often"], at=Point(i % 10, 0)) for i in range(99)]
    history = MessageBatch.from_messages([*past, Message(99, text="seldom", at=Point(0, 0))])
    index = make_index(history=history)
    index.insert_batch(batch(Subscription(i, "often seldom") for i in range(50)))
    index.check()
    assert match(index, Message(1, text="often", at=Point(0, 0))).candidates == 0
    assert match(index, Message(1, text="seldom", at=Point(0, 0))).candidates == 50


@each_tree
def test_a_new_word_that_many_want_is_divided(make_index):
    """Subscriptions with a word the cost model never saw come one by one, none built in."""
    index = make_index()
    index.insert_batch(
        batch(Subscription(i, f"old{i % 50}", Box(i % 60, 0, i % 60 + 1, 1)) for i in range(1000))
    )
    for i in range(200):
        index.insert(Subscription(f"new{i}", "new", Box(i % 50, 0, i % 50 + 0.5, 1)))
        assert len(index) == 1001 + i
    assert index._changes == 200
    index.check()
    matches = match(index, Message(1, text="new", at=Point(7.25, 0.5)))
    assert sorted(matches.for_message(0)) == ["new107", "new157", "new57", "new7"]
    assert matches.candidates < 50


# ---------------------------------------------------------------- edges


@each_tree
def test_places_on_borders_of_cells_and_beyond_the_frame(make_index):
    """A grid of regions that meet at the borders of cells, and messages at every corner."""
    for space in Space:
        index = make_index(update_cost=1e-6, space=space)
        oracle = ScanIndex(space=space)
        tiles = [
            Subscription(8 * i + j, "tea", Box(i, j, i + 1, j + 1, space=space))
            for i in range(8)
            for j in range(8)
        ]
        tiles += [
            Subscription(-1, "tea"),
            Subscription(-2, ANY, Box(-80, -80, 80, 80, space=space)),
        ]
        for each in (index, oracle):
            each.insert_batch(batch(tiles, space))
        index.check()
        for x in (-90, -80, -1, 0, 0.5, 1, 4, 7.999999, 8, 9, 90):
            for y in (-90, 0, 3, 4, 8, 90):
                message = Message(1, text="tea", at=Point(x, y, space=space))
                found = index.match(message)
                assert len(set(found)) == len(found)
                assert set(found) == set(oracle.match(message))


@each_tree
@pytest.mark.parametrize("region", [None, Box(3, 3, 4, 4)])
def test_equal_subscriptions_stay_one_list(make_index, region):
    """Nothing divides them, and nobody tries for long."""
    index = make_index()
    index.insert_batch(batch(Subscription(i, "tea", region) for i in range(20_000)))
    assert index.stats().copies < 20
    for i in range(100):
        index.insert(Subscription(20_000 + i, "tea", region))
        index.remove(i)
    assert len(index.match(Message(1, text="tea", at=Point(3.5, 3.5)))) == 20_000
    assert index.stats().copies < 20


@each_tree
def test_endless_coming_and_going_needs_no_more_memory(make_index):
    index = make_index()
    random = np.random.default_rng(3)

    def some(ids):
        corner = random.uniform(0, 100, (len(ids), 2)) * (1, 0.5)
        word = random.zipf(1.5, (len(ids), 2)) % 500
        return [
            Subscription(int(i), [f"w{a}", f"v{b}"], Box(x, y, x + 2, y + 2))
            for i, (x, y), (a, b) in zip(ids, corner, word, strict=True)
        ]

    index.insert_batch(batch(some(np.arange(1000))))
    held, garbage = [], []
    for turn in range(60):
        index.insert_batch(batch(some(np.arange(100 * turn, 100 * turn + 100) % 1000)))
        held.append(index.stats().bytes)
        garbage.append(index._pool.used[GARBAGE] <= 1024 + index._pool.used[RECORDS] // 2)
    index.check()
    assert all(garbage)
    assert max(held[30:]) < 1.3 * max(held[:15])
    for i in range(1000):
        index.remove(i)
    assert len(index) == 0
    index.check()
    assert index.stats().bytes < max(held) / 2


@each_tree
def test_saved_between_changes(make_index, tmp_path):
    """Settings, history, what is counted and what is divided all come back."""
    past = [Message(i, keywords=["tea", "cake"][: 1 + i % 2], at=Point(i, i)) for i in range(40)]
    index = make_index(history=MessageBatch.from_messages(past), update_cost=0.003, most_cells=5)
    index.insert_batch(batch(Subscription(i, "tea", Box(i, i, i + 1, i + 1)) for i in range(80)))
    for i in range(70):
        index.insert(Subscription(100 + i, "new", Box(i, i, i + 1, i + 1)))
    index.save(tmp_path / "index.near")
    loaded = type(index).load(tmp_path / "index.near")
    assert loaded._arrangement()[0] == index._arrangement()[0]
    loaded.check()
    for i in range(60):
        loaded.remove(100 + i)
    loaded.check()
    loaded.rebuild()
    loaded.check()
    assert loaded.match(Message(1, text="new", at=Point(65.5, 65.5))) == [165]


@each_tree
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("update_cost", 0.0, ValueError),
        ("update_cost", -1, ValueError),
        ("update_cost", float("nan"), ValueError),
        ("update_cost", float("inf"), ValueError),
        ("most_cells", 0, ValueError),
        ("most_cells", 2.5, TypeError),
    ],
)
def test_settings_out_of_range_are_refused(make_index, name, value, error):
    with pytest.raises(error, match=f"{name} {value}"):
        make_index(**{name: value})


def test_a_list_capacity_below_one_is_refused():
    with pytest.raises(ValueError, match="list_capacity 0"):
        RQTree(list_capacity=0)
