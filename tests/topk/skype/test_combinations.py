"""What the state machine does not come to: many subscriptions, batches, rearrangement, settings."""

import numpy as np
import pytest

from nearcast.batches import MessageBatch
from nearcast.checks.topk.pair import assert_same_list
from nearcast.model import Message, Point, TopKSubscription
from nearcast.topk import (
    CIQKmax,
    CountWindow,
    IGPTKmax,
    IGPTSkyband,
    IPTSkype,
    ScanTopK,
    Skype,
    TimeWindow,
    WordStatistics,
)
from nearcast.topk._flat import index as flat_index
from nearcast.topk.skype import index as skype_index
from nearcast.topk.skype._cells import CELLS
from tests.topk.indexes import PIECED, SMALL
from tests.topk.test_word_lists import random_messages, random_subscriptions

HERE = Point(2.35, 48.86)


@pytest.mark.parametrize("kind", PIECED)
@pytest.mark.parametrize("window", [CountWindow(60), TimeWindow(60.0)])
def test_batches_among_many_subscriptions(kind, window):
    """Old messages are the better ones, so that rows run short."""
    messages = random_messages(260, drift=0.004)
    statistics = WordStatistics.of_messages(messages[:100])
    oracle = ScanTopK(window, max_dist=200_000, statistics=statistics)
    index = kind(window, max_dist=200_000, statistics=statistics, **SMALL[kind])
    subscriptions = random_subscriptions(40)
    oracle_changes = []
    for message in messages[:80]:
        oracle.publish(message)
    index.publish_batch(MessageBatch.from_messages(messages[:80]))
    index.subscribe_many(subscriptions)
    for subscription in subscriptions:
        oracle.subscribe(subscription)
    for message in messages[80:]:
        oracle_changes.append(len(oracle.publish(message)))
    found = index.publish_batch(MessageBatch.from_messages(messages[80:]))
    index.check()
    for id in oracle._subscriptions:
        assert_same_list(index.results(id), oracle.results(id))
    # A list that was touched may be the same in the end.
    assert (found >= np.array(oracle_changes) - 1).all()
    stats = index.stats()
    assert stats.reevaluations > 0
    assert stats.affected <= stats.candidates <= stats.postings * 3
    assert stats.arriving > 0.0
    assert stats.expiring > 0.0


@pytest.mark.parametrize("kind", [Skype, CIQKmax])
def test_a_message_that_changes_many_lists(kind):
    index = kind(CountWindow(5))
    index.subscribe_many([TopKSubscription(n, "tea", HERE, k=2) for n in range(300)])
    messages = [Message(n, text="tea", at=HERE) for n in range(10)]
    assert index.publish_batch(MessageBatch.from_messages(messages)).tolist() == [300] * 10
    assert [id for id, _ in index.results(7)] == [9, 8]


@pytest.mark.parametrize("kind", PIECED)
def test_all_is_arranged_anew_after_many_changes(kind, monkeypatch):
    monkeypatch.setattr(skype_index, "FEW_CHANGES", 5)
    index, oracle = kind(CountWindow(30), **SMALL[kind]), ScanTopK(CountWindow(30))
    messages, subscriptions = random_messages(60), random_subscriptions(60)
    for n, (message, subscription) in enumerate(zip(messages, subscriptions, strict=True)):
        for each in (index, oracle):
            each.publish(message)
            each.subscribe(subscription)
            if n >= 20:
                each.unsubscribe(f"s{n - 20}")
    index.check()
    for id in oracle._subscriptions:
        assert_same_list(index.results(id), oracle.results(id))


@pytest.mark.parametrize("kind", [Skype, CIQKmax])
def test_words_that_nobody_has_any_more_are_forgotten(kind, monkeypatch):
    monkeypatch.setattr(flat_index, "FEW_WORDS", 4)
    index = kind(CountWindow(3))
    index.subscribe(TopKSubscription("s", "tea", HERE))
    for n in range(60):
        index.publish(Message(n, keywords=["tea", f"only{n}"], at=HERE))
        index.check()
    assert len(index._vocabulary) < 20
    assert [id for id, _ in index.results("s")] == [59, 58, 57]


@pytest.mark.parametrize("kind", [IGPTKmax, IPTSkype])
def test_arrivals_are_counted_from_0_again(kind, monkeypatch):
    monkeypatch.setattr(flat_index, "LATEST", 40)
    oracle, index = ScanTopK(CountWindow(12)), kind(CountWindow(12))
    for subscription in random_subscriptions(6):
        oracle.subscribe(subscription)
        index.subscribe(subscription)
    for message in random_messages(150):
        oracle.publish(message)
        index.publish(message)
    index.check()
    assert index._messages.ends[1] < 100
    for id in oracle._subscriptions:
        assert_same_list(index.results(id), oracle.results(id))


def test_identical_places_are_one_leaf_however_many():
    index = Skype(CountWindow(3), leaf_capacity=2)
    index.subscribe_many([TopKSubscription(n, "tea", HERE) for n in range(20)])
    assert index._cells.ends[CELLS] == 1
    index.subscribe(TopKSubscription("elsewhere", "tea", Point(3.0, 49.0)))
    assert index._cells.ends[CELLS] == 4
    index.check()


def test_groups_skip_postings():
    """IGPT looks at fewer than IPT, and both find the same."""
    messages, subscriptions = random_messages(400), random_subscriptions(200)
    looks = []
    for kind in (Skype, IPTSkype):
        index = kind(CountWindow(100), max_dist=200_000, leaf_capacity=20)
        index.publish_batch(MessageBatch.from_messages(messages[:200]))
        index.subscribe_many(subscriptions)
        index.publish_batch(MessageBatch.from_messages(messages[200:]))
        looks.append((index.stats().postings, index.stats().affected))
    assert looks[0][0] < looks[1][0]
    assert looks[0][1] == looks[1][1]


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="groups 65 are more than 64"):
        Skype(CountWindow(3), groups=65)
    with pytest.raises(ValueError, match="leaf_capacity 0 is below 1"):
        Skype(CountWindow(3), leaf_capacity=0)
    with pytest.raises(ValueError, match="levels 9 are more than 8"):
        CIQKmax(CountWindow(3), levels=9)
    with pytest.raises(ValueError, match=r"threshold_share 1.5 is not in \(0, 1\]"):
        IGPTSkyband(CountWindow(3), threshold_share=1.5)
    with pytest.raises(ValueError, match=r"buffer_factor 0.5 is below 1"):
        IGPTKmax(CountWindow(3), buffer_factor=0.5)
    with pytest.raises(TypeError, match="levels"):
        Skype(CountWindow(3), levels=3)


def test_settings_are_saved(tmp_path):
    IGPTKmax(CountWindow(3), groups=7, leaf_capacity=30, buffer_factor=4.0).save(tmp_path / "i")
    loaded = IGPTKmax.load(tmp_path / "i")
    assert (loaded.groups, loaded.leaf_capacity, loaded.buffer_factor) == (7, 30, 4.0)
