"""Which messages count? The last so many, or those of the last so many seconds."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from nearcast.model._checks import finite_number, positive_count


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `messages` messages, by arrival.

    >>> CountWindow(0)
    Traceback (most recent call last):
    ValueError: window: messages 0 is below 1; give an int >= 1
    """

    messages: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", positive_count(self.messages, "window: messages"))


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The messages of the last `seconds` seconds: one of time t until `t + seconds`.

    >>> TimeWindow(-1)
    Traceback (most recent call last):
    ValueError: window: seconds -1.0 is not positive; give a length of time
    """

    seconds: float

    def __post_init__(self) -> None:
        seconds = finite_number(self.seconds, "window: seconds")
        if seconds <= 0:
            raise ValueError(f"window: seconds {seconds} is not positive; give a length of time")
        object.__setattr__(self, "seconds", seconds)


Window: TypeAlias = CountWindow | TimeWindow


def window_row(window: Window) -> list[Any]:
    """A window as JSON."""
    if isinstance(window, CountWindow):
        return ["count", window.messages]
    return ["time", window.seconds]


def window_of(row: list[Any]) -> Window:
    """The window that `window_row` wrote.

    >>> window_of(window_row(TimeWindow(60)))
    TimeWindow(seconds=60.0)
    """
    kind, size = row
    return CountWindow(size) if kind == "count" else TimeWindow(size)
