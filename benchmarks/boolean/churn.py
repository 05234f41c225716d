"""`boolean-churn`: does an index that changes all the time stay as small and as fast as it was?

Its size is constant: in turn, the oldest subscriptions go, as many new ones come, and as many of
those between move. The subscriptions follow an endless stream, so that words come and go with them.
In the end the answers are compared with those of an oracle that was made from what must be left.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter

from benchmarks.boolean.churning import Changing, Taken, stream_messages
from benchmarks.contenders import ROOM, Contender
from benchmarks.figure import MACHINE, MATCHING, PAPER, UPDATING, Figure, Panel
from benchmarks.measure import time_passes
from benchmarks.memory import give_back, peak_rss_bytes, rss_bytes
from benchmarks.oracle import WrongAnswerError, ask_oracle, check_answers
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep
from nearcast.batches import MessageBatch
from nearcast.boolean import BooleanIndex

NAME = "boolean-churn"
MACHINE_SECONDS, FULL_SECONDS = 60.0, 3600.0  # for each index
SAMPLES = 30
MESSAGES = 2_000
_HISTORY = 50_000


def run_churn(
    indexes: Sequence[str], subscriptions: int, seconds: float, keep: Keep
) -> list[Record]:
    """A record for each sample of each index; `details` compare it with the index's first."""
    records: list[Record] = []
    with bar(len(indexes) * (SAMPLES + 1)) as progress:
        for name in indexes:
            churn = _Churn(ROOM[name], subscriptions, progress)
            for sample in range(SAMPLES + 1):
                if sample > 0:
                    churn.go_on(seconds * sample / SAMPLES)
                records.append(churn.sample(is_last=sample == SAMPLES))
                keep(records)
                progress.advance()
            del churn
    return records


class _Churn:
    """One index and what was done to it."""

    def __init__(self, contender: Contender, subscriptions: int, progress: Bar) -> None:
        self._contender = contender
        self._progress = progress
        self._changing = Changing(subscriptions)
        progress.say(f"{contender.index}: building")
        index = contender.make(stream_messages(0, _HISTORY))
        initial = self._changing.live()
        start = perf_counter()
        index.insert_batch(initial)
        self._build_seconds = perf_counter() - start
        self._index: BooleanIndex = index
        self._first: Record | None = None
        self._seconds = 0.0
        self._total = Taken()
        # Kernels compile, and whatever is allocated once, is by now.
        self._changing.turn(index)
        index.match_batch(self._changing.messages(MESSAGES))
        del initial
        give_back()
        self._window = self._changing.turn(index)

    def go_on(self, seconds: float) -> None:
        """Change once at least, and until so many seconds have passed; samples take no time."""
        while True:
            start = perf_counter()
            self._window += self._changing.turn(self._index)
            self._seconds += perf_counter() - start
            if self._seconds >= seconds:
                break
        self._progress.say(f"{self._contender.index}: {self._total.changes:,} changes so far")

    def sample(self, *, is_last: bool) -> Record:
        self._total += self._window
        messages = self._changing.messages(MESSAGES)
        matches = self._index.match_batch(messages)
        passes = time_passes(lambda: self._index.match_batch(messages), len(messages))
        give_back()  # as before the first sample
        stats = self._index.stats()
        record = Record(
            name=NAME,
            index=self._contender.index,
            data="synthetic",
            subscriptions=stats.subscriptions,
            messages=len(messages),
            matches_per_message=len(matches) / len(messages),
            candidates_per_message=matches.candidates / len(messages),
            microseconds_per_message=median(passes),
            microseconds_per_message_passes=passes,
            build_seconds=self._build_seconds,
            insert_microseconds=self._window.inserting,
            remove_microseconds=self._window.removing,
            microseconds_per_move=self._window.moving,
            bytes_per_subscription=stats.bytes / stats.subscriptions,
            peak_rss_bytes=peak_rss_bytes(),
            rss_bytes=rss_bytes(),
            answers_checked_against_oracle=0,
            keywords_per_message=messages.words.size / len(messages),
            workload=self._changing.description,
            series=self._contender.index,
            group="churn",
            x=round(self._seconds, 1),
        )
        self._first = self._first or record
        self._window = Taken()
        return replace(
            record,
            answers_checked_against_oracle=self._check(messages) if is_last else 0,
            details=self._compared(record, self._first),
        )

    def _check(self, messages: MessageBatch) -> int:
        self._progress.say(f"{self._contender.index}: checking")
        workload = self._changing.workload(messages)
        if len(self._index) != len(workload.subscriptions):
            held, right = len(self._index), len(workload.subscriptions)
            raise WrongAnswerError(f"{self._contender.index} holds {held} subscriptions of {right}")
        return check_answers(self._index, ask_oracle(workload))

    def _compared(self, record: Record, first: Record) -> dict[str, float]:
        assert record.rss_bytes is not None
        assert first.rss_bytes is not None
        return {
            "changes": self._total.changes,
            "microseconds_per_change": self._total.microseconds_per_change,
            "rss_ratio": record.rss_bytes / first.rss_bytes,
            "index_bytes_ratio": (record.bytes_per_subscription or 0.0)
            / (first.bytes_per_subscription or 1.0),
            "matching_ratio": record.microseconds_per_message / first.microseconds_per_message,
        }


FIGURE = Figure(
    name=NAME,
    title="Constant size, endless changes",
    x_label="seconds",
    finding="As many subscriptions go, come and move in turn; the size stays the same.",
    panels=(
        Panel("memory", None, "rss_bytes", "resident set (bytes)"),
        Panel("insertion", None, *UPDATING),
        Panel("matching", None, *MATCHING),
    ),
    points=lambda scale: iter(()),  # it has a runner of its own, `run_churn`
    machine=replace(MACHINE, subscriptions=200_000),
    paper=replace(PAPER, subscriptions=1_000_000),
)
