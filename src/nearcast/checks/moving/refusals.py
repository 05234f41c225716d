"""What is refused changes nothing."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa

from nearcast.checks.expecting import expects
from nearcast.checks.moving.pair import Check, MakeMoving, Pair
from nearcast.model import ANY, Box, Message, Point, Space, Subscription
from nearcast.moving import MovingIndex
from nearcast.space import RegionColumn

HERE, AWAY = Box(0, 0, 5, 5), Box(6, 6, 9, 9)
IN_PLANE = Box(0, 0, 5, 5, space=Space.PLANE)


def _with_some(make_index: MakeMoving) -> Pair:
    pair = Pair(make_index, Space.EARTH)
    pair.publish(Message(1, keywords=["tea"], at=Point(1, 1)))
    pair.subscribe(Subscription(1, "tea", HERE))
    pair.subscribe(Subscription("any", ANY, HERE))
    return pair


def check_unknown_ids(make_index: MakeMoving) -> None:
    """Ids that are not live, or that nobody can have, are KeyErrors."""
    pair = _with_some(make_index)
    index: MovingIndex = pair.index
    nobody: tuple[Any, ...] = (2, "1", None, 2**70, 1.5)
    for id in nobody:
        assert id not in index
        for act in (index.unsubscribe, index.results, index.subscription):
            with expects(KeyError):
                act(id)
        with expects(KeyError):
            index.move(id, AWAY)
    with expects(KeyError, naming="2"):
        index.move_batch(pa.array([1, 2]), RegionColumn.of_regions([AWAY, AWAY], Space.EARTH))
    pair.compare_results()


def check_bad_moves(make_index: MakeMoving) -> None:
    """Regions of another space, none where one is needed, things that are no regions."""
    pair = _with_some(make_index)
    index = pair.index
    with expects(ValueError, naming="PLANE"):
        index.move(1, IN_PLANE)
    not_a_region: Any = Point(1, 1)
    with expects(TypeError, naming="Point"):
        index.move(1, not_a_region)
    with expects(ValueError, naming="'any'"):
        index.move("any", None)
    for time in (nan, inf):
        with expects(ValueError):
            index.move(1, AWAY, time=time)
    with expects(ValueError):
        index.move_batch(pa.array([1]), RegionColumn.of_regions([IN_PLANE], Space.PLANE))
    with expects(ValueError, naming="2 regions"):
        index.move_batch(pa.array([1]), RegionColumn.of_regions([AWAY, AWAY], Space.EARTH))
    with expects(ValueError, naming="twice"):
        index.move_batch(pa.array([1, 1]), RegionColumn.of_regions([AWAY, AWAY], Space.EARTH))
    with expects(ValueError, naming="times"):
        index.move_batch(
            pa.array([1]), RegionColumn.of_regions([AWAY], Space.EARTH), times=np.empty(0)
        )
    with expects(ValueError, naming="'any'"):
        index.move_batch(pa.array(["any"]), RegionColumn.of_regions([None], Space.EARTH))
    pair.compare_results()


def check_bad_events(make_index: MakeMoving) -> None:
    """Other spaces, other kinds, times that are none."""
    pair = _with_some(make_index)
    index = pair.index
    with expects(ValueError, naming="PLANE"):
        index.subscribe(Subscription(3, "tea", IN_PLANE))
    with expects(ValueError, naming="PLANE"):
        index.publish(Message(3, keywords=["tea"], at=Point(1, 1, space=Space.PLANE)))
    not_a_subscription: Any = "tea"
    with expects(TypeError):
        index.subscribe(not_a_subscription)
    for now in (nan, inf):
        with expects(ValueError):
            index.advance(now)
    pair.compare_results()


def check_bad_settings(make_index: MakeMoving) -> None:
    """A lifetime is positive and finite; a rule is a rule."""
    for lifetime in (0, -1, nan, inf):
        with expects(ValueError):
            make_index(space=Space.EARTH, lifetime=lifetime)
    with expects(TypeError):
        make_index(space=Space.EARTH, late_positions="ignored")


REFUSALS: tuple[Check, ...] = (
    check_unknown_ids,
    check_bad_moves,
    check_bad_events,
    check_bad_settings,
)
