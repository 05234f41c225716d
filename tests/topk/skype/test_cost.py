"""The cost model against what it models."""

import numpy as np
import pytest

from nearcast.topk.skype._cost import (
    cost,
    messages_to_keep,
    skyband_size,
    updates_until_short,
)


def steps_of_walk(n, k, chance, arriving):
    """The walk of Eq. 11 from n to k - 1, with a barrier at 2n, by solving for every position."""
    top = 2 * n
    up, down = chance * arriving, chance * (1.0 - arriving)
    positions = top - k + 1  # k to 2n
    matrix, ones = np.zeros((positions, positions)), np.ones(positions)
    for i in range(positions):
        matrix[i, i] = down + (up if i + 1 < positions else 0.0)
        if i > 0:
            matrix[i, i - 1] = -down
        if i + 1 < positions:
            matrix[i, i + 1] = -up
    return np.linalg.solve(matrix, ones)[n - k]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (20, 20), (25, 20), (60, 20), (7, 3)])
@pytest.mark.parametrize("arriving", [0.5, 0.25, 0.4, 0.49, 0.52])
def test_equation_12_and_other_shares(n, k, arriving):
    window = 1000.0
    expected = steps_of_walk(n, k, n / window, arriving)
    assert updates_until_short(n, k, window, arriving) == pytest.approx(expected, rel=1e-6)


def test_equation_12_as_printed():
    n, k, window = 42, 20, 1000.0
    chance = n / window
    printed = (2 * (n - k + 1) * n + (n - k + 1) * (n - k + 2)) / chance
    assert updates_until_short(n, k, window, 0.5) == pytest.approx(printed)


def test_equation_12_by_walking():
    random, n, k, chance = np.random.default_rng(0), 6, 4, 0.5
    walks = []
    for _ in range(3000):
        position, steps = n, 0
        while position >= k:
            steps += 1
            draw = random.random()
            if draw < chance / 2:
                position = min(2 * n, position + 1)
            elif draw < chance:
                position -= 1
        walks.append(steps)
    assert np.mean(walks) == pytest.approx(updates_until_short(n, k, n / chance, 0.5), rel=0.1)


@pytest.mark.parametrize(("n", "k"), [(10, 20), (20, 20), (60, 20), (500, 20), (50, 1)])
def test_how_many_of_n_are_in_the_skyband(n, k):
    random = np.random.default_rng(1)
    sizes = []
    for _ in range(200):
        scores = random.random(n)  # by arrival
        sizes.append(sum((scores[i + 1 :] >= scores[i]).sum() < k for i in range(n)))
    assert np.mean(sizes) == pytest.approx(skyband_size(n, k), rel=0.05, abs=0.7)


@pytest.mark.parametrize("search", [500.0, 5_000.0, 100_000.0])
def test_the_least_cost_is_found(search):
    k, window = 20, 100_000
    best = min(range(k, 400), key=lambda n: cost(n, k, window, 0.5, search))
    found = messages_to_keep(k, window, 0.5, search)
    assert cost(found, k, window, 0.5, search) <= 1.02 * cost(best, k, window, 0.5, search)


def test_a_dear_search_is_worth_more_messages():
    kept = [messages_to_keep(20, 100_000, 0.5, search) for search in (100.0, 1e4, 1e6)]
    assert 20 <= kept[0] < kept[1] < kept[2]


def test_a_window_smaller_than_k():
    assert messages_to_keep(20, 21, 0.5, 1e9) >= 20
