"""`trending-steady`: what does a document cost where another one is forgotten for each that comes?

Documents come for more than `horizon` half-lives, then everybody subscribes, and from then on each
document that comes is one that is forgotten. The fewer there are within a half-life, the fewer a
region has, and the more lists one that is forgotten was in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.figure import Figure, Panel
from benchmarks.memory import forget_peak, give_back, peak_rss_bytes
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.measure import rehearse, subscribe_all
from benchmarks.trending.points import ARRIVING, MACHINE, PAPER
from benchmarks.trending.workload import PASSES, Settings, make
from nearcast.trending.decay import DEFAULT_HORIZON

NAME = "trending-steady"
INDEXES = ("CellRows",)
WITHIN_A_HALF_LIFE = (200, 1_000, 5_000, 20_000)
_TOGETHER = 20_000


def run_steady(
    indexes: Sequence[str], subscriptions: int, messages: int, keep: Keep
) -> list[Record]:
    """A record for each index and each number of documents within a half-life."""
    records: list[Record] = []
    with bar(len(indexes) * len(WITHIN_A_HALF_LIFE)) as progress:
        for index in indexes:
            rehearse(ROOM[index])
            for size in WITHIN_A_HALF_LIFE:
                records += _records(index, subscriptions, messages, size, progress)
                keep(records)
                progress.advance()
    return records


def _records(
    index: str, subscriptions: int, messages: int, size: int, progress: Bar
) -> Iterator[Record]:
    before = (DEFAULT_HORIZON + 1) * size
    contender = ROOM[index]
    usual = make(Settings(subscriptions=subscriptions, documents=before, messages=messages))
    half_life = float(np.ptp(usual.documents().time)) * size / before
    workload = replace(usual, half_life=half_life)
    progress.say(f"{index}, {size:,} within a half-life: documents")
    forget_peak()
    made = contender.make(workload)
    for first in range(0, before, _TOGETHER):
        made.publish_batch(workload.source.take(first, min(first + _TOGETHER, before)))
    progress.say(f"{index}, {size:,} within a half-life: subscribing")
    build_seconds = subscribe_all(made, workload)
    made.publish_batch(workload.stream(0))
    stats, changed, passes = made.stats(), 0, []
    progress.say(f"{index}, {size:,} within a half-life: both")
    for number in range(1, PASSES + 1):
        documents = workload.stream(number)
        begin = perf_counter()
        lists = made.publish_batch(documents)
        passes.append((perf_counter() - begin) / messages * 1e6)
        changed += int(lists.sum())
    after, total = made.stats(), PASSES * messages
    give_back()
    yield Record(
        name=NAME,
        index=index,
        data=workload.source.name,
        subscriptions=subscriptions,
        messages=total,
        matches_per_message=changed / total,
        candidates_per_message=(after.candidates - stats.candidates) / total,
        microseconds_per_message=median(passes),
        microseconds_per_message_passes=tuple(passes),
        build_seconds=build_seconds,
        insert_microseconds=None,
        remove_microseconds=None,
        bytes_per_subscription=after.bytes / subscriptions,
        peak_rss_bytes=peak_rss_bytes(),
        answers_checked_against_oracle=0,
        keywords_per_message=workload.stream(1).words.size / messages,
        workload=workload.description,
        messages_per_second=1e6 / median(passes),
        details={
            "documents": after.documents,
            "forgotten_per_message": 1.0 - (after.documents - stats.documents) / total,
            "refilled_per_message": (after.refilled - stats.refilled) / total,
        },
        series=contender.series,
        group="steady",
        x=size,
    )


FIGURE = Figure(
    name=NAME,
    title="One document comes, one is forgotten",
    x_label="documents within a half-life",
    finding="The more is said, the less of a list goes with a document that is forgotten.",
    panels=(Panel("both", None, *ARRIVING, logarithmic_x=True, shows_limit=False),),
    points=lambda scale: iter(()),  # it has a runner of its own, `run_steady`
    machine=replace(MACHINE, subscriptions=1_000_000, messages=500),
    paper=replace(PAPER, subscriptions=20_000_000, messages=200),
)
