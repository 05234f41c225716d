"""What a figure of indexes of moving subscriptions measures."""

from functools import partial
from typing import TypeAlias

from benchmarks import points
from benchmarks.figure import Panel, Scale
from benchmarks.moving.contenders import Contender
from benchmarks.moving.workload import Settings

Point: TypeAlias = points.Point[Contender, Settings]

MACHINE = Scale(
    subscriptions=100_000,
    messages=100_000,
    data=("synthetic",),
    sizes=(50_000, 100_000, 150_000, 200_000, 250_000),
    inserted=0,
)
PAPER = Scale(
    subscriptions=1_000_000,
    messages=1_000_000,
    data=("synthetic", "gnis"),
    sizes=(500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000),
    inserted=0,
)

MESSAGE = ("microseconds_per_message", "incoming message (IMM), µs")
MOVE = ("microseconds_per_move", "moving subscription (MSP), µs")
INSERTING = ("inserting_microseconds", "message insertion (MI), µs")
RELOCATING = ("relocating_microseconds", "subscriber location update (SLU), µs")
REPORTS = ("reports", "positions that clients report")
SIZE = ("bytes_per_subscription", "bytes a subscription")


def panel(title: str, quantity: tuple[str, str]) -> Panel:
    """One of these quantities, of all groups."""
    return Panel(title, None, *quantity, shows_limit=False)


def settings_of(scale: Scale, data: str = "synthetic") -> Settings:
    """The defaults at a scale."""
    return Settings(data=data, subscriptions=scale.subscriptions, live=scale.messages)


varied = partial(points.varied, settings_of=settings_of)
by_data = partial(points.by_data, settings_of=settings_of)
