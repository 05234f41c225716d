"""Documents come and are forgotten, subscriptions come and go, and lists are right."""

from __future__ import annotations

from dataclasses import replace

from nearcast.batches import MessageBatch
from nearcast.checks.trending.samples import (
    SPACES,
    Check,
    MakeIndex,
    Pair,
    some_documents,
    some_subscriptions,
    terms_of,
)
from nearcast.model import (
    Circle,
    Message,
    NearbyTrendingSubscription,
    Point,
    Space,
    TrendingSubscription,
)
from nearcast.trending import TermRules
from nearcast.trending.index import AnyTrending

HERE = Point(2.35, 48.86)


def around(kind: type, id: int | str, k: int = 10) -> AnyTrending:
    """A subscription of the kind for what is said here."""
    if kind is TrendingSubscription:
        return TrendingSubscription(id, Circle(HERE, 5_000.0), k)
    return NearbyTrendingSubscription(id, HERE, k)


def check_empty_index(make_index: MakeIndex) -> None:
    """Without subscriptions documents change nothing, without documents lists are empty."""
    for space in SPACES:
        pair = Pair(make_index, half_life=10.0, space=space)
        for message in some_documents(5, space):
            pair.publish(message)
        assert pair.index.stats().subscriptions == 0
        pair = Pair(make_index, half_life=10.0, space=space)
        for subscription in some_subscriptions(pair.kind, 5, space):
            pair.subscribe(subscription)
        pair.advance(7.0)
        pair.assert_same_lists()


def check_documents_come_and_are_forgotten(make_index: MakeIndex) -> None:
    """Lists are those of the oracle at every step, and so is what is told."""
    for space in SPACES:
        pair = Pair(make_index, half_life=4.0, horizon=3, space=space)
        for subscription in some_subscriptions(pair.kind, 40, space):
            pair.subscribe(subscription)
        for number, message in enumerate(some_documents(60, space)):
            pair.publish(message)
            if number % 10 == 0:
                pair.assert_same_lists()
        pair.advance(pair.index.now + 5.0)
        pair.assert_same_lists()
        pair.advance(pair.index.now + 1e6)
        pair.assert_same_lists()


def check_subscriptions_come_and_go(make_index: MakeIndex) -> None:
    """A list begins with the documents that are there; who has left is told nothing."""
    for space in SPACES:
        pair = Pair(make_index, half_life=20.0, horizon=4, space=space)
        subscriptions = list(some_subscriptions(pair.kind, 60, space))
        for subscription, message in zip(subscriptions, some_documents(60, space), strict=True):
            pair.publish(message)
            pair.subscribe(subscription)
            assert pair.index.subscription(subscription.id) == subscription
            if len(pair.live) % 3 == 0:
                pair.unsubscribe(subscription.id)
                assert subscription.id not in pair.index
        pair.assert_same_lists()
        for id in list(pair.live)[::2]:
            pair.unsubscribe(id)
        for message in some_documents(20, space, seed=5):
            pair.publish(_later(message, pair.index.now))
        pair.assert_same_lists()


def check_replacing(make_index: MakeIndex) -> None:
    """A live id that is subscribed again has the list of its new subscription, and the old goes."""
    pair = Pair(make_index, half_life=10.0)
    for word in ("tea", "cake", "bus"):
        pair.publish(Message(word, keywords=[word], at=HERE))
    pair.subscribe(around(pair.kind, "s", 3))
    pair.subscribe(around(pair.kind, "s", 1))
    pair.subscribe(around(pair.kind, "s", 2))
    assert len(pair.index) == 1
    assert terms_of(pair.index.top("s")) == ("bus", "cake")
    pair.assert_same_lists()


def check_batches(make_index: MakeIndex) -> None:
    """Many at once are as one by one: lists, and how many each document has changed."""
    for space in SPACES:
        settings = {"half_life": 4.0, "horizon": 5, "space": space}
        one_by_one, at_once = make_index(**settings), make_index(**settings)
        subscriptions = list(some_subscriptions(one_by_one.kinds[0], 40, space))
        for subscription in subscriptions:
            one_by_one.subscribe(subscription)
        at_once.subscribe_many(subscriptions[:30])
        at_once.subscribe_many(subscriptions[20:])
        messages = list(some_documents(80, space))
        for begin, end in ((0, 0), (0, 1), (1, 50), (50, 80)):
            part = messages[begin:end]
            counts = at_once.publish_batch(MessageBatch.from_messages(part, space=space))
            assert counts.tolist() == [len(one_by_one.publish(message)) for message in part]
        for subscription in subscriptions:
            right, found = one_by_one.top(subscription.id), at_once.top(subscription.id)
            assert terms_of(right) == terms_of(found)
        at_once.check()


def check_changes_as_columns(make_index: MakeIndex) -> None:
    """Many at once tell each list that is another than before, once."""
    for space in SPACES:
        pair = Pair(make_index, half_life=4.0, horizon=5, space=space)
        for subscription in some_subscriptions(pair.kind, 40, space):
            pair.subscribe(subscription)
        messages = list(some_documents(80, space))
        for begin, end in ((0, 0), (0, 1), (1, 50), (50, 80)):
            batch = MessageBatch.from_messages(messages[begin:end], space=space)
            pair.publish_as_columns(batch)
        pair.publish(replace(messages[-1], id="later", time=messages[-1].time + 100.0))
        pair.assert_same_lists()


def check_ties_are_alphabetical(make_index: MakeIndex) -> None:
    """Terms of the same documents have the same score, in whatever order they came."""
    pair = Pair(make_index, half_life=7.0)
    pair.subscribe(around(pair.kind, "s", 4))
    words = ["zoo", "ähre", "bus", "ant", "bus stop", "茶", "Zebra"]
    for number, time in enumerate([0.1, 0.3, 0.7, 12.9]):
        turned = words[number:] + words[:number]
        pair.publish(Message(number, keywords=turned, at=HERE, time=time))
    assert terms_of(pair.index.top("s")) == ("bus", "ant", "stop", "zebra")
    pair.assert_same_lists()


def check_frequency_counts(make_index: MakeIndex) -> None:
    """A term that a document says three times counts three times."""
    pair = Pair(make_index, half_life=10.0)
    pair.subscribe(around(pair.kind, "s", 2))
    pair.publish(Message(1, text="tea tea cake tea", at=HERE))
    (first, tea), (second, cake) = pair.index.top("s")
    assert (first, second) == ("tea", "cake")
    assert abs(tea / cake - 3.0) < 1e-9


def check_scores_fall(make_index: MakeIndex) -> None:
    """After a half-life a score is half of what it was, asked for before or after it has passed."""
    pair = Pair(make_index, half_life=10.0)
    pair.subscribe(around(pair.kind, "s", 1))
    pair.publish(Message(1, keywords=["tea"], at=HERE, time=123.0))
    ((_, fresh),) = pair.index.top("s")
    ((_, asked),) = pair.index.top("s", 133.0)
    pair.advance(133.0)
    ((_, passed),) = pair.index.top("s")
    assert abs(asked / fresh - 0.5) < 1e-9
    assert abs(passed / fresh - 0.5) < 1e-9


def check_rules_for_terms(make_index: MakeIndex) -> None:
    """Stop words and short words are no terms, as the index was told."""
    text = Message(1, text="The tea is at the bus stop", at=HERE)
    for rules, right in (
        (None, {"tea", "bus", "stop"}),
        (TermRules(stop_words=["tea"]), {"the", "is", "at", "bus", "stop"}),
        (TermRules(shortest=4), {"stop"}),
    ):
        index = make_index(half_life=10.0, terms=rules)
        index.subscribe(around(index.kinds[0], "s", 20))
        index.publish(text)
        assert set(terms_of(index.top("s"))) == right
        again = make_index(half_life=10.0, terms=rules)
        again.subscribe(around(index.kinds[0], "s", 20))
        again.publish_batch(MessageBatch.from_messages([text]))
        assert set(terms_of(again.top("s"))) == right


def check_late_documents(make_index: MakeIndex) -> None:
    """One that is late, but not too late, counts from its own time."""
    pair = Pair(make_index, half_life=10.0, horizon=2, lateness=30.0)
    pair.subscribe(around(pair.kind, "s", 3))
    for number, (word, time) in enumerate(
        [("tea", 100.0), ("cake", 85.0), ("bus", 75.0), ("tea", 90.0), ("cake", 104.0)]
    ):
        pair.publish(Message(number, keywords=[word], at=HERE, time=time))
        pair.assert_same_lists()
    for now in (105.0, 106.0, 110.0, 119.9, 120.0, 200.0):
        pair.advance(now)
        pair.assert_same_lists()


def check_a_gap_of_ten_years(make_index: MakeIndex) -> None:
    """Scores stay finite and right over years of quiet, and over years of stream."""
    year = 365.25 * 86400.0
    pair = Pair(make_index, half_life=3600.0)
    pair.subscribe(around(pair.kind, "s", 2))
    time = 1.7e9
    for number in range(12):
        pair.publish(Message(number, keywords=["tea", f"w{number}"], at=HERE, time=time))
        pair.assert_same_lists()
        time += 10 * year if number % 4 == 3 else 1800.0 * number
    pair.advance(time + 10 * year)
    pair.assert_same_lists()


def check_same_instant_and_place(make_index: MakeIndex) -> None:
    """Two documents of one instant and place both count, with the same id too."""
    pair = Pair(make_index, half_life=10.0)
    pair.subscribe(around(pair.kind, "s", 3))
    for words in (["tea", "cake"], ["tea", "bus"], []):
        pair.publish(Message(1, keywords=words, at=HERE, time=5.0))
        pair.assert_same_lists()
    assert terms_of(pair.index.top("s")) == ("tea", "bus", "cake")


def check_many_terms(make_index: MakeIndex) -> None:
    """Terms that are no longer said make room for others."""
    pair = Pair(make_index, half_life=1.0, horizon=2, space=Space.EARTH)
    pair.subscribe(around(pair.kind, "s", 5))
    for number in range(60):
        words = [f"word{number * 7 + i}" for i in range(7)]
        pair.publish(Message(number, keywords=words, at=HERE, time=number * 0.5))
    pair.assert_same_lists()


def _later(message: Message, seconds: float) -> Message:
    words, at = message.keywords, message.at
    return Message(message.id, keywords=words, at=at, time=message.time + seconds)


LISTS: tuple[Check, ...] = (
    check_empty_index,
    check_documents_come_and_are_forgotten,
    check_subscriptions_come_and_go,
    check_replacing,
    check_batches,
    check_changes_as_columns,
    check_ties_are_alphabetical,
    check_frequency_counts,
    check_scores_fall,
    check_rules_for_terms,
    check_late_documents,
    check_a_gap_of_ten_years,
    check_same_instant_and_place,
    check_many_terms,
)
