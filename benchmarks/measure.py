"""One index on one workload: build, match, check, insert, remove.

No clock runs while data is made or a kernel compiles: workloads come ready, and the same steps are
done on a small copy first.
"""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import limit
from benchmarks.contenders import Contender
from benchmarks.memory import forget_peak, peak_rss_bytes
from benchmarks.oracle import Expected, check_answers
from benchmarks.records import Record
from benchmarks.workloads import Workload
from nearcast.batches import MessageBatch
from nearcast.boolean import BooleanIndex
from nearcast.model import Subscription

PASSES = 3
_SMALL = 2_000  # subscriptions of the copy on which kernels compile
_WARM_UP_INSERTS = 500
_CHUNK = 20_000  # subscriptions that are Python objects at the same time

Say = Callable[[str], None]


@dataclass(frozen=True)
class Measurement:
    """The record, and how many matches each message had, which the limit kernel needs."""

    record: Record
    match_start: NDArray[np.int64]


def measure(
    name: str,
    contender: Contender,
    workload: Workload,
    expected: Expected,
    *,
    built_share: float = 1.0,
    say: Say = lambda step: None,
    **labels: Any,
) -> Measurement:
    """Build the index from the first `built_share` of the subscriptions, insert the others one by
    one, and measure. `labels` say where the record stands in a figure."""
    say("compiling")
    _rehearse(contender, workload)
    forget_peak()
    gc.collect()

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
        _insert(index, _objects(workload, first, min(first + _CHUNK, count)))
        for first in range(built, count, _CHUNK)
    )
    stats = index.stats()

    say("matching")
    messages = _affordable(workload, contender)
    matches = index.match_batch(messages)
    passes = _passes(lambda: index.match_batch(messages), len(messages))

    say("checking")
    checked = check_answers(index, expected)
    peak = peak_rss_bytes()

    say("updating")
    _insert(index, workload.newcomers[:_WARM_UP_INSERTS])
    timed = workload.newcomers[_WARM_UP_INSERTS:]
    insert_seconds = _insert(index, timed)
    remove_seconds = _remove(index, timed)

    record = Record(
        name=name,
        index=contender.index,
        data=workload.data,
        subscriptions=count,
        messages=len(messages),
        matches_per_message=len(matches) / max(1, len(messages)),
        candidates_per_message=matches.candidates / max(1, len(messages)),
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=passes,
        build_seconds=build_seconds,
        insert_microseconds=(
            1e6 * later / (count - built) if built < count else 1e6 * insert_seconds / len(timed)
        ),
        remove_microseconds=1e6 * remove_seconds / len(timed),
        bytes_per_subscription=stats.bytes / max(1, stats.subscriptions),
        peak_rss_bytes=peak,
        answers_checked_against_oracle=checked,
        keywords_per_message=workload.keywords_per_message,
        workload={**workload.description, "built_share": built_share},
        **{"series": contender.series, **labels},
    )
    return Measurement(record, matches.start)


def measure_limit(
    name: str,
    workload: Workload,
    match_start: NDArray[np.int64],
    lines: NDArray[np.int64],
    **labels: Any,
) -> Record:
    """What the reads and the writes alone take, for the same messages with the same matches."""
    messages = match_start.size - 1
    word_start = workload.messages.word_start
    answers = np.zeros(match_start[-1], np.int64)
    line = limit.visit(lines, word_start[:2], match_start[:2], answers, 0)

    def one_pass() -> None:
        # Each pass goes on where the last one stopped: nothing it reads is in a cache already.
        nonlocal line
        line = limit.visit(lines, word_start, match_start, answers, line)

    forget_peak()
    one_pass()
    passes = _passes(one_pass, messages)
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


def _rehearse(contender: Contender, workload: Workload) -> None:
    """Every timed step on a small copy, so that its kernels are compiled."""
    index = contender.make(workload.history.take(np.arange(min(_SMALL, len(workload.history)))))
    index.insert_batch(_rows(workload, 0, min(_SMALL, len(workload.subscriptions))))
    index.match_batch(workload.messages.take(np.arange(min(10, len(workload.messages)))))
    one = workload.newcomers[:1]
    _insert(index, one)
    _remove(index, one)


def _rows(workload: Workload, first: int, last: int) -> Any:
    return workload.subscriptions.take(np.arange(first, last))


def _objects(workload: Workload, first: int, last: int) -> list[Subscription]:
    return [workload.subscriptions.subscription(i) for i in range(first, last)]


def _affordable(workload: Workload, contender: Contender) -> MessageBatch:
    messages = workload.messages
    if contender.most_pairs is None:
        return messages
    most = max(1, contender.most_pairs // max(1, len(workload.subscriptions)))
    return messages if most >= len(messages) else messages.take(np.arange(most))


def _passes(one_pass: Callable[[], object], messages: int) -> tuple[float, ...]:
    """Microseconds a message, one number a pass."""
    taken = []
    gc.collect()
    for _ in range(PASSES):
        start = perf_counter()
        one_pass()
        taken.append(1e6 * (perf_counter() - start) / max(1, messages))
    return tuple(taken)


def _insert(index: BooleanIndex, subscriptions: Sequence[Subscription]) -> float:
    """Seconds to insert them one by one, until the index answers with them."""
    start = perf_counter()
    for subscription in subscriptions:
        index.insert(subscription)
    len(index)  # an index may let single changes wait until something is asked of it
    return perf_counter() - start


def _remove(index: BooleanIndex, subscriptions: Sequence[Subscription]) -> float:
    """Seconds to remove them one by one, until the index answers without them."""
    start = perf_counter()
    for subscription in subscriptions:
        index.remove(subscription.id)
    len(index)
    return perf_counter() - start
