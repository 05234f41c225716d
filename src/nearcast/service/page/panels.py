"""What stands beside the map, one tab each.  A new kind of subscription adds its panel here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nearcast.service.page.best_messages import BestMessages
from nearcast.service.page.elements import LiveMap, Match
from nearcast.service.page.every_match import EveryMatch
from nearcast.service.page.on_the_move import OnTheMove
from nearcast.service.page.talked_about import TalkedAbout
from nearcast.service.page.visit import Visit
from nearcast.service.page.why import WhyCard


class Panel(Protocol):
    """Built inside its tab."""

    def start(self) -> None:
        """The browser is there."""

    def tick(self) -> list[Match]:
        """Twice a second: show what is new, and say what is to light up on the map."""

    def unchoose(self) -> None:
        """What was chosen is closed."""

    def close(self) -> None:
        """The browser is gone."""


PANELS: dict[str, Callable[[Visit, LiveMap, WhyCard], Panel]] = {
    "Every match": EveryMatch,
    "The best": BestMessages,
    "Terms": TalkedAbout,
    "Moving": OnTheMove,
}
"""By the name of the tab, from left to right."""
