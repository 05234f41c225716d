"""The paper's four groups of messages, which are the panels of each of its figures."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.figure import MACHINE, MATCHING, PAPER, Cell, Panel
from benchmarks.workloads import Settings

SHORT = (6, 10, 15, 20)
LONG = (100, 300, 600, 1000)
RANGE_AREA = 0.001  # of the space; the paper does not state the size of its messages' regions


@dataclass(frozen=True)
class MessageGroup:
    """Messages of some lengths, at points or in ranges."""

    name: str
    lengths: tuple[int, ...]
    area: float | None


GROUPS = (
    MessageGroup("short point messages", SHORT, None),
    MessageGroup("long point messages", LONG, None),
    MessageGroup("short range messages", SHORT, RANGE_AREA),
    MessageGroup("long range messages", LONG, RANGE_AREA),
)
LONG_POINT, LONG_RANGE = GROUPS[1].name, GROUPS[3].name

PANELS = tuple(
    Panel(f"({letter}) {group.name}", group.name, *MATCHING)
    for letter, group in zip("abcd", GROUPS, strict=True)
)
LENGTH = "words a message"

MACHINE_SCALE = replace(
    MACHINE,
    subscriptions=500_000,
    messages=10_000,
    sizes=tuple(range(100_000, 500_001, 100_000)),
    pass_seconds=0.3,
)
PAPER_SCALE = replace(
    PAPER,
    subscriptions=10_000_000,
    messages=10_000,
    sizes=tuple(range(2_000_000, 10_000_001, 2_000_000)),
    pass_seconds=3.0,
)


def cells(usual: Settings) -> Iterator[Cell]:
    """Every length of every group, for the same subscriptions."""
    for group in GROUPS:
        for length in group.lengths:
            settings = replace(usual, message_words=length, message_area=group.area)
            yield Cell(group.name, length, settings)
