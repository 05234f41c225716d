"""What has left the window is in no list."""

from __future__ import annotations

from nearcast.checks.topk.pair import (
    HERE,
    Check,
    MakeIndex,
    Pair,
    some_messages,
    some_subscriptions,
)
from nearcast.model import Message, Space, TopKSubscription
from nearcast.topk import CountWindow, TimeWindow


def check_a_window_smaller_than_k(make_index: MakeIndex) -> None:
    """A list has no more messages than the window."""
    pair = Pair(make_index, CountWindow(2))
    pair.subscribe(TopKSubscription("s", "tea", HERE, k=5))
    pair.publish(*(Message(n, text="tea", at=HERE) for n in range(6)))
    assert [id for id, _ in pair.index.results("s")] == [5, 4]
    pair.assert_same_lists()


def check_messages_without_takers_push_others_out(make_index: MakeIndex) -> None:
    """Whatever it says, a message takes a place in the window."""
    pair = Pair(make_index, CountWindow(3))
    pair.subscribe(TopKSubscription("s", "tea", HERE))
    pair.publish(Message("tea", text="tea", at=HERE))
    pair.publish(*(Message(n, keywords=[], at=HERE) for n in range(3)))
    assert pair.index.results("s") == ()
    pair.assert_same_lists()


def check_a_window_of_time(make_index: MakeIndex) -> None:
    """A message of time t is there until t + seconds, whether others come or only time passes."""
    pair = Pair(make_index, TimeWindow(10.0))
    pair.subscribe(TopKSubscription("s", "tea", HERE))
    pair.publish(Message(1, text="tea", at=HERE, time=100.0))
    pair.advance(109.5)
    assert [id for id, _ in pair.index.results("s")] == [1]
    pair.publish(Message(2, text="bus", at=HERE, time=110.0))
    pair.assert_same_lists()
    pair.publish(Message(3, text="tea", at=HERE, time=110.0))
    pair.advance(500.0)
    assert pair.index.results("s") == ()
    pair.assert_same_lists()


def check_both_windows_over_a_while(make_index: MakeIndex) -> None:
    """Lists are filled again from what is left, time after time."""
    for window in (CountWindow(8), TimeWindow(6.0)):
        pair = Pair(make_index, window, max_dist=1e6, lateness=5.0)
        pair.subscribe(*some_subscriptions(30, Space.EARTH, seed=5))
        for message in some_messages(100, Space.EARTH, seed=6):
            pair.publish(message)
            if message.id == 50:
                pair.advance(pair.index.now + 3.0)
            if int(message.id) % 20 == 0:
                pair.assert_same_lists()


def check_late_messages(make_index: MakeIndex) -> None:
    """Within the lateness a message counts as if it were of the latest time."""
    pair = Pair(make_index, TimeWindow(10.0), lateness=5.0)
    pair.subscribe(TopKSubscription("s", "tea", HERE))
    pair.publish(
        Message(1, text="tea", at=HERE, time=100.0), Message(2, text="tea", at=HERE, time=95.5)
    )
    pair.advance(109.9)
    assert [id for id, _ in pair.index.results("s")] == [2, 1]
    pair.assert_same_lists()


WINDOWS: tuple[Check, ...] = (
    check_a_window_smaller_than_k,
    check_messages_without_takers_push_others_out,
    check_a_window_of_time,
    check_both_windows_over_a_while,
    check_late_messages,
)
