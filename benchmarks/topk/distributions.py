"""`topk-distributions`: what does it cost to divide top-k subscriptions among shards?

Shards run one after the other in one process: what is sent is counted, and the time of a shard is
that of the processor for its messages, without telling who is concerned. A cluster adds the time of
sending, which is not measured here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from benchmarks.figure import Figure, Panel, Scale
from benchmarks.topk.contenders import Contender
from benchmarks.topk.points import Point
from benchmarks.topk.workload import Settings

NAME = "topk-distributions"
SHARDS = (2, 4, 8, 16, 32)
DISTRIBUTIONS = ("hash", "location", "keyword", "prefix")
WINDOW_SHARE = 8  # messages in the window for each subscription

WINDOWS = (10_000, 100_000, 1_000_000)
LARGER = "larger windows"

MACHINE = Scale(
    subscriptions=5_000,
    messages=300,
    data=("synthetic",),
    sizes=(2_500, 5_000, 7_500, 10_000),
    inserted=0,
)
PAPER = Scale(
    subscriptions=5_000_000,
    messages=10_000,
    data=("synthetic", "gnis"),
    sizes=(5_000_000, 10_000_000, 15_000_000, 20_000_000),
    inserted=0,
)

REPLICAS = ("replicas", "shards a subscription is in")
OF_HASH = ("communication_of_hash", "communication, share of hash's")
BALANCE = ("balance", "work of the busiest shard over the mean")
SLOWEST = ("slowest_per_second", "messages a second, slowest shard")


def contender(distribution: str, shards: int) -> Contender:
    """Shards with a distribution."""
    parameters = {"distribution": distribution, "shards": shards}
    return Contender("DistributedLists", distribution, parameters)


def settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """As the paper, but at least as many messages as subscriptions: lists are short otherwise."""
    window = min(1_000_000, WINDOW_SHARE * scale.subscriptions)
    return Settings(data, scale.subscriptions, window, scale.messages)


def by_shards(
    scale: Scale, shards: Iterable[int], distributions: Iterable[str] = DISTRIBUTIONS
) -> Iterator[Point]:
    """More and more shards, on each data set."""
    shards, distributions = tuple(shards), tuple(distributions)
    for data in scale.data:
        for count in shards:
            for name in distributions:
                yield Point(data, count, contender(name, count), settings_of(scale, data))


def varied_size(scale: Scale, distributions: Iterable[str]) -> Iterator[Point]:
    """More and more subscriptions on 32 shards, over the same window."""
    distributions = tuple(distributions)
    window = settings_of(scale).window
    for size in scale.sizes:
        settings = replace(settings_of(scale), subscriptions=size, window=window)
        for name in distributions:
            yield Point("synthetic", size, contender(name, SHARDS[-1]), settings)


def _points(scale: Scale) -> Iterator[Point]:
    """More and more shards; then larger windows, in which lists are better."""
    yield from by_shards(scale, SHARDS)
    for window in WINDOWS:
        settings = replace(settings_of(scale), window=window)
        yield Point(LARGER, window, contender("prefix", SHARDS[-1]), settings)


def panels(*fields: tuple[str, str], group: str | None = None) -> tuple[Panel, ...]:
    """One for each field, on all groups unless one is given."""
    return tuple(Panel(label, group, field, label, shows_limit=False) for field, label in fields)


FIGURE = Figure(
    name=NAME,
    title="Top-k subscriptions in shards",
    x_label="shards, or messages in the window",
    finding="Prefix sends a fifth of what hash sends to 32 shards, and has fewer replicas the "
    "larger the window is. Shards were run one after the other in one process.",
    panels=(
        *panels(REPLICAS, OF_HASH, BALANCE, SLOWEST, group="synthetic"),
        Panel(LARGER, LARGER, *REPLICAS, logarithmic_x=True, shows_limit=False),
    ),
    points=_points,
    machine=MACHINE,
    paper=PAPER,
)
