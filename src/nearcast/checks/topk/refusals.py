"""What cannot be is refused, with the reason, and changes nothing."""

from __future__ import annotations

from nearcast.batches import MessageBatch
from nearcast.checks.expecting import expects
from nearcast.checks.topk.pair import HERE, Check, MakeIndex, Pair
from nearcast.model import Message, Point, Space, Subscription, TopKSubscription
from nearcast.topk import CountWindow


def check_bad_settings(make_index: MakeIndex) -> None:
    """A window, a distance and a lateness that mean nothing."""
    with expects(TypeError, naming="window"):
        make_index(7)
    with expects(ValueError, naming="max_dist"):
        make_index(CountWindow(3), space=Space.PLANE)
    with expects(ValueError, naming="max_dist"):
        make_index(CountWindow(3), max_dist=0.0)
    for lateness in (-1.0, float("nan")):
        with expects(ValueError, naming="lateness"):
            make_index(CountWindow(3), lateness=lateness)


def check_late_messages_are_refused(make_index: MakeIndex) -> None:
    """Earlier than the latest by more than the lateness; of a batch all or none."""
    pair = Pair(make_index, CountWindow(5), lateness=5.0)
    pair.subscribe(TopKSubscription("s", "tea", HERE))
    pair.publish(Message(1, text="tea", at=HERE, time=100.0))
    late = Message(2, text="tea", at=HERE, time=94.0)
    with expects(ValueError, naming="lateness"):
        pair.index.publish(late)
    fine = Message(3, text="tea", at=HERE, time=101.0)
    with expects(ValueError, naming="lateness"):
        pair.index.publish_batch(MessageBatch.from_messages([fine, late]))
    for now in (99.0, float("nan"), float("inf")):
        with expects(ValueError, naming="now"):
            pair.index.advance(now)
    pair.assert_same_lists()


def check_wrong_kinds_are_refused(make_index: MakeIndex) -> None:
    """Another kind of subscription, and another space."""
    index = make_index(CountWindow(3))
    with expects(TypeError, naming="Subscription"):
        index.subscribe(Subscription("s", "tea"))  # type: ignore[arg-type]
    elsewhere = Point(0, 0, space=Space.PLANE)
    with expects(ValueError, naming="PLANE"):
        index.subscribe(TopKSubscription("s", "tea", elsewhere))
    with expects(ValueError, naming="PLANE"):
        index.publish(Message(1, text="tea", at=elsewhere))
    assert len(index) == 0
    assert index.stats().messages == 0


def check_unknown_ids(make_index: MakeIndex) -> None:
    """Whoever is not there is a KeyError."""
    index = make_index(CountWindow(3))
    index.subscribe(TopKSubscription("s", "tea", HERE))
    for id in ("t", 7):
        assert id not in index
        for ask in (index.unsubscribe, index.results, index.subscription):
            with expects(KeyError):
                ask(id)
    index.unsubscribe("s")
    with expects(KeyError):
        index.unsubscribe("s")


REFUSALS: tuple[Check, ...] = (
    check_bad_settings,
    check_late_messages_are_refused,
    check_wrong_kinds_are_refused,
    check_unknown_ids,
)
