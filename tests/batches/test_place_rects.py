"""The vectorised rectangles are those of `nearcast.space.place_rects`, place by place."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import MessageBatch
from nearcast.model import Box, Message, Point, Space
from nearcast.space import place_rects
from tests.space.strategies import SPACES, places


def rects_of(batch, row):
    first, last = batch.rect_start[row], batch.rect_start[row + 1]
    return [tuple(rect) for rect in batch.rects[first:last].tolist()]


@st.composite
def places_of_a_space(draw):
    space = draw(st.sampled_from(SPACES))
    return space, draw(st.lists(places(space), max_size=6))


# Where coordinates have several names: every combination of these ends.
LONGITUDES = (-180.0, -10.0, 20.0, 180.0)
LATITUDES = (-90.0, 5.0, 90.0)
AT_SEAMS = [
    *(Point(lon, lat) for lon in LONGITUDES for lat in LATITUDES),
    *(
        Box(west, south, east, north)
        for west in LONGITUDES
        for east in LONGITUDES
        for south in LATITUDES
        for north in LATITUDES
        if south <= north
    ),
]


def check(space, all_places):
    messages = [Message(i, keywords=(), at=at) for i, at in enumerate(all_places)]
    batch = MessageBatch.from_messages(messages, space=space)
    assert batch.rect_start.dtype == np.int32
    assert batch.rect_start[0] == 0
    assert batch.rect_start[-1] == len(batch.rects)
    for row, place in enumerate(all_places):
        assert sorted(rects_of(batch, row)) == sorted(place_rects(place))


def test_at_the_antimeridian_and_the_poles():
    check(Space.EARTH, AT_SEAMS)


@given(places_of_a_space())
def test_like_one_place(case):
    check(*case)


def test_plane_has_no_seams():
    batch = MessageBatch.from_messages(
        [Message(1, keywords=(), at=Point(180, 90, space=Space.PLANE))], space=Space.PLANE
    )
    assert batch.rects.tolist() == [[180, 90, 180, 90]]
