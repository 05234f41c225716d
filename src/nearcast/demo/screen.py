"""The demo as a live picture in a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from nearcast.demo.city_map import CityMap
from nearcast.demo.simulation import Simulation

_MARKS = {
    "concert": ("♪", "bold #e56bff"),
    "flash sale": ("%", "bold #4ade80"),
    "traffic jam": ("!", "bold #ff5c5c"),
}
_FRAME = "#3d4653"
_FAINT = "#8792a2"
_ACCENT = "#7dc4ff"
# How a message looks, by how many ticks ago it came.
_FRESH = ("bold #fff4c2", "#ffe7a3", "#ffe7a3", "#f0dfb5", "#f0dfb5")
_WIDE = 100  # columns; a narrower terminal has no room for the map
_RATES_ROWS = 4
_BUSIEST_ROWS = 5
_EVENTS_ROWS = 5


class ScreenDisplay:
    """Draws each tick on the terminal's second screen, and gives the first one back at the end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def show(self, simulation: Simulation) -> None:
        """Draw where the simulation stands."""
        self._live.update(picture(simulation, *self._console.size), refresh=True)


def picture(simulation: Simulation, columns: int, rows: int) -> Layout:
    """The whole screen: rates, the people, the busiest, and left of them the map and its events.

    A low terminal shows fewer people, a narrow one leaves the map out.
    """
    screen = Layout()
    body = Layout()
    screen.split_column(Layout(_rates(simulation, columns), size=_RATES_ROWS), body)
    free = rows - _RATES_ROWS
    shown = max(1, min(len(simulation.people), (free - _BUSIEST_ROWS - 2) // 2))
    lists = Layout()
    lists.split_column(
        Layout(_people(simulation, shown), size=2 * shown + 2), Layout(_busiest(simulation))
    )
    if columns < _WIDE:
        body.update(lists)
        return screen
    width = columns * 2 // 5
    # A character is about twice as high as wide, and the city about as high as wide.
    height = min((width - 4) // 2 + 2, free - _EVENTS_ROWS)
    places = Layout(size=width)
    places.split_column(Layout(_map(simulation), size=height), Layout(_events(simulation)))
    body.split_row(places, lists)
    return screen


def _panel(content: RenderableType, title: str) -> Panel:
    return Panel(
        content,
        title=f"[{_FAINT}]{title}[/]",
        title_align="left",
        border_style=_FRAME,
        box=box.ROUNDED,
        padding=(0, 1),
    )


def _rates(simulation: Simulation, columns: int) -> RenderableType:
    rates = simulation.rates
    numbers = Table.grid(expand=True, padding=(0, 1))
    figures = [
        (f"{len(simulation.broker):,}", "subscriptions"),
        (f"{rates.messages_per_second:,.0f}", "messages/s"),
        (f"{rates.matches_per_second:,.0f}", "matches/s"),
        (f"{rates.microseconds_per_message:,.0f} µs", "a message"),
    ]
    if columns >= _WIDE:
        figures.append((f"{simulation.matches:,}", "matches so far"))
    for _ in figures:
        numbers.add_column(justify="center")
    numbers.add_row(
        *(
            Text.assemble((value, f"bold {_ACCENT}"), (f" {name}", _FAINT))
            for value, name in figures
        )
    )
    title = Table.grid(expand=True)
    title.add_column()
    title.add_column(justify="right")
    title.add_row(
        Text.assemble(("nearcast", "bold"), (" · a simulated city", _FAINT)),
        Text.assemble((simulation.time_of_day, "bold"), ("   Ctrl-C ends", _FAINT)),
    )
    return Panel(Group(title, numbers), border_style=_FRAME, box=box.ROUNDED, padding=(0, 1))


def _people(simulation: Simulation, shown: int) -> RenderableType:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(width=6, no_wrap=True)
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    for person in simulation.people[:shown]:
        table.add_row(
            Text(person.name, "bold"),
            Text.assemble((person.wish, _ACCENT), (f"  {person.where}", _FAINT)),
            Text(f"{simulation.got(person):,}", _FAINT),
        )
        delivery = simulation.latest.get(person.name)
        if delivery is None:
            table.add_row("", Text("nothing yet", _FAINT), "")
            continue
        age = simulation.ticks - 1 - delivery.tick
        style = _FRESH[age] if age < len(_FRESH) else _FAINT
        table.add_row(
            Text("●" if age == 0 else "", style, justify="right"),
            Text(delivery.message.text or "", style),
            Text(simulation.place_of(delivery.message), style),
        )
    return _panel(table, "latest matches")


def _busiest(simulation: Simulation) -> RenderableType:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for subscription, received in simulation.busiest(16):
        table.add_row(
            Text(str(subscription.id), "bold"),
            Text(str(subscription.expression), _ACCENT),
            Text(simulation.region_of(subscription), _FAINT),
            Text(f"{received:,}", "bold"),
        )
    return _panel(table, "the busiest subscription of each wish")


def _map(simulation: Simulation) -> RenderableType:
    marks = {burst.venue.at: _MARKS[burst.kind] for burst in simulation.bursts}
    places = [venue.at for venue in simulation.city.venues]
    city = CityMap(simulation.city.bounds, places, simulation.glow, marks)
    return _panel(city, "where somebody wanted to hear it")


def _events(simulation: Simulation) -> RenderableType:
    lines = []
    for burst in simulation.bursts:
        mark, style = _MARKS[burst.kind]
        lines.append(
            Text.assemble(
                (f"{mark} {burst.kind}", style),
                f" at {burst.venue.name}, {burst.venue.street}",
                no_wrap=True,
                overflow="ellipsis",
            )
        )
    quiet = Text("an ordinary day", _FAINT)
    return _panel(Group(*lines) if lines else quiet, "happening now")
