"""What the state machine does not come to: many words, many arrivals, batches, bad input."""

from dataclasses import replace

import numpy as np
import pytest

from nearcast.batches import MessageBatch
from nearcast.checks.topk.pair import assert_same_list
from nearcast.model import Box, Message, Point, Space, TopKSubscription
from nearcast.storage import BadFile
from nearcast.topk import (
    CIQKmax,
    CountWindow,
    IPTSkype,
    ScanTopK,
    Skype,
    TimeWindow,
    WordLists,
    WordStatistics,
)
from nearcast.topk._flat import index as flat_index
from nearcast.topk._flat import maintenance
from tests.topk.indexes import SMALL

HERE = Point(2.35, 48.86)


def random_messages(count, drift=0.0):
    """The places move east by `drift` degrees with each message."""
    random = np.random.default_rng(0)
    words = [f"w{n}" for n in range(40)]
    return [
        Message(
            n,
            keywords=random.choice(words, random.integers(1, 6)).tolist(),
            at=Point(random.uniform(2, 3) + n * drift, random.uniform(48, 49)),
            time=float(n),
        )
        for n in range(count)
    ]


def random_subscriptions(count, seed=1):
    random = np.random.default_rng(seed)
    return [
        TopKSubscription(
            f"s{n}",
            random.choice([f"w{n}" for n in range(40)], 3).tolist(),
            Point(random.uniform(2, 3), random.uniform(48, 49)),
            k=int(random.integers(1, 8)),
            alpha=random.uniform(),
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("window", [CountWindow(150), TimeWindow(150.0)])
def test_many_messages_leave_and_rows_are_filled_again(window):
    statistics = WordStatistics.of_messages(random_messages(100))
    oracle = ScanTopK(window, max_dist=200_000, statistics=statistics)
    index = WordLists(window, max_dist=200_000, statistics=statistics)
    messages = random_messages(500, drift=0.004)  # so that the old ones are the better ones
    for message in messages[:100]:
        oracle.publish(message)
        index.publish(message)
    for subscription in random_subscriptions(12):
        oracle.subscribe(subscription)
        index.subscribe(subscription)
    for n, message in enumerate(messages[100:]):
        oracle.publish(message)
        index.publish(message)
        if n % 100 == 0:
            index.check()
            for id in oracle._subscriptions:
                assert_same_list(index.results(id), oracle.results(id))
    stats = index.stats()
    assert stats.reevaluations > 0
    assert stats.buffered < 12 * 40


@pytest.mark.parametrize("window", [CountWindow(60), TimeWindow(60.0)])
def test_the_messages_of_a_window_make_the_same_lists_again(window):
    """After the rings have turned, some have been replaced, and others have said nothing."""
    messages = random_messages(200)
    messages[150:150] = [Message("of a replaced one", keywords=["w1", "w1"], at=HERE, time=149.0)]
    messages[170:170] = [
        Message("of a replaced one", keywords=["w2", "w3", "w3"], at=HERE, time=168.0)
    ]
    messages[180:180] = [Message("silent", keywords=[], at=Box(2, 48, 3, 49), time=178.0)]
    messages = [replace(message, id=str(message.id)) for message in messages]
    index = WordLists(window)
    for message in messages:
        index.publish(message)
    again = WordLists(window)
    again.publish_batch(index.window_messages())
    assert again.window_messages().ids.equals(index.window_messages().ids)
    for each in random_subscriptions(30):
        index.subscribe(each)
        again.subscribe(each)
        assert_same_list(again.results(each.id), index.results(each.id))
    again.check()


def test_an_empty_window_has_no_messages():
    assert len(WordLists(CountWindow(5)).window_messages()) == 0


def test_a_batch_is_its_messages_one_by_one():
    one, other = WordLists(CountWindow(50)), WordLists(CountWindow(50))
    subscriptions = random_subscriptions(20)
    one.subscribe_many(subscriptions)
    other.subscribe_many(subscriptions)
    messages = random_messages(200)
    changed = [len(one.publish(message)) for message in messages]
    counts = [
        *other.publish_batch(MessageBatch.from_messages(messages[:120])),
        *other.publish_batch(MessageBatch.from_messages(messages[120:])),
    ]
    assert counts == changed
    for subscription in subscriptions:
        assert one.results(subscription.id) == other.results(subscription.id)
    other.check()


def test_words_that_nobody_has_any_more_are_forgotten(monkeypatch):
    monkeypatch.setattr(flat_index, "FEW_WORDS", 4)
    index = WordLists(CountWindow(3))
    index.subscribe(TopKSubscription("s", "tea", HERE))
    for n in range(200):
        index.publish(Message(n, keywords=["tea", f"only{n}"], at=HERE))
        index.check()
    assert len(index._vocabulary) < 20
    assert [id for id, _ in index.results("s")] == [199, 198, 197]


def test_terms_of_those_who_left_are_forgotten(monkeypatch):
    monkeypatch.setattr(flat_index, "FEW_WORDS", 4)
    index = WordLists(CountWindow(3))
    for n in range(100):
        index.subscribe(TopKSubscription(n, f"tea cake w{n}", HERE))
        if n >= 5:
            index.unsubscribe(n - 5)
        index.check()
    assert index._terms < 60
    assert index.subscription(99).keywords == ("cake", "tea", "w99")


def test_arrivals_are_counted_from_0_again(monkeypatch):
    monkeypatch.setattr(flat_index, "LATEST", 100)
    oracle, index = ScanTopK(CountWindow(20)), WordLists(CountWindow(20))
    for subscription in random_subscriptions(10):
        oracle.subscribe(subscription)
        index.subscribe(subscription)
    for message in random_messages(400):
        oracle.publish(message)
        index.publish(message)
        index.check()
        assert index._messages.ends[1] < 200
    for id in oracle._subscriptions:
        assert_same_list(index.results(id), oracle.results(id))
    assert maintenance.LATEST > 100


@pytest.mark.parametrize("make", [ScanTopK, WordLists])
def test_what_is_wrong_is_told_and_changes_nothing(make):
    index = make(CountWindow(3), lateness=1.0)
    index.publish(Message(1, text="tea", at=HERE, time=10.0))
    with pytest.raises(
        ValueError, match=r"time 8.0 is before 10.0, the latest so far, by more than"
    ):
        index.publish(Message(2, text="tea", at=HERE, time=8.0))
    with pytest.raises(ValueError, match=r"now 9.0 is before 10.0"):
        index.advance(9.0)
    with pytest.raises(ValueError, match="not finite"):
        index.advance(float("nan"))
    with pytest.raises(ValueError, match=r"message 3 is in .*PLANE"):
        index.publish(Message(3, text="tea", at=Point(0, 0, space=Space.PLANE), time=10.0))
    with pytest.raises(TypeError, match="is no TopKSubscription"):
        index.subscribe("tea")
    with pytest.raises(KeyError):
        index.unsubscribe("nobody")
    with pytest.raises(KeyError):
        index.results(7)
    [change] = index.subscribe(TopKSubscription("s", "tea", HERE))
    assert [id for id, _ in change.results] == [1]
    assert len(index) == 1
    assert "s" in index
    assert 7 not in index


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="max_dist is missing"):
        WordLists(CountWindow(3), space=Space.PLANE)
    with pytest.raises(ValueError, match=r"max_dist 0.0 is not positive"):
        WordLists(CountWindow(3), max_dist=0)
    with pytest.raises(ValueError, match="lateness -1 is negative"):
        WordLists(CountWindow(3), lateness=-1)
    with pytest.raises(ValueError, match="lateness nan is not finite"):
        WordLists(CountWindow(3), lateness=float("nan"))
    with pytest.raises(TypeError, match="give a CountWindow or a TimeWindow"):
        WordLists(3)
    with pytest.raises(ValueError, match="'tea' in 3 of 2 documents"):
        WordStatistics(2, {"tea": 3})


def test_a_batch_is_taken_or_refused_as_a_whole():
    index = WordLists(CountWindow(10))
    index.publish(Message(1, text="tea", at=HERE, time=5.0))
    late = [Message(2, text="tea", at=HERE, time=6.0), Message(3, text="tea", at=HERE, time=5.5)]
    with pytest.raises(ValueError, match=r"message 3: time 5.5 is before 6.0"):
        index.publish_batch(MessageBatch.from_messages(late))
    again = [Message(1, text="tea", at=HERE, time=6.0)]
    with pytest.raises(ValueError, match="publish its message by itself"):
        index.publish_batch(MessageBatch.from_messages(again))
    assert index.stats().messages == 1
    assert len(index.publish_batch(MessageBatch.from_messages([]))) == 0


@pytest.mark.parametrize("far", [1e-3, 1.0, 1e25])
@pytest.mark.parametrize("kind", [WordLists, Skype, IPTSkype, CIQKmax])
def test_far_away_in_a_plane(kind, far):
    """Float32 cannot tell such places apart, and squares of their differences overflow."""
    oracle = ScanTopK(CountWindow(60), space=Space.PLANE, max_dist=far)
    index = kind(CountWindow(60), space=Space.PLANE, max_dist=far, **SMALL[kind])
    places = [Point(x, y, space=Space.PLANE) for x in (0, 1e10, 1e10 + far / 2, -1e37, 1e60)
              for y in (0.0, 1e37)]  # fmt: skip
    for n, at in enumerate(places):
        subscription = TopKSubscription(n, "tea", at, k=3, alpha=1.0)
        oracle.subscribe(subscription)
        index.subscribe(subscription)
    for n in range(300):
        message = Message(n, text="tea", at=places[n * 7 % len(places)])
        oracle.publish(message)
        index.publish(message)
    index.check()
    for n in range(len(places)):
        assert_same_list(index.results(n), oracle.results(n))


def test_a_word_that_is_said_a_hundred_thousand_times():
    oracle, index = ScanTopK(CountWindow(3)), WordLists(CountWindow(3))
    message = Message(1, keywords=["tea"] * 100_000 + ["cake"] * 50_000, at=HERE)
    for each in (oracle, index):
        each.subscribe(TopKSubscription("s", ["cake"] * 70_000 + ["tea"], HERE, alpha=0.0))
        each.publish(message)
    assert_same_list(index.results("s"), oracle.results("s"))
    assert index.publish_batch(MessageBatch.from_messages([Message(2, text="bus", at=HERE)])) == [0]


def test_subscriptions_that_cannot_be_are_refused_and_nothing_changes():
    index = WordLists(CountWindow(3))
    tea = TopKSubscription("s", "tea", HERE)
    with pytest.raises(ValueError, match="'s' is there twice"):
        index.subscribe_many([tea, TopKSubscription(1, "tea", HERE), tea])
    with pytest.raises(ValueError, match="k 10001 is more than 10000"):
        index.subscribe_many([tea, TopKSubscription("t", "tea", HERE, k=10_001)])
    assert len(index) == 0


@pytest.mark.parametrize("space", Space)
def test_lists_that_are_long_enough_for_several_blocks(space):
    random = np.random.default_rng(3)
    words = [f"w{n}" for n in range(6)]
    options = {"space": space, "max_dist": 1e6 if space is Space.EARTH else 5.0}
    options["statistics"] = WordStatistics(100, {word: 7 * n for n, word in enumerate(words)})
    oracle, index = ScanTopK(CountWindow(60), **options), WordLists(CountWindow(60), **options)

    def somewhere():
        return Point(random.uniform(-3, 3), random.uniform(-3, 3), space=space)

    for n in range(450):
        at, chosen = somewhere(), random.choice(words, random.integers(1, 4))
        if n < 250 or n % 3 == 0:
            subscription = TopKSubscription(
                n % 290, chosen.tolist(), at, int(random.integers(1, 4)), random.uniform()
            )
            for each in (oracle, index):
                each.subscribe(subscription)
        elif n % 3 == 1:
            for each in (oracle, index):
                each.publish(Message(n, keywords=chosen.tolist(), at=at))
        elif n - 250 in index:
            for each in (oracle, index):
                each.unsubscribe(n - 250)
        if n % 150 == 149:
            index.check()
            for id in oracle._subscriptions:
                assert_same_list(index.results(id), oracle.results(id))
    for n in range(290):
        if n in index:
            index.unsubscribe(n)
    assert index.stats().buffered == 0
    assert not index._postings.lists[:, 1:3].any()  # nothing is held, and no room is kept


def test_a_file_with_another_layout_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nearcast.topk._flat.index.LAYOUT", 1)
    WordLists(CountWindow(3)).save(tmp_path / "old.near")
    monkeypatch.undo()
    with pytest.raises(BadFile, match="saved with layout 1 of its arrays, and this version reads"):
        WordLists.load(tmp_path / "old.near")
