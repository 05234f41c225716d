"""What many messages changed, as columns: the same as told one by one and put together."""

import random

import pytest

from nearcast.batches import MessageBatch
from nearcast.model import Message, Point, TopKSubscription
from nearcast.topk import CountWindow, ParallelLists, ScanTopK, TimeWindow, WordLists

WORDS = ("tea", "cake", "jazz", "bus", "rain")


def as_rows(changes):
    rows = {}
    for number, id in enumerate(changes.subscription_ids.to_pylist()):
        span = slice(changes.start[number], changes.start[number + 1])
        ids = changes.message_ids.to_pylist()[span]
        left = slice(changes.left_start[number], changes.left_start[number + 1])
        rows[id] = (
            ids,
            changes.scores[span].round(9).tolist(),
            [each for each, new in zip(ids, changes.is_new[span], strict=True) if new],
            sorted(changes.left.to_pylist()[left]),
        )
    return rows


@pytest.mark.parametrize("make", [WordLists, ParallelLists])
@pytest.mark.parametrize("window", [CountWindow(15), TimeWindow(9.0)])
@pytest.mark.parametrize("text_ids", [False, True])
def test_columns_equal_the_oracle(make, window, text_ids):
    draw = random.Random(f"{window} {text_ids}")
    index, oracle = make(window), ScanTopK(window)
    named = str if text_ids else int

    def message(id, time):
        at = Point(draw.uniform(0, 9), draw.uniform(0, 9))
        return Message(named(id), keywords=draw.choices(WORDS, k=2), at=at, time=time / 2)

    number = 0
    for step in range(12):
        for id in range(6):
            subscription = TopKSubscription(
                named(100 * step + id), draw.choices(WORDS, k=2), Point(1, 1), k=draw.randint(1, 4)
            )
            index.subscribe(subscription)
            oracle.subscribe(subscription)
        times = range(number, number + draw.choice([0, 1, 7, 40]))
        ids = list(times)
        if step in (5, 7) and ids:
            ids[0] = max(0, number - 1)  # it replaces one that is in the window
        number = times.stop
        batch = MessageBatch.from_messages(map(message, ids, times))
        found = as_rows(index.publish_as_columns(batch))
        assert found == as_rows(oracle.publish_as_columns(batch))
    index.check()


def test_a_list_that_is_as_before_is_not_told():
    index = WordLists(CountWindow(2))
    index.subscribe(TopKSubscription("s", "tea", Point(0, 0), k=1))
    changes = index.publish_as_columns(
        MessageBatch.from_messages([Message(n, text="cake", at=Point(0, 0)) for n in range(5)])
    )
    assert len(changes) == len(changes.message_ids) == len(changes.left) == 0
