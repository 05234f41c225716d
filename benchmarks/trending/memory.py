"""`trending-memory`: does an index stay as small as it was, however long the stream is?

Documents come and come, at the pace of a hundred half-lives until the first sample; at it, and
after two, three, four and five times as many documents, the process is as large as it is. Words are
those of an endless stream: new ones come all the time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter

from benchmarks.figure import Figure, Panel
from benchmarks.memory import give_back, peak_rss_bytes, rss_bytes
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep
from benchmarks.trending.contenders import ROOM
from benchmarks.trending.measure import subscribe_all
from benchmarks.trending.points import ARRIVING, MACHINE, PAPER
from benchmarks.trending.workload import Settings, make

NAME = "trending-memory"
INDEXES = ("CellRows", "TermFields")
SAMPLES = 5
_HALF_LIVES = 100  # until the first sample; regions forget after 20
_TOGETHER = 10_000


def run_memory(
    indexes: Sequence[str], subscriptions: int, documents: int, keep: Keep
) -> list[Record]:
    """A record for each sample of each index, after `documents`, twice as many, and so on."""
    records: list[Record] = []
    with bar(len(indexes) * SAMPLES) as progress:
        for index in indexes:
            for record in _samples(index, subscriptions, documents, progress):
                records.append(record)
                keep(records)
                progress.advance()
    return records


def _samples(index: str, subscriptions: int, documents: int, progress: Bar) -> Iterator[Record]:
    contender = ROOM[index]
    settings = Settings(
        subscriptions=subscriptions, documents=1, messages=1, is_nearby=contender.is_nearby
    )
    # A tweet comes each second, give or take one.
    workload = replace(make(settings), half_life=documents / _HALF_LIVES, lateness=1.0)
    made = contender.make(workload)
    build_seconds = subscribe_all(made, workload)
    first_size = 0
    for sample in range(1, SAMPLES + 1):
        progress.say(f"{index}: {sample * documents:,} documents")
        begin, changed, words = perf_counter(), 0, 0
        for first in range((sample - 1) * documents, sample * documents, _TOGETHER):
            batch = workload.source.take(first, min(first + _TOGETHER, sample * documents))
            changed += int(made.publish_batch(batch).sum())
            words += batch.words.size
        microseconds = (perf_counter() - begin) / documents * 1e6
        give_back()
        stats, size = made.stats(), rss_bytes()
        first_size = first_size or size
        yield Record(
            name=NAME,
            index=index,
            data=workload.source.name,
            subscriptions=subscriptions,
            messages=documents,
            matches_per_message=changed / documents,
            candidates_per_message=None,
            microseconds_per_message=microseconds,
            microseconds_per_message_passes=(microseconds,),
            build_seconds=build_seconds,
            insert_microseconds=None,
            remove_microseconds=None,
            bytes_per_subscription=stats.bytes / subscriptions,
            peak_rss_bytes=peak_rss_bytes(),
            rss_bytes=size,
            answers_checked_against_oracle=0,
            keywords_per_message=words / documents,
            workload=workload.description,
            details={
                "documents": stats.documents,
                "terms": stats.terms,
                "rss_ratio": size / first_size,
            },
            series=contender.series,
            group="memory",
            x=sample * documents,
        )


FIGURE = Figure(
    name=NAME,
    title="An endless stream",
    x_label="documents so far",
    finding="The process stays as large as it was after the first sample, within a tenth.",
    panels=(
        Panel("memory", None, "rss_bytes", "resident set (bytes)", shows_limit=False),
        Panel("a document comes", None, *ARRIVING, shows_limit=False),
    ),
    points=lambda scale: iter(()),  # it has a runner of its own, `run_memory`
    machine=replace(MACHINE, subscriptions=1_000, messages=5_000),
    paper=replace(PAPER, subscriptions=10_000, messages=1_000_000),
)
