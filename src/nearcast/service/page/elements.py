"""The parts of the page that the browser draws by itself: the map and the lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import nicegui.elements.leaflet  # its Leaflet and leaflet.draw are used, its element is not
from nicegui import ui

from nearcast.model import Point, Region
from nearcast.service.page.places import shape_of

_LEAFLET = Path(nicegui.elements.leaflet.__file__).parent / "dist"

Match = dict[str, Any]
"""A match as the browser gets it: id, subscription, colour, time, text, lon, lat."""
Dot = tuple[float, float, str]
"""A message as the browser gets it: longitude, latitude, text."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Who has asked for a place to be drawn, and is told of it.

    - `drawn`: gets the place, as text
    - `stopped`: it has ended, with a place or without
    - `drawing`: gets the place as it is so far, now and then
    """

    drawn: Callable[[str], Any]
    stopped: Callable[[], Any]
    drawing: Callable[[str], Any] = lambda place: None


class LiveMap(ui.element, component="static/live_map.js", esm={"nearcast-page": "static"}):
    """The map: messages fade, matches glow, subscriptions are drawn and can be drawn.

    - `tiles`: the address of a tile server, or nothing
    - `corners`: south-west and north-east, as latitude and longitude, of what to show at first
    """

    def __init__(self, tiles: str, corners: Sequence[tuple[float, float]] | None) -> None:
        super().__init__()
        self.add_resource(_LEAFLET)
        self._props["tiles"] = tiles
        self._props["bounds"] = corners
        self._props["shapes"] = []
        self._shapes: dict[str, list[dict[str, Any]]] = {}
        self._props["draft"] = None
        self._drawing: Drawing | None = None
        self.on("drawn", lambda event: self._drawing and self._drawing.drawn(event.args))
        self.on("drawing", lambda event: self._drawing and self._drawing.drawing(event.args))
        self.on("stopped", lambda _: self._stopped())

    def draw(self, kind: str, drawing: Drawing) -> None:
        """Let the person draw a `box`, a `circle`, a `polygon`, or click a `point`."""
        self._stopped()
        self._drawing = drawing
        self.run_method("draw", kind)

    def _stopped(self) -> Any:
        return self._drawing.stopped() if self._drawing is not None else None

    def tick(self, messages: Sequence[Dot], matches: Sequence[Match]) -> None:
        """What has come since the last tick."""
        self.run_method("tick", messages, matches)

    def set_draft(self, region: Region | Point | None) -> None:
        """The region or point that is being thought about."""
        self._props["draft"] = None if region is None else shape_of(region)
        self.update()

    def set_shapes(
        self, shapes: Sequence[tuple[str, str, Region | Point]], of: str = "matches"
    ) -> None:
        """Name, colour and place of each subscription that has one; `of` which panel they are."""
        drawn = [
            {"key": f"{of} {name}", "name": name, "colour": colour, **shape_of(place)}
            for name, colour, place in shapes
        ]
        if drawn == self._shapes.get(of, []):
            return
        self._shapes[of] = drawn
        self._props["shapes"] = [each for group in self._shapes.values() for each in group]
        self.update()

    def show(self, region: Region | Point) -> None:
        """Go where it is."""
        self.run_method("show", shape_of(region))

    def select(self, lon: float, lat: float) -> None:
        """Go to a place and mark it."""
        self.run_method("select", lon, lat)

    def deselect(self) -> None:
        """Take the mark away."""
        self.run_method("deselect")


class MatchList(ui.element, component="static/match_list.js"):
    """Matches, newest first; `on_choose` gets the id of the one that was chosen."""

    def __init__(self, on_choose: Callable[[int], Any], *, empty: str) -> None:
        super().__init__()
        self._props["empty"] = empty
        self.on("choose", lambda event: on_choose(event.args))

    def add(self, matches: Sequence[Match]) -> None:
        """Put these on top; the newest comes first."""
        self.run_method("add", matches)

    def forget(self, subscription: str) -> None:
        """Take away what a subscription matched."""
        self.run_method("forget", subscription)

    def unchoose(self) -> None:
        """Mark none."""
        self.run_method("unchoose")


class _Listed(ui.element):
    """Lists of subscriptions, each with a name; `on_remove` and `on_locate` get one of them.

    `on_choose` gets a name and the id of a message that was chosen in its list.
    """

    _lists: ClassVar[str]  # what its component calls them

    def __init__(
        self,
        on_remove: Callable[[str], Any],
        on_locate: Callable[[str], Any],
        on_choose: Callable[[str, str], Any] | None = None,
        *,
        empty: str,
    ) -> None:
        super().__init__()
        self._props[self._lists] = []
        self._props["empty"] = empty
        self.on("remove", lambda event: on_remove(event.args))
        self.on("locate", lambda event: on_locate(event.args))
        if on_choose is not None:
            self.on("choose", lambda event: on_choose(*event.args))

    def show(self, lists: Sequence[dict[str, Any]]) -> None:
        """Name, colour, what it is about, and what each kind has besides."""
        if lists != self._props[self._lists]:
            self._props[self._lists] = list(lists)
            self.update()


class BestLists(_Listed, component="static/best_lists.js"):
    """Of top-k subscriptions: `items` with id, text, score, whether it has just come."""

    _lists = "lists"


class WordClouds(_Listed, component="static/word_clouds.js"):
    """Terms that are talked about: `gone` ones, and `terms` with term, score, place, change."""

    _lists = "clouds"


class Walks(_Listed, component="static/walks.js"):
    """Those who move: `count`, and `items` with id, text, `entered` or `left`."""

    _lists = "walks"
