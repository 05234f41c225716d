"""Single changes wait in a buffer, and nobody can tell."""

from random import Random

import pytest

from nearcast.batches import SubscriptionBatch
from nearcast.boolean import RarestWordTree, flat_index
from nearcast.checks.boolean.samples import assert_answers, some_messages, some_subscriptions
from nearcast.model import Message, Point, Space, Subscription

HERE = Message(1, text="tea cake", at=Point(0, 0))


def waiting():
    """An index where one subscription is placed and another, a change and a removal wait."""
    index = RarestWordTree()
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            [
                Subscription("stays", "tea"),
                Subscription("changes", "sale"),
                Subscription("goes", "tea"),
            ]
        )
    )
    index.insert(Subscription("comes", "cake"))
    index.insert(Subscription(7, "tea"))
    index.insert(Subscription("changes", "tea"))
    index.remove("goes")
    return index


LIVE = {"stays", "changes", "comes", 7}


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: set(index.ids()) == LIVE,
        lambda index: len(index) == 4,
        lambda index: "comes" in index and "goes" not in index and 7 in index and "7" not in index,
        lambda index: set(index.match(HERE)) == LIVE,
        lambda index: index.stats().subscriptions == 4,
        lambda index: index.subscription("changes") == Subscription("changes", "tea"),
        lambda index: index.check() is None,
        lambda index: index.rebuild() is None and set(index.match(HERE)) == LIVE,
    ],
)
def test_every_question_sees_what_waits(ask):
    assert ask(waiting())


def test_saving_writes_what_waits(tmp_path):
    waiting().save(tmp_path / "index.near")
    assert set(RarestWordTree.load(tmp_path / "index.near").match(HERE)) == LIVE


def test_a_batch_comes_after_what_waits():
    index = waiting()
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            [Subscription("comes", "sale"), Subscription("goes", "tea")]
        )
    )
    assert set(index.match(HERE)) == {"stays", "changes", 7, "goes"}


def test_what_waits_can_be_removed_and_changed():
    index = waiting()
    index.remove("comes")
    with pytest.raises(KeyError):
        index.remove("comes")
    with pytest.raises(KeyError):
        index.remove("goes")
    index.insert(Subscription("goes", "cake"))
    index.insert(Subscription("goes", "sale"))
    assert set(index.match(HERE)) == {"stays", "changes", 7}
    assert len(index) == 4


@pytest.mark.parametrize("most", [1, 3, 1024])
def test_any_size_of_the_buffer_gives_the_same(most, monkeypatch):
    monkeypatch.setattr(flat_index, "MOST_WAITING", most)
    index, live, random = RarestWordTree(), {}, Random(1)
    for subscription in some_subscriptions(300, Space.EARTH):
        id_ = random.choice([subscription.id % 60, str(subscription.id % 60)])
        if id_ in live and random.random() < 0.4:
            index.remove(id_)
            del live[id_]
        else:
            live[id_] = Subscription(id_, subscription.expression, subscription.region)
            index.insert(live[id_])
    assert_answers(index, live.values(), some_messages(30, Space.EARTH))


def test_more_changes_than_the_buffer_holds():
    index = RarestWordTree()
    for number in range(3000):
        index.insert(Subscription(number, f"w{number % 50}"))
    for number in range(0, 3000, 2):
        index.remove(number)
    assert len(index) == 1500
    found = index.match(Message(1, keywords=["w7", "w8"], at=Point(0, 0)))
    assert sorted(found) == list(range(7, 3000, 50))
    index.check()
