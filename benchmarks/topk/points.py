"""What a figure of top-k indexes measures."""

from functools import partial
from typing import TypeAlias

from benchmarks import points
from benchmarks.figure import Panel, Scale
from benchmarks.topk.contenders import Contender
from benchmarks.topk.workload import Settings

Point: TypeAlias = points.Point[Contender, Settings]

MACHINE = Scale(
    subscriptions=100_000,
    messages=2_000,
    data=("synthetic",),
    sizes=(100_000, 200_000, 300_000, 400_000, 500_000),
    inserted=0,
)
PAPER = Scale(
    subscriptions=1_000_000,
    messages=30_000,
    data=("synthetic", "gnis"),
    sizes=(1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000),
    inserted=0,
)

ARRIVING = ("arriving_microseconds", "arriving message (AMP), µs")
EXPIRING = ("expiring_microseconds", "expired message (EMP), µs")
BUFFERED = ("buffered_per_subscription", "buffered messages a subscription")
TIMES = (
    Panel("a message arrives", None, *ARRIVING, shows_limit=False),
    Panel("a message expires", None, *EXPIRING, shows_limit=False),
)


def settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """The defaults at a scale: as many messages in the window as there are subscriptions."""
    return Settings(
        data=data,
        subscriptions=scale.subscriptions,
        window=scale.subscriptions,
        messages=scale.messages,
    )


varied = partial(points.varied, settings_of=settings_of)
by_data = partial(points.by_data, settings_of=settings_of)
