"""Parameters of an AP-Tree: which are refused, and what each of them does."""

import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import APTree, KeywordFirst, OptimalPartition, Quarters, SpatialFirst
from nearcast.boolean.ap_tree._layout import (
    HEIGHT,
    KEYWORD_NODE,
    ROOT,
    WIDTH,
)
from nearcast.model import Box, Message, Point, Space, Subscription


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fanout", 1),
        ("fanout", 0),
        ("leaf_capacity", 0),
        ("most_copies", 0.5),
        ("drift_threshold", -0.1),
        ("drift_share", -1),
        ("most_copies", float("nan")),
    ],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} {value}"):
        APTree(**{name: value})


def test_history_of_the_other_space_or_without_messages_is_refused():
    there = Message(1, text="tea", at=Point(0, 0, space=Space.PLANE))
    plane = MessageBatch.from_messages([there], space=Space.PLANE)
    with pytest.raises(ValueError, match="PLANE"):
        APTree(history=plane)
    with pytest.raises(ValueError, match="no messages"):
        APTree(history=MessageBatch.from_messages([]))


@pytest.mark.parametrize("fanout", [2, 3, 4, 9, 200])
def test_fanout_is_kept(fanout):
    index = APTree(fanout=fanout, leaf_capacity=2)
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(i, [f"w{i % 300}"], Box(i % 170, i % 80, i % 170 + 5, i % 80 + 5))
            for i in range(2000)
        )
    )
    for row in index._tree.nodes[: index.stats().nodes].tolist():
        assert row[WIDTH] * max(1, row[HEIGHT]) <= fanout
    index.check()


def test_history_decides_what_is_worth_a_cut():
    """Words that messages never have prune everything, so they are partitioned first."""
    subscriptions = [
        Subscription(i, [f"rare{i % 40}"], Box(i % 20, i // 20, i % 20 + 1, i // 20 + 1))
        for i in range(400)
    ]
    batch = SubscriptionBatch.from_subscriptions(subscriptions)
    silent = [Message(i, keywords=["else"], at=Point(i % 20, i % 15)) for i in range(300)]
    history = MessageBatch.from_messages(silent)
    index = APTree(leaf_capacity=4, history=history)
    index.insert_batch(batch)
    assert int(index._tree.used[ROOT]) & 3 == KEYWORD_NODE
    assert index.match_batch(history).candidates == 0


def test_quarters_make_four_cells():
    index = APTree(leaf_capacity=2, spatial_partition=Quarters(), priority=SpatialFirst())
    index.insert_batch(
        SubscriptionBatch.from_subscriptions(
            Subscription(i, "w", Box(i % 32, i // 32, i % 32 + 0.5, i // 32 + 0.5))
            for i in range(1024)
        )
    )
    index.check()
    shapes = {
        (row[WIDTH], row[HEIGHT]) for row in index._tree.nodes[: index.stats().nodes].tolist()
    }
    assert shapes <= {(2, 2), (2, 1), (1, 2)}


def test_settings_are_kept_by_save_and_load(tmp_path):
    options = {
        "fanout": 7,
        "leaf_capacity": 3,
        "most_copies": 2.0,
        "drift_threshold": None,
        "drift_share": 0.5,
        "keyword_partition": OptimalPartition(),
        "priority": KeywordFirst(),
    }
    index = APTree(**options)
    index.save(tmp_path / "index.near")
    loaded = APTree.load(tmp_path / "index.near")
    assert loaded._settings == index._settings
