"""Are the answers right? The naive index is asked the same, for a few messages."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.workloads import Workload
from nearcast.batches import MessageBatch
from nearcast.boolean import BooleanIndex, ScanIndex

_MOST_PAIRS = 10_000_000  # of a message and a subscription; the oracle looks at each
_MOST_WORDS = 5_000  # in its messages together: a long one has many candidates to look at
_LEAST, _MOST = 3, 200  # messages


class WrongAnswerError(AssertionError):
    """An index and the oracle disagree: whatever was measured is worthless."""


@dataclass(frozen=True)
class Expected:
    """The oracle's answers to some messages of a workload."""

    messages: MessageBatch
    answers: tuple[frozenset[Any], ...]


def oracle_of(workload: Workload) -> ScanIndex:
    """The naive index with the workload's subscriptions."""
    oracle = ScanIndex(space=workload.messages.space)
    oracle.insert_batch(workload.subscriptions)
    return oracle


def ask_oracle(workload: Workload, oracle: ScanIndex | None = None) -> Expected:
    """Answers for as many messages, spread over the stream, as the oracle can do in seconds.

    `oracle` holds the workload's subscriptions; without one it is made.
    """
    pairs = _MOST_PAIRS // max(1, len(workload.subscriptions))
    long = int(_MOST_WORDS / max(1.0, workload.keywords_per_message))
    count = min(max(_LEAST, min(_MOST, pairs, long)), len(workload.messages))
    messages = workload.messages.take(spread(len(workload.messages), count))
    matches = (oracle_of(workload) if oracle is None else oracle).match_batch(messages)
    return Expected(messages, tuple(frozenset(matches.for_message(i)) for i in range(count)))


def check_answers(index: BooleanIndex, expected: Expected) -> int:
    """How many messages were compared, all with equal answers; else `WrongAnswerError`."""
    matches = index.match_batch(expected.messages)
    for i, right in enumerate(expected.answers):
        answer = matches.for_message(i)
        if len(answer) != len(right) or set(answer) != right:
            missing, extra = sorted(right - set(answer)), sorted(set(answer) - right)
            raise WrongAnswerError(
                f"{type(index).__name__} and the oracle disagree on message "
                f"{expected.messages.ids[i]}: {len(missing)} subscriptions missing {missing[:5]}, "
                f"{len(extra)} too many {extra[:5]}, {len(answer) - len(set(answer))} twice"
            )
    return len(expected.answers)


def spread(length: int, count: int) -> NDArray[np.int64]:
    """`count` of the rows 0..length-1, evenly."""
    return np.arange(count, dtype=np.int64) * length // max(1, count)
