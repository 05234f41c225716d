"""How a node divides its entries, against every other way to divide them."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.boolean.ap_tree._partition import (
    cuts_cost,
    even_cuts,
    finite_extent,
    grid_cost,
    halving_line,
    heuristic_cuts,
    improved_lines,
    optimal_cuts,
    share_of,
)

WORLD = np.array([-180.0, -90.0, 180.0, 90.0])
PLANE = np.array([-np.inf, -np.inf, np.inf, np.inf])
NOWHERE = np.empty(0)


@st.composite
def keywords(draw):
    """Weight and chance of each keyword, and how many cuts."""
    size = draw(st.integers(1, 8))
    weight = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    chance = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    cuts = draw(st.integers(1, size))
    return np.array(weight), np.array(chance) / 10, cuts


def naive_cost(weight, chance, first):
    """Eq. 1 and 3; the chances of a cut's keywords add up, as in Eq. 3."""
    return sum(weight[a:b].sum() * chance[a:b].sum() for a, b in pairwise(first))


def all_cuts(size, cuts):
    return [(0, *inner, size) for inner in combinations(range(1, size), cuts - 1)]


def assert_divides(first, size, cuts):
    assert len(first) == cuts + 1
    assert first[0] == 0
    assert first[-1] == size
    assert (np.diff(first) > 0).all()


@given(keywords())
def test_optimal_cuts_are_the_cheapest_of_all(node):
    weight, chance, cuts = node
    first = optimal_cuts(weight, chance, cuts)
    assert_divides(first, len(weight), cuts)
    cheapest = min(naive_cost(weight, chance, other) for other in all_cuts(len(weight), cuts))
    assert naive_cost(weight, chance, first) == pytest.approx(cheapest)


@given(keywords())
def test_heuristic_cuts_improve_on_even_ones(node):
    weight, chance, cuts = node
    even, better = even_cuts(weight, cuts), heuristic_cuts(weight, chance, cuts)
    best = optimal_cuts(weight, chance, cuts)
    assert_divides(even, len(weight), cuts)
    assert_divides(better, len(weight), cuts)
    cost_of_even, cost_of_better = (naive_cost(weight, chance, first) for first in (even, better))
    assert naive_cost(weight, chance, best) <= cost_of_better + 1e-9
    assert cost_of_better <= cost_of_even + 1e-9


def test_optimal_cuts_of_many_keywords():
    """Where brute force cannot go: the recurrence itself, in O(V^2) for each cut (Eq. 2)."""
    random = np.random.default_rng(3)
    weight, chance = random.integers(1, 1000, 60), random.dirichlet(np.ones(60))
    total_weight, total_chance = (np.concatenate([[0], np.cumsum(a)]) for a in (weight, chance))

    def one_cut(a, b):
        return (total_weight[b] - total_weight[a]) * (total_chance[b] - total_chance[a])

    for cuts in (2, 7, 20, 60):
        cost = [one_cut(0, end) for end in range(61)]
        for c in range(2, cuts + 1):
            cost = [
                min((cost[m] + one_cut(m, end) for m in range(c - 1, end)), default=np.inf)
                for end in range(61)
            ]
        first = optimal_cuts(weight, chance, cuts)
        assert_divides(first, 60, cuts)
        assert naive_cost(weight, chance, first) == pytest.approx(cost[60])


def test_weights_and_chances_alike_make_even_cuts_optimal():
    """The special case of section IV-B."""
    weight = np.full(12, 5)
    assert optimal_cuts(weight, weight / 60, 4).tolist() == [0, 3, 6, 9, 12]
    assert heuristic_cuts(weight, weight / 60, 4).tolist() == [0, 3, 6, 9, 12]


@given(keywords())
def test_cuts_cost(node):
    """As Eq. 1, but no cut is entered more than once a message."""
    weight, chance, cuts = node
    first = even_cuts(weight, cuts)
    expected = sum(weight[a:b].sum() * min(1, chance[a:b].sum()) for a, b in pairwise(first))
    assert cuts_cost(weight, chance, first) == pytest.approx(expected)


@st.composite
def rectangles(draw):
    """Bounds of entries, on a small grid so that they share ends, some without size."""
    sides = st.tuples(*[st.integers(-8, 8)] * 4)
    rows = draw(st.lists(sides, min_size=1, max_size=30))
    bounds = np.array(rows, np.float32)
    return np.hstack(
        [np.minimum(bounds[:, :2], bounds[:, 2:]), np.maximum(bounds[:, :2], bounds[:, 2:])]
    )


def lines_of(bounds, axis, points, slabs, region):
    west, south, east, north = finite_extent(bounds, region)
    low, high = ((west, east), (south, north))[axis]
    lows, highs = np.sort(bounds[:, axis]), np.sort(bounds[:, axis + 2])
    return improved_lines(lows, highs, np.sort(points), low, high, slabs), low, high


@given(
    rectangles(),
    st.integers(0, 1),
    st.integers(2, 6),
    st.lists(st.floats(-9, 9), max_size=20).map(np.array),
    st.sampled_from([WORLD, PLANE]),
)
def test_grid_lines_are_inside_and_ascending(bounds, axis, slabs, points, region):
    lines, low, high = lines_of(bounds, axis, points.astype(float), slabs, region)
    assert len(lines) < slabs
    assert (np.diff(lines) > 0).all()
    assert ((lines > low) & (lines < high)).all()


@given(rectangles(), st.integers(0, 1))
def test_single_grid_line_is_the_best_there_is(bounds, axis):
    """One line, moved to its best place: no other line between the ends is cheaper."""
    lines, low, high = lines_of(bounds, axis, NOWHERE, 2, WORLD)
    if len(lines) == 0:
        return

    def cost(line):
        before = (bounds[:, axis] < line).sum() * share_of(low, line, low, high)
        return before + (bounds[:, axis + 2] >= line).sum() * share_of(line, high, low, high)

    others = [end for end in np.linspace(-8, 8, 65) if low < end < high]
    assert cost(lines[0]) <= min((cost(line) for line in others), default=np.inf) + 1e-4


@given(
    rectangles(),
    st.lists(st.integers(-8, 8), unique=True, max_size=4).map(sorted),
    st.lists(st.integers(-8, 8), unique=True, max_size=4).map(sorted),
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=20),
)
def test_grid_cost(bounds, xs, ys, points):
    """Expected entries looked at: those of each cell, times the chance of the cell."""
    places = np.array(points, float).reshape(-1, 2)
    region = np.array([-8.0, -8.0, 8.0, 8.0])
    cost, stored = grid_cost(
        bounds, np.array(xs, np.float32), np.array(ys, np.float32), places[:, 0], places[:, 1],
        region,
    )  # fmt: skip
    west, south, east, north = finite_extent(bounds, region)
    lefts, rights = [west, *xs], [*xs, east]
    bottoms, tops = [south, *ys], [*ys, north]
    inside = [(box == region).all() for box in bounds]
    expected, copies = float(sum(inside)), sum(inside)
    for row in range(len(ys) + 1):
        for column in range(len(xs) + 1):
            held = sum(
                not whole
                and slab(xs, box[0]) <= column <= slab(xs, box[2])
                and slab(ys, box[1]) <= row <= slab(ys, box[3])
                for box, whole in zip(bounds, inside, strict=True)
            )
            if len(points):
                chance = sum(slab(xs, x) == column and slab(ys, y) == row for x, y in points) / len(
                    points
                )
            else:
                chance = share_of(lefts[column], rights[column], west, east) * share_of(
                    bottoms[row], tops[row], south, north
                )
            expected += held * chance
            copies += held
    assert cost == pytest.approx(expected / len(bounds))
    assert stored == pytest.approx(copies / len(bounds))


def slab(lines, value):
    return sum(line <= value for line in lines)


def test_share_of_a_length():
    assert share_of(1, 3, 0, 4) == 0.5
    assert share_of(-9, 1, 0, 4) == 0.25
    assert share_of(5, 9, 0, 4) == 0
    assert share_of(2, 2, 2, 2) == 1  # nothing to divide: one cell has it all


def test_halving_line():
    assert halving_line(0.0, 4.0).tolist() == [2.0]
    assert len(halving_line(1.0, 1.0)) == 0
    assert len(halving_line(1.0, float(np.nextafter(np.float32(1), np.float32(2))))) == 0


@given(rectangles())
def test_finite_extent(bounds):
    west, south, east, north = finite_extent(bounds, WORLD)
    assert (west, south) == tuple(bounds[:, :2].min(axis=0))
    assert (east, north) == tuple(bounds[:, 2:].max(axis=0))
    everywhere = np.array([PLANE], np.float32)
    assert np.isfinite(finite_extent(everywhere, PLANE)).all()
