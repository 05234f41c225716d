"""`moving-memory`: does an index stay as small as it was, however long people walk about?

A hundred timestamps pass, in each of which a tenth of the live messages expires, as many come, and
some subscribers move. After every ten of them, when all messages are others, the process and the
index are as large as they are.
"""

from collections.abc import Iterator, Sequence
from time import perf_counter

from benchmarks.figure import Figure, Panel
from benchmarks.memory import give_back, peak_rss_bytes, rss_bytes
from benchmarks.moving.contenders import ROOM
from benchmarks.moving.points import MACHINE, MESSAGE, MOVE, PAPER
from benchmarks.moving.workload import LIFE, Settings, Workload
from benchmarks.progress import Bar, bar
from benchmarks.records import Record
from benchmarks.run import Keep

NAME = "moving-memory"
INDEXES = ("WordQuadtrees",)
TIMESTAMPS = 100
SAMPLES = TIMESTAMPS // LIFE


def run_memory(indexes: Sequence[str], subscriptions: int, live: int, keep: Keep) -> list[Record]:
    """A record for each sample of each index: after every lifetime of a message."""
    records: list[Record] = []
    with bar(len(indexes) * SAMPLES) as progress:
        for index in indexes:
            for record in _samples(index, subscriptions, live, progress):
                records.append(record)
                keep(records)
                progress.advance()
    return records


def _samples(index: str, subscriptions: int, live: int, progress: Bar) -> Iterator[Record]:
    contender = ROOM[index]
    workload = Workload(Settings(subscriptions=subscriptions, live=live))
    made, people = contender.make(), workload.travellers()
    begin = perf_counter()
    made.subscribe_batch(workload.subscriptions(people))
    build_seconds = perf_counter() - begin
    made.publish_batch(workload.first_messages())
    first_size = messages = moves = matches = words = 0
    publishing = moving = 0.0
    for number, step in enumerate(workload.steps(people, TIMESTAMPS), start=1):
        progress.say(f"{contender.series}: timestamp {number}")
        begin = perf_counter()
        matches += len(made.publish_batch(step.messages))
        middle = perf_counter()
        made.move_batch(step.ids, step.regions)
        publishing, moving = publishing + middle - begin, moving + perf_counter() - middle
        messages, moves = messages + len(step.messages), moves + len(step.ids)
        words += len(step.messages.words)
        if number % LIFE:
            continue
        give_back()
        stats, size = made.stats(), rss_bytes()
        first_size = first_size or size
        microseconds = publishing / messages * 1e6
        yield Record(
            name=NAME,
            index=index,
            data=workload.data,
            subscriptions=subscriptions,
            messages=messages,
            matches_per_message=matches / messages,
            candidates_per_message=None,
            microseconds_per_message=microseconds,
            microseconds_per_message_passes=(microseconds,),
            build_seconds=build_seconds,
            insert_microseconds=None,
            remove_microseconds=None,
            bytes_per_subscription=stats.subscription_bytes / subscriptions,
            peak_rss_bytes=peak_rss_bytes(),
            rss_bytes=size,
            answers_checked_against_oracle=0,
            keywords_per_message=words / messages,
            workload=workload.description,
            messages_per_second=messages / publishing,
            microseconds_per_move=moving / moves * 1e6,
            details={
                "bytes_per_message": stats.message_bytes / stats.messages,
                "rss_ratio": size / first_size,
            },
            series=contender.series,
            group="memory",
            x=number,
        )
        messages = moves = matches = words = 0
        publishing = moving = 0.0


FIGURE = Figure(
    name=NAME,
    title="A hundred timestamps",
    x_label="timestamps so far",
    finding=(
        "The process is as large after a hundred as after ten; in between, quadtrees grow until "
        "they are made anew."
    ),
    panels=(
        Panel("memory", None, "rss_bytes", "resident set (bytes)", shows_limit=False),
        Panel("a message arrives, another expires", None, *MESSAGE, shows_limit=False),
        Panel("a subscription moves", None, *MOVE, shows_limit=False),
    ),
    points=lambda scale: iter(()),  # it has a runner of its own, `run_memory`
    machine=MACHINE,
    paper=PAPER,
)
