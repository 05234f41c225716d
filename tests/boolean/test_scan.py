"""The oracle itself, against three nested loops in plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import SubscriptionBatch
from nearcast.boolean import ScanIndex
from nearcast.model import Box, Message, Point, Subscription
from nearcast.space import is_in
from tests.boolean.strategies import messages, subscriptions
from tests.space.strategies import SPACES


def wanted(live, message):
    """Every subscription, every clause, every word; then the place."""
    said = set(message.keywords)
    found = []
    for subscription in live:
        for clause in subscription.expression.clauses:
            holds = True
            for word in clause.required:
                holds = holds and word in said
            for word in clause.forbidden:
                holds = holds and word not in said
            if holds and is_in(message.at, subscription.region):
                found.append(subscription.id)
                break
    return found


@st.composite
def scenes(draw):
    space = draw(st.sampled_from(SPACES))
    live = draw(st.lists(subscriptions(space, st.integers(0, 99)), unique_by=lambda s: s.id))
    near = tuple(s.region for s in live if s.region is not None)
    return space, live, draw(st.lists(messages(space, near), min_size=1, max_size=8))


@given(scenes(), st.booleans())
def test_against_three_loops(scene, at_once):
    space, live, asked = scene
    index = ScanIndex(space=space)
    if at_once:
        index.insert_batch(SubscriptionBatch.from_subscriptions(live, space=space))
    else:
        for subscription in live:
            index.insert(subscription)
    index.check()
    for message in asked:
        assert index.match(message) == wanted(live, message)


def test_looks_at_everything():
    index = ScanIndex()
    for number in range(10):
        index.insert(Subscription(number, "tea"))
    index.match(Message(1, text="cake", at=Point(0, 0)))
    assert index.stats().candidates == 10
    assert index.stats().matches == 0


def test_empty_batches_are_not_kept():
    index = ScanIndex()
    for number in range(50):
        index.insert(Subscription(number % 2, "tea", Box(0, 0, 1, 1)))
    assert index.stats().bytes < 2000
    assert np.isfinite(index.stats().copies)
    index.check()
