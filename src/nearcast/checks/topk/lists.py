"""Messages and subscriptions come and go, and lists are right."""

from __future__ import annotations

from nearcast.batches import MessageBatch
from nearcast.checks.topk.pair import (
    HERE,
    Check,
    MakeIndex,
    Pair,
    assert_same_list,
    some_messages,
    some_subscriptions,
)
from nearcast.model import Box, Message, Point, Space, TopKSubscription
from nearcast.topk import CountWindow, WordStatistics

FAR = {Space.EARTH: 1e6, Space.PLANE: 5.0}


def check_empty_index(make_index: MakeIndex) -> None:
    """Without subscriptions messages change nothing, without messages lists are empty."""
    pair = Pair(make_index, CountWindow(3))
    pair.publish(*some_messages(10, Space.EARTH))
    pair.assert_same_lists()
    pair = Pair(make_index, CountWindow(3))
    pair.subscribe(*some_subscriptions(5, Space.EARTH))
    pair.advance(7.0)
    pair.assert_same_lists()


def check_all_come_and_go(make_index: MakeIndex) -> None:
    """Lists are those of the oracle at every step, and so is what is told."""
    for space in Space:
        pair = Pair(make_index, CountWindow(15), space=space, max_dist=FAR[space])
        messages = some_messages(90, space)
        for number, subscription in enumerate(some_subscriptions(45, space)):
            pair.publish(next(messages), next(messages))
            pair.subscribe(subscription)
            if number % 3 == 2:
                pair.unsubscribe(number - 1)
            if number % 15 == 14:
                pair.assert_same_lists()


def check_a_list_is_there_at_once(make_index: MakeIndex) -> None:
    """One who comes late finds what the window has; one who is gone is told nothing."""
    pair = Pair(make_index, CountWindow(5))
    pair.publish(*(Message(n, text="tea", at=HERE) for n in range(8)))
    pair.subscribe(TopKSubscription("s", "tea", HERE, k=3))
    assert [id for id, _ in pair.index.results("s")] == [7, 6, 5]  # the later of equal ones first
    pair.unsubscribe("s")
    assert "s" not in pair.index
    assert pair.index.publish(Message(9, text="tea", at=HERE)) == []


def check_alpha_at_its_ends(make_index: MakeIndex) -> None:
    """With 1 distance alone counts, with 0 words alone; without a common word nothing does."""
    pair = Pair(make_index, CountWindow(10), max_dist=1e6)
    pair.subscribe(
        TopKSubscription("near", "tea cake", HERE, k=2, alpha=1.0),
        TopKSubscription("about", "tea cake", HERE, k=2, alpha=0.0),
    )
    away = Point(3.35, 48.86)
    pair.publish(
        Message("both, away", keywords=["tea", "cake"], at=away),
        Message("tea, here", keywords=["tea", "bus"], at=HERE),
        Message("neither, here", keywords=["bus"], at=HERE),
    )
    assert [id for id, _ in pair.index.results("near")] == ["tea, here", "both, away"]
    assert [id for id, _ in pair.index.results("about")] == ["both, away", "tea, here"]
    pair.assert_same_lists()


def check_equal_scores_everywhere(make_index: MakeIndex) -> None:
    """Of equal ones those that came last are in the list."""
    pair = Pair(make_index, CountWindow(50))
    pair.subscribe(*(TopKSubscription(n, "tea", HERE, k=n) for n in (1, 4, 20)))
    pair.publish(*(Message(n, text="tea", at=HERE) for n in range(120)))
    for k in (1, 4, 20):
        assert [id for id, _ in pair.index.results(k)] == list(range(119, 119 - k, -1))
    pair.assert_same_lists()


def check_words_weigh(make_index: MakeIndex) -> None:
    """Rare words count more, repeated ones too, and words never seen before are known."""
    statistics = WordStatistics(100, {"the": 100, "tea": 10})
    pair = Pair(make_index, CountWindow(10), statistics=statistics)
    pair.subscribe(TopKSubscription("s", "the tea oolong", HERE, k=3, alpha=0.0))
    pair.publish(
        Message(1, keywords=["the"], at=HERE),
        Message(2, keywords=["oolong", "bus"], at=HERE),
        Message(3, keywords=["tea", "tea", "bus"], at=HERE),
    )
    assert [id for id, _ in pair.index.results("s")][-1] == 1
    pair.assert_same_lists()


def check_boxes_count_by_their_middle(make_index: MakeIndex) -> None:
    """Also across the antimeridian."""
    pair = Pair(make_index, CountWindow(5), max_dist=2e7)
    pair.subscribe(TopKSubscription("s", "tea", Point(179.9, 0.0), k=2, alpha=1.0))
    pair.publish(
        Message("across", text="tea", at=Box(179.0, -1.0, -179.0, 1.0)),
        Message("beside", text="tea", at=Box(177.0, -1.0, 179.0, 1.0)),
    )
    assert [id for id, _ in pair.index.results("s")] == ["across", "beside"]
    pair.assert_same_lists()


def check_replacing(make_index: MakeIndex) -> None:
    """A live id that comes again: a subscription has its new list, a message its new words."""
    pair = Pair(make_index, CountWindow(4))
    pair.publish(*(Message(n, text=word, at=HERE) for n, word in enumerate(["tea", "cake"])))
    pair.subscribe(TopKSubscription("s", "tea", HERE), TopKSubscription("s", "cake", HERE))
    assert len(pair.index) == 1
    pair.publish(Message(1, text="bus", at=HERE), Message(0, text="cake", at=HERE))
    assert [id for id, _ in pair.index.results("s")] == [0]
    pair.assert_same_lists()


def check_batches(make_index: MakeIndex) -> None:
    """Many at once are as one by one: lists, and how many each message has changed."""
    for space in Space:
        settings = {"space": space, "max_dist": FAR[space]}
        one_by_one = make_index(CountWindow(20), **settings)
        at_once = make_index(CountWindow(20), **settings)
        subscriptions = list(some_subscriptions(40, space))
        for subscription in subscriptions:
            one_by_one.subscribe(subscription)
        at_once.subscribe_many(subscriptions[:30])
        at_once.subscribe_many(subscriptions[20:])
        messages = list(some_messages(80, space))
        for begin, end in ((0, 0), (0, 1), (1, 50), (50, 80)):
            part = messages[begin:end]
            counts = at_once.publish_batch(MessageBatch.from_messages(part, space=space))
            assert counts.tolist() == [len(one_by_one.publish(message)) for message in part]
        for subscription in subscriptions:
            assert_same_list(at_once.results(subscription.id), one_by_one.results(subscription.id))
        at_once.check()


LISTS: tuple[Check, ...] = (
    check_empty_index,
    check_all_come_and_go,
    check_a_list_is_there_at_once,
    check_alpha_at_its_ends,
    check_equal_scores_everywhere,
    check_words_weigh,
    check_boxes_count_by_their_middle,
    check_replacing,
    check_batches,
)
