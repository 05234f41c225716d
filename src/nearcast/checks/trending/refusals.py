"""What cannot be is refused, with the reason, and changes nothing."""

from __future__ import annotations

from nearcast.batches import MessageBatch
from nearcast.checks.expecting import expects
from nearcast.checks.trending.lists import HERE, around
from nearcast.checks.trending.samples import Check, MakeIndex, Pair
from nearcast.model import Message, Point, Space, Subscription


def check_bad_settings(make_index: MakeIndex) -> None:
    """A half-life, a horizon and a lateness that mean nothing."""
    for half_life in (0.0, -1.0, float("nan"), float("inf")):
        with expects(ValueError, naming="half_life"):
            make_index(half_life=half_life)
    with expects(ValueError, naming="horizon"):
        make_index(half_life=1.0, horizon=0)
    with expects(ValueError, naming="horizon"):
        make_index(half_life=1.0, horizon=1000)
    with expects(ValueError, naming="lateness"):
        make_index(half_life=1.0, lateness=-1.0)


def check_late_documents_are_refused(make_index: MakeIndex) -> None:
    """Earlier than the latest by more than the lateness; of a batch all or none."""
    pair = Pair(make_index, half_life=10.0, lateness=5.0)
    pair.subscribe(around(pair.kind, "s"))
    pair.publish(Message(1, keywords=["tea"], at=HERE, time=100.0))
    late = Message(2, keywords=["cake"], at=HERE, time=94.0)
    with expects(ValueError, naming="lateness"):
        pair.index.publish(late)
    fine = Message(3, keywords=["bus"], at=HERE, time=101.0)
    with expects(ValueError, naming="lateness"):
        pair.index.publish_batch(MessageBatch.from_messages([fine, late]))
    with expects(ValueError, naming="half-lives"):
        pair.index.publish(Message(4, keywords=["bus"], at=HERE, time=1e30))
    with expects(ValueError, naming="now"):
        pair.index.advance(99.0)
    with expects(ValueError, naming="now"):
        pair.index.top("s", 99.0)
    pair.assert_same_lists()


def check_wrong_kinds_are_refused(make_index: MakeIndex) -> None:
    """Another kind of subscription, and another space."""
    index = make_index(half_life=10.0)
    with expects(TypeError, naming="Subscription"):
        index.subscribe(Subscription("s", "tea"))  # type: ignore[arg-type]
    with expects(ValueError, naming="PLANE"):
        index.publish(Message(1, keywords=["tea"], at=Point(0, 0, space=Space.PLANE)))
    assert len(index) == 0


def check_unknown_ids(make_index: MakeIndex) -> None:
    """Whoever is not there is a KeyError."""
    index = make_index(half_life=10.0)
    index.subscribe(around(index.kinds[0], "s"))
    for id in ("t", 7):
        assert id not in index
        for ask in (index.unsubscribe, index.top, index.subscription):
            with expects(KeyError):
                ask(id)
    index.unsubscribe("s")
    with expects(KeyError):
        index.unsubscribe("s")


def check_an_id_twice_at_once(make_index: MakeIndex) -> None:
    """Which of them would be meant?"""
    index = make_index(half_life=10.0)
    one, other = around(index.kinds[0], "s"), around(index.kinds[0], "t")
    with expects(ValueError, naming="'s' is there twice"):
        index.subscribe_many([one, other, one])
    assert len(index) == 0


REFUSALS: tuple[Check, ...] = (
    check_bad_settings,
    check_late_documents_are_refused,
    check_wrong_kinds_are_refused,
    check_unknown_ids,
    check_an_id_twice_at_once,
)
