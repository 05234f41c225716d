"""Workloads that no data set has, each of a size that can be doubled."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from benchmarks import workloads
from benchmarks.message_shapes import with_words
from benchmarks.workloads import Settings, Workload, make, tweets
from nearcast.batches import ExpressionColumn, MessageBatch, SubscriptionBatch
from nearcast.datasets import subscriptions_from
from nearcast.space import RegionColumn

LONGEST_MESSAGE = 10_000
LONGEST_SUBSCRIPTION = 1_000
MESSAGES = 100  # enough for a time; some of them have a million matches
WORD = "everywhere"  # no pseudo-word begins with a vowel


@dataclass(frozen=True)
class Case:
    """`make` gets a size, of which the benchmark doubles one."""

    name: str
    size_of: str  # what the size counts
    size: Callable[[int], int]  # the larger one, from the number of subscriptions asked for
    make: Callable[[int, int], Workload]  # from that number and a size


def _usual(subscriptions: int, message_words: int | None = None) -> Workload:
    return make(Settings("synthetic", subscriptions, MESSAGES, message_words=message_words))


def long_messages(subscriptions: int, words: int) -> Workload:
    """Messages of so many words."""
    return _usual(max(1, subscriptions // 5), message_words=words)


def long_subscriptions(subscriptions: int, words: int) -> Workload:
    """Subscriptions that want so many words, and messages that have just those."""
    count = max(1, subscriptions // 500)
    history = tweets().batch(20_000)
    messages = with_words(history, MESSAGES, words)

    def wanting_all(count: int, first_id: int) -> SubscriptionBatch:
        bounds = tweets().bounds
        return subscriptions_from(
            messages, count, bounds=bounds, words=(words, words), seed=first_id, first_id=first_id
        )

    return Workload(
        data="synthetic",
        settings=Settings("synthetic", count, MESSAGES, words=(words, words), message_words=words),
        subscriptions=wanting_all(count, 0),
        fresh=wanting_all(workloads.FRESH, count),
        history=history,
        messages=messages,
    )


def identical_subscriptions(_: int, subscriptions: int) -> Workload:
    """The same two words and the same region, again and again; the first message has them."""
    usual = _usual(1)
    bounds = tweets().bounds
    source = usual.messages.take([0])
    one = subscriptions_from(source, 1, bounds=bounds, words=(2, 2), area=(0.01, 0.01))
    return replace(
        usual,
        settings=replace(usual.settings, subscriptions=subscriptions, words=(2, 2)),
        subscriptions=_copies(one, subscriptions, 0),
        fresh=_copies(one, workloads.FRESH, subscriptions),
    )


def one_word_everywhere(_: int, subscriptions: int) -> Workload:
    """A word that every message has: half of the subscriptions want nothing else, the others want
    it with words of their own."""
    usual = _usual(subscriptions)
    return replace(
        usual,
        subscriptions=_wanting(usual.subscriptions),
        fresh=_wanting(usual.fresh),
        history=_saying(usual.history),
        messages=_saying(usual.messages),
    )


def world_regions(_: int, subscriptions: int) -> Workload:
    """Every subscription listens to the whole world."""
    usual = _usual(subscriptions)
    return replace(
        usual, subscriptions=_worldwide(usual.subscriptions), fresh=_worldwide(usual.fresh)
    )


CASES = (
    Case("long messages", "words a message", lambda _: LONGEST_MESSAGE, long_messages),
    Case(
        "long subscriptions",
        "words a subscription",
        lambda _: LONGEST_SUBSCRIPTION,
        long_subscriptions,
    ),
    Case("identical subscriptions", "subscriptions", lambda n: n, identical_subscriptions),
    Case("one word everywhere", "subscriptions", lambda n: n, one_word_everywhere),
    Case("regions of the world", "subscriptions", lambda n: n, world_regions),
)


def _copies(one: SubscriptionBatch, count: int, first_id: int) -> SubscriptionBatch:
    rows = np.zeros(count, np.int64)
    return SubscriptionBatch(
        pa.array(np.arange(first_id, first_id + count)),
        one.expressions.take(rows),
        one.regions.take(rows),
    )


def _saying(messages: MessageBatch) -> MessageBatch:
    """The word at the end of every message."""
    lexicon, word = _with_word(messages.lexicon)
    ends = messages.word_start[1:]
    return replace(
        messages,
        lexicon=lexicon,
        word_start=messages.word_start + np.arange(messages.word_start.size),
        words=np.insert(messages.words, ends, word),
    )


def _wanting(batch: SubscriptionBatch) -> SubscriptionBatch:
    """The word in every clause; those of even rows lose their own words."""
    column = batch.expressions
    lexicon, word = _with_word(column.lexicon)
    words = np.diff(column.required_start)
    keeps = np.arange(words.size) % 2 == 1
    start = np.concatenate([[0], np.cumsum(words * keeps)])
    own = column.required[np.repeat(keeps, words)]
    return SubscriptionBatch(
        batch.ids,
        ExpressionColumn(
            lexicon=lexicon,
            clause_start=column.clause_start,
            required_start=start + np.arange(start.size),
            required=np.insert(own, start[1:], word),
            forbidden_start=column.forbidden_start,
            forbidden=column.forbidden,
        ),
        batch.regions,
    )


def _with_word(lexicon: pa.LargeStringArray) -> tuple[pa.LargeStringArray, np.int32]:
    longer = pa.concat_arrays([lexicon, pa.array([WORD], pa.large_string())])
    return longer, np.int32(len(lexicon))


def _worldwide(batch: SubscriptionBatch) -> SubscriptionBatch:
    boxes = np.tile([-180.0, -90.0, 180.0, 90.0], (len(batch), 1))
    return SubscriptionBatch(
        batch.ids, batch.expressions, RegionColumn.of_boxes(boxes, batch.space)
    )
