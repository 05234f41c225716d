"""Subscriptions and messages that share words, ids and borders."""

from hypothesis import strategies as st

from nearcast.model import ANY, Message, Subscription
from tests.space.strategies import near_places, places, regions

WORDS = ("a", "b", "c", "d", "e", "f")
IDS = st.integers(0, 20) | st.sampled_from(["", "7", "x", "été", -(2**63), 2**63 - 1])


def expressions():
    """Sets of words, alternatives, negations."""
    words = st.sampled_from(WORDS)
    four = st.permutations(WORDS).map(lambda order: order[:4])
    forms = st.sampled_from(
        ["{0} OR {1}", "{0} AND ({1} OR {2})", "{0} NOT {1}", "({0} OR {1}) ({2} OR {3})",
         "({0} NOT {1}) OR ({2} NOT {3})"]
    )  # fmt: skip
    several = st.builds(lambda form, chosen: form.format(*chosen), forms, four)
    return st.lists(words, min_size=1, max_size=5) | several


@st.composite
def subscriptions(draw, space, ids=IDS):
    region = draw(st.none() | regions(space))
    wanted = draw(expressions() if region is None else expressions() | st.just(ANY))
    return Subscription(draw(ids), wanted, region)


@st.composite
def messages(draw, space, near=()):
    """Messages of which many are at the border of one of the regions `near`."""
    region = draw(st.sampled_from(near)) if near else None
    place = draw(places(space) if region is None else near_places(region))
    return Message(1, keywords=draw(st.lists(st.sampled_from([*WORDS, "else"]))), at=place)


def batches(space):
    """Subscriptions with distinct ids of one kind, some of them live already, some new."""
    return st.one_of(
        st.lists(subscriptions(space, ids), max_size=12, unique_by=lambda s: s.id)
        for ids in (st.integers(0, 40), st.integers(0, 40).map(str))
    )
