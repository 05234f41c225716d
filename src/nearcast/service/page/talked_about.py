"""The panel of trending terms: click a point or draw a region, and see what is talked about."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from nearcast.model import NearbyTrendingSubscription, TrendingSubscription
from nearcast.service.page.elements import LiveMap, WordClouds
from nearcast.service.page.results_panel import ResultsPanel
from nearcast.service.page.terms_form import TermsForm
from nearcast.service.page.visit import Visit
from nearcast.service.page.why import WhyCard

ENTERED, UP, DOWN = "entered", "up", "down"


class TalkedAbout(ResultsPanel[TrendingSubscription | NearbyTrendingSubscription]):
    """Form and word clouds of one visit."""

    kinds = (TrendingSubscription, NearbyTrendingSubscription)
    events = ("trend",)

    def __init__(self, visit: Visit, live_map: LiveMap, why: WhyCard) -> None:
        super().__init__(visit, live_map)
        self._order: dict[str, list[str]] = {}  # by subscription: terms as they were last told
        self._changes: dict[str, dict[str, str]] = {}  # and how each has changed
        self._left: dict[str, list[str]] = {}
        with ui.element("section").classes("section"):
            ui.html("<h2>What is talked about</h2>", sanitize=False)
            TermsForm(visit, live_map, self.refresh)
        with ui.element("section").classes("matches"):
            ui.html("<h2>My places</h2>", sanitize=False)
            self._clouds = WordClouds(
                self.remove,
                self.locate,
                empty="None yet. Click a point or draw a region, then subscribe.",
            )

    def _is_gone(self) -> bool:
        return self._clouds.is_deleted

    def note(self, name: str, event: dict[str, Any]) -> None:
        terms = [each["term"] for each in event["terms"]]
        before = self._order.get(name)
        self._order[name] = terms
        # All of a first list is new, which need not be said.
        self._changes[name] = changes(before, terms) if before else {}
        self._left[name] = event["left"]

    def forget(self, name: str) -> None:
        for kept in (self._order, self._changes, self._left):
            kept.pop(name, None)

    def show(self, results: dict[str, list[Any]]) -> None:
        self._clouds.show(
            [
                {
                    "name": name,
                    "colour": self._colours[name],
                    "about": about(each),
                    "terms": self._terms(name, results[name]),
                    "gone": self._left.get(name, []),
                }
                for name, each in self._mine.items()
            ]
        )

    def _terms(self, name: str, found: list[Any]) -> list[dict[str, Any]]:
        self._order.setdefault(name, [term for term, _ in found])
        changed = self._changes.get(name, {})
        return [
            {"term": term, "score": score, "place": place, "change": changed.get(term)}
            for place, (term, score) in enumerate(found, 1)
        ]


def changes(before: list[str], now: list[str]) -> dict[str, str]:
    """How each term has changed that did.

    >>> changes(["jazz", "tea", "bus"], ["tea", "jazz", "sale"])
    {'tea': 'up', 'jazz': 'down', 'sale': 'entered'}
    """
    places = {term: place for place, term in enumerate(before)}
    found = {}
    for place, term in enumerate(now):
        if term not in places:
            found[term] = ENTERED
        elif places[term] != place:
            found[term] = UP if place < places[term] else DOWN
    return found


def about(subscription: TrendingSubscription | NearbyTrendingSubscription) -> str:
    """What a list is of, for people.

    >>> from nearcast.model import Point
    >>> about(NearbyTrendingSubscription("me", Point(0, 0), k=5))
    '5 terms · the nearer the more they count'
    """
    is_nearby = isinstance(subscription, NearbyTrendingSubscription)
    return f"{subscription.k} terms · " + (
        "the nearer the more they count" if is_nearby else "of this region"
    )
