"""No bound of the paper is ever too tight: what is skipped does not reach the threshold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearcast.model import Space
from nearcast.topk._flat.subscriptions import Distances, nearness
from nearcast.topk.skype._bounds import (
    alike_unseen,
    falls_short,
    group_falls_short,
    lowered,
    most_from,
    nearness_between,
    needed_nearness,
    rounded_down,
    rounded_up,
    starred,
    sums_from,
)
from nearcast.topk.skype._cells import empty_cells, leaf_of
from nearcast.topk.skype._places import box_of, place_of, way_to_border, ways_to_boxes

SHARES = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
WORDS = 6


@st.composite
def vectors(draw):
    """The weights of words 0 to 5, of unit length; 0 for a word that is missing."""
    raw = np.array(draw(st.lists(st.floats(0.0, 1.0), min_size=WORDS, max_size=WORDS)))
    raw[raw < 0.01] = 0.0
    if not raw.any():
        raw[draw(st.integers(0, WORDS - 1))] = 1.0
    return raw / np.sqrt((raw * raw).sum())


def score(alpha, near, mine, theirs):
    return alpha * near + (1.0 - alpha) * float(mine @ theirs)


def shared(mine, theirs):
    return [word for word in range(WORDS) if mine[word] and theirs[word]]


@given(vectors(), vectors(), SHARES, SHARES, SHARES)
def test_prefixes_and_unseen_words(mine, theirs, alpha, near, theta):
    """Lemmas 1 to 4, Theorems 1 and 2, at the first word that both have."""
    if not shared(mine, theirs):
        return
    first = shared(mine, theirs)[0]
    reached = score(alpha, near, mine, theirs)
    my_sums, my_most, sums, most = (
        sums_from(mine), most_from(mine), sums_from(theirs), most_from(theirs)
    )  # fmt: skip
    unseen = alike_unseen(my_sums[first + 1], my_most[first + 1], sums[first + 1], most[first + 1])
    for bound in (
        my_sums[first],
        my_sums[first] * most[first],
        my_most[first] * sums[first],
        mine[first] * theirs[first] + unseen,
    ):
        if falls_short(alpha, near, bound, lowered(theta)):
            assert reached < theta


@given(st.lists(st.tuples(vectors(), SHARES, SHARES), min_size=1, max_size=5), vectors(), SHARES)
def test_groups(group, theirs, near):
    """Lemma 5, Theorems 3 and 4, in float32 as lists have them."""
    sums = sums_from(theirs)
    for word in range(WORDS):
        members = [
            (mine, alpha, theta)
            for mine, alpha, theta in group
            if shared(mine, theirs)[:1] == [word]
        ]
        if not members:
            continue
        stars = [starred(np.float64(np.float32(a)), lowered(t)) for _, a, t in members]
        most = max(rounded_up(most_from(mine)[word]) for mine, _, _ in members)
        least_star = min(rounded_down(star) for star, _ in stars)
        most_alpha = max(rounded_up(star) for _, star in stars)
        if group_falls_short(most, sums[word], least_star, most_alpha, near):
            for mine, alpha, theta in members:
                assert score(alpha, near, mine, theirs) < theta


@given(vectors(), vectors(), SHARES, SHARES, SHARES)
def test_whole_cells(mine, theirs, alpha, near, theta):
    """Lemma 6."""
    if needed_nearness(alpha, theta) > near:
        assert score(alpha, near, mine, theirs) < theta


LONGITUDES = st.one_of(st.sampled_from([-180.0, 0.0, 90.0, 180.0]), st.floats(-180.0, 180.0))
LATITUDES = st.one_of(st.sampled_from([-90.0, 0.0, 90.0]), st.floats(-90.0, 90.0))


@given(
    st.sampled_from(Space),
    st.tuples(LONGITUDES, LONGITUDES).map(sorted),
    st.tuples(LATITUDES, LATITUDES).map(sorted),
    SHARES,
    SHARES,
    LONGITUDES,
    LATITUDES,
    st.sampled_from([0.5, 5.0, 1e6, 2e7]),
)
def test_ways_into_a_cell_are_never_too_long(kind, lons, lats, right, up, lon, lat, far):
    """Definitions 6 to 8, for a subscription in the cell and a message anywhere."""
    space = Distances.of(kind, far)
    west, east = lons
    south, north = lats
    x, y = min(east, west + right * (east - west)), min(north, south + up * (north - south))
    low, high = np.empty((3, 1)), np.empty((3, 1))
    box_of(west, south, east, north, space, low[:, 0], high[:, 0])
    [apart] = ways_to_boxes(place_of(lon, lat, space), low, high, space, 1)
    inside = way_to_border(x, y, west, south, east, north, space)
    is_in = west <= lon <= east and south <= lat <= north
    if is_in:
        assert apart <= 0.0 or nearness_between(apart, 0.0) >= 1.0 - 1e-6
    bound = nearness_between(apart, 0.0 if is_in else inside)
    assert bound >= nearness(x, y, lon, lat, space) - 1e-6


def test_a_new_tree_is_one_cell():
    for on_earth in (True, False):
        cells = empty_cells(on_earth, 0)
        assert leaf_of(cells, 12.0, -3.0) == 0
        assert cells.low.shape == cells.high.shape
