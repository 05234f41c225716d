"""One index on one workload: build it, then match, check, insert, remove.

No clock runs while data is made or a kernel compiles: workloads come ready, and the same steps are
done on a small copy first (`rehearse`).
"""

import gc
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import limit
from benchmarks.contenders import Contender
from benchmarks.memory import forget_peak, peak_rss_bytes
from benchmarks.oracle import Expected, check_answers, spread
from benchmarks.records import Record
from benchmarks.workloads import Workload
from nearcast.batches import MessageBatch
from nearcast.boolean import BooleanIndex
from nearcast.model import Subscription

PASSES = 3
_SMALL = 2_000  # subscriptions of the copy on which kernels compile
_BATCH = 100  # messages of it; a few may be matched in another way than many
_WARM_UP_INSERTS = 500
_CHUNK = 20_000  # subscriptions that are Python objects at the same time
_PROBE_SECONDS = 0.05  # enough to tell how long a message takes

Say = Callable[[str], None]


@dataclass(frozen=True)
class Built:
    """An index that holds all subscriptions of a workload, and what that took."""

    index: BooleanIndex
    built_share: float
    build_seconds: float
    later_microseconds: float | None  # for each one that was inserted instead of built
    bytes_per_subscription: float
    peak_rss_bytes: int


@dataclass(frozen=True)
class Measurement:
    """The record, and what the limit kernel needs: the messages and how many matches they had."""

    record: Record
    messages: MessageBatch
    match_start: NDArray[np.int64]


def build(
    contender: Contender,
    workload: Workload,
    *,
    built_share: float = 1.0,
    say: Say = lambda step: None,
) -> Built:
    """Build the index from the first `built_share` of the subscriptions, insert the others one by
    one."""
    gc.collect()  # what the last index left must not count for this one
    forget_peak()

    say("building")
    count = len(workload.subscriptions)
    built = round(count * built_share)
    initial = workload.subscriptions if built == count else _rows(workload, 0, built)
    index = contender.make(workload.history)
    start = perf_counter()
    index.insert_batch(initial)
    build_seconds = perf_counter() - start

    say("inserting")
    later = sum(
        insert_all(index, _objects(workload, first, min(first + _CHUNK, count)))
        for first in range(built, count, _CHUNK)
    )
    stats = index.stats()
    return Built(
        index=index,
        built_share=built_share,
        build_seconds=build_seconds,
        later_microseconds=1e6 * later / (count - built) if built < count else None,
        bytes_per_subscription=stats.bytes / max(1, stats.subscriptions),
        peak_rss_bytes=peak_rss_bytes(),
    )


def measure(
    name: str,
    contender: Contender,
    workload: Workload,
    expected: Expected,
    built: Built,
    *,
    pass_seconds: float,
    say: Say = lambda step: None,
    **labels: Any,
) -> Measurement:
    """Match, check, insert, remove; the index then holds what it held before.

    `labels` say where the record stands in a figure.
    """
    index = built.index
    say("matching")
    forget_peak()
    messages = _affordable(index, workload.messages, pass_seconds)
    matches = index.match_batch(messages)
    passes = time_passes(lambda: index.match_batch(messages), len(messages))

    say("checking")
    checked = check_answers(index, expected)
    peak = max(built.peak_rss_bytes, peak_rss_bytes())

    say("updating")
    newcomers = workload.newcomers
    warm_up, timed = newcomers[:_WARM_UP_INSERTS], newcomers[_WARM_UP_INSERTS:]
    insert_all(index, warm_up)
    rounds = [timed[first::PASSES] for first in range(PASSES)]
    inserting = median(1e6 * insert_all(index, just_made(each)) / len(each) for each in rounds)
    removing = median(1e6 * remove_all(index, _ids(each)) / len(each) for each in rounds)
    remove_all(index, _ids(warm_up))

    record = Record(
        name=name,
        index=contender.index,
        data=workload.data,
        subscriptions=len(workload.subscriptions),
        messages=len(messages),
        matches_per_message=len(matches) / max(1, len(messages)),
        candidates_per_message=matches.candidates / max(1, len(messages)),
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=passes,
        build_seconds=built.build_seconds,
        insert_microseconds=(
            inserting if built.later_microseconds is None else built.later_microseconds
        ),
        remove_microseconds=removing,
        bytes_per_subscription=built.bytes_per_subscription,
        peak_rss_bytes=peak,
        answers_checked_against_oracle=checked,
        keywords_per_message=workload.keywords_per_message,
        workload={**workload.description, "built_share": built.built_share},
        **{"series": contender.series, **labels},
    )
    return Measurement(record, messages, matches.start)


def measure_limit(
    name: str,
    workload: Workload,
    measured: Measurement,
    lines: NDArray[np.int64],
    **labels: Any,
) -> Record:
    """What the reads and the writes alone take, for the same messages with the same matches."""
    messages, match_start = len(measured.messages), measured.match_start
    word_start = measured.messages.word_start
    answers = np.zeros(match_start[-1], np.int64)
    line = limit.visit(lines, word_start[:2], match_start[:2], answers, 0)

    def one_pass() -> None:
        # Each pass goes on where the last one stopped: nothing it reads is in a cache already.
        nonlocal line
        line = limit.visit(lines, word_start, match_start, answers, line)

    forget_peak()
    one_pass()
    passes = time_passes(one_pass, messages)
    return Record(
        name=name,
        index="limit",
        data=workload.data,
        subscriptions=len(workload.subscriptions),
        messages=messages,
        matches_per_message=float(match_start[-1] / max(1, messages)),
        candidates_per_message=None,
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=passes,
        build_seconds=None,
        insert_microseconds=None,
        remove_microseconds=None,
        bytes_per_subscription=None,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=0,
        keywords_per_message=workload.keywords_per_message,
        workload=workload.description,
        **{"series": "limit", **labels},
    )


def rehearse(contender: Contender, workload: Workload) -> None:
    """Every timed step on a small copy, so that its kernels are compiled."""
    index = contender.make(workload.history.take(np.arange(min(_SMALL, len(workload.history)))))
    index.insert_batch(_rows(workload, 0, min(_SMALL, len(workload.subscriptions))))
    index.match_batch(workload.messages.take(np.arange(min(_BATCH, len(workload.messages)))))
    one = workload.newcomers[:1]
    insert_all(index, one)
    remove_all(index, _ids(one))


def _rows(workload: Workload, first: int, last: int) -> Any:
    return workload.subscriptions.take(np.arange(first, last))


def _objects(workload: Workload, first: int, last: int) -> list[Subscription]:
    return [workload.subscriptions.subscription(i) for i in range(first, last)]


def _affordable(index: BooleanIndex, messages: MessageBatch, seconds: float) -> MessageBatch:
    """All messages, or as many, spread over them, as the index matches in the given time."""
    count, taken = 1, 0.0
    while True:
        few = messages.take(spread(len(messages), count))
        start = perf_counter()
        index.match_batch(few)
        taken = perf_counter() - start
        if taken >= _PROBE_SECONDS or count >= len(messages):
            break
        count = min(4 * count, len(messages))
    most = max(1, int(seconds / taken * count))
    return messages if most >= len(messages) else messages.take(spread(len(messages), most))


def time_passes(one_pass: Callable[[], object], messages: int) -> tuple[float, ...]:
    """Microseconds a message, one number a pass."""
    taken = []
    gc.disable()  # no collection in a pass; one before it would take longer than many a pass
    try:
        for _ in range(PASSES):
            start = perf_counter()
            one_pass()
            taken.append(1e6 * (perf_counter() - start) / max(1, messages))
    finally:
        gc.enable()
    return tuple(taken)


def just_made(subscriptions: Sequence[Subscription]) -> list[Subscription]:
    """The same, as the caller of an index has them: made a moment ago, so that they are near.

    To fetch objects that have lain somewhere since the workload was made would take longer than
    some indexes take to insert them.
    """
    copies: list[Subscription] = pickle.loads(pickle.dumps(list(subscriptions)))
    return copies


def insert_all(index: BooleanIndex, subscriptions: Sequence[Subscription]) -> float:
    """Seconds to insert them one by one, until the index answers with them."""
    start = perf_counter()
    for subscription in subscriptions:
        index.insert(subscription)
    len(index)  # an index may let single changes wait until something is asked of it
    return perf_counter() - start


def remove_all(index: BooleanIndex, ids: Iterable[int | str]) -> float:
    """Seconds to remove them one by one, until the index answers without them."""
    start = perf_counter()
    for subscription_id in ids:
        index.remove(subscription_id)
    len(index)
    return perf_counter() - start


def _ids(subscriptions: Sequence[Subscription]) -> list[int | str]:
    return [subscription.id for subscription in subscriptions]
