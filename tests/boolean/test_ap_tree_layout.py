"""The small functions that read and write an AP-Tree's arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearcast.boolean._records import (
    RUN,
    run_count,
    run_reference,
    run_room,
    run_start,
)
from nearcast.boolean.ap_tree._layout import (
    CHILDREN,
    NODES,
    RECORDS,
    empty_tree,
    find_cut,
    find_slab,
    reserve,
)


@given(st.lists(st.integers(0, 40), min_size=2, max_size=20, unique=True), st.integers(-1, 41))
def test_find_cut(numbers, word):
    ends = sorted(numbers[: len(numbers) // 2 * 2])
    keys = np.array([99, *ends], np.int32)  # cuts do not start at 0
    cuts = list(zip(ends[::2], ends[1::2], strict=True))
    expected = [i for i, (low, high) in enumerate(cuts) if low <= word <= high]
    assert find_cut(keys, 1, len(cuts), word) == (expected[0] if expected else -1)


@given(st.lists(st.floats(-9, 9, width=32), max_size=9, unique=True), st.floats(-10, 10))
def test_find_slab(lines, value):
    edges = np.array([0, *sorted(lines)], np.float32)
    assert find_slab(edges, 1, len(lines), value) == sum(line <= value for line in lines)


@given(st.integers(0, 2**34), st.integers(1, 2**26 - 1))
def test_leaf_reference(start, count):
    reference = run_reference(start, count)
    assert reference & 3 == RUN
    assert (run_start(reference), run_count(reference)) == (start, count)


def test_leaf_room_is_a_function_of_the_count():
    """A leaf that grows within its room keeps it, so a reference needs no capacity."""
    for count in range(1, 5000):
        room = run_room(count)
        assert count <= room <= max(2, 1.25 * count + 1)
        assert room % 2 == 0
        if count < room:
            assert run_room(count + 1) == room


def test_reserve_keeps_what_is_there():
    tree = empty_tree()
    tree.used[[NODES, CHILDREN, RECORDS]] = 10, 20, 30
    tree.nodes[:10], tree.children[:20], tree.records[:30] = 1, 2, 3
    grown = reserve(tree, 1000, 1000, 1000, 1000, 1000)
    assert len(grown.nodes) >= 1010
    assert len(grown.weights) == len(grown.children) >= 1020
    assert (grown.nodes[:10] == 1).all()
    assert (grown.children[:20] == 2).all()
    assert (grown.records[:30] == 3).all()
