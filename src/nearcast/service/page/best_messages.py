"""The panel of top-k subscriptions: make them, and see their lists change."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from nearcast.model import TopKSubscription
from nearcast.service.page.best_form import BestForm
from nearcast.service.page.elements import BestLists, LiveMap
from nearcast.service.page.places import point_of
from nearcast.service.page.results_panel import ResultsPanel
from nearcast.service.page.sampler import said
from nearcast.service.page.visit import Visit
from nearcast.service.page.why import WhyCard
from nearcast.service.ranking import scoring_of


class BestMessages(ResultsPanel[TopKSubscription]):
    """Form and lists of one visit."""

    kinds = TopKSubscription
    events = ("top",)

    def __init__(self, visit: Visit, live_map: LiveMap, why: WhyCard) -> None:
        super().__init__(visit, live_map)
        self._why = why
        self._entered: dict[str, set[str]] = {}  # by subscription: by its latest change
        self._messages: dict[str, dict[str, Any]] = {}  # of the lists that are shown
        with ui.element("section").classes("section"):
            ui.html("<h2>New list of the best messages</h2>", sanitize=False)
            BestForm(visit, live_map, self.refresh)
        with ui.element("section").classes("matches"):
            ui.html("<h2>My lists</h2>", sanitize=False)
            self._lists = BestLists(
                self.remove,
                self.locate,
                self._choose,
                empty="None yet. Type words, click a point, then subscribe.",
            )

    def _is_gone(self) -> bool:
        return self._lists.is_deleted

    def note(self, name: str, event: dict[str, Any]) -> None:
        # All of a first list is new, which need not be said.
        self._entered[name] = set(event["entered"] if event["cause"] is not None else ())

    def forget(self, name: str) -> None:
        self._entered.pop(name, None)

    def _read(self) -> tuple[dict[str, TopKSubscription], dict[str, list[Any]]]:
        mine, results = super()._read()
        messages: dict[str, dict[str, Any]] = {}
        for id in {id for ranked in results.values() for id, _ in ranked}:
            document = self._messages.get(id) or self._visit.service.messages.get(id)
            if document is not None:
                messages[id] = document
        self._messages = messages
        return mine, results

    def show(self, results: dict[str, list[Any]]) -> None:
        self._lists.show(
            [
                {
                    "name": name,
                    "colour": self._colours[name],
                    "about": about(each),
                    "items": [self._item(name, id, score) for id, score in results[name]],
                }
                for name, each in self._mine.items()
            ]
        )

    def _item(self, name: str, id: str, score: float) -> dict[str, Any]:
        message = self._messages.get(id)
        return {
            "id": id,
            "score": score,
            "text": "(no longer kept)" if message is None else said(message),
            "entered": id in self._entered.get(name, ()),
        }

    def _choose(self, name: str, id: str) -> None:
        if name not in self._mine or id not in self._messages:
            return
        message = self._messages[id]
        service = self._visit.service
        result = service.outbox.result(self._visit.owner, name, "top")
        ranked = [(each, score) for each, score in result]
        colour, scoring = self._colours[name], scoring_of(service.settings)
        self._why.show_rank(name, colour, self._mine[name], message, tuple(ranked), scoring)
        self._map.select(*point_of(message))


def about(subscription: TopKSubscription) -> str:
    """What a list is of, for people.

    >>> from nearcast.model import Point
    >>> about(TopKSubscription("lunch", "ramen noodles", Point(0, 0), k=3, alpha=0.25))
    'ramen noodles · best 3 · 75% words, 25% nearness'
    """
    near = round(100 * subscription.alpha)
    words = " ".join(subscription.keywords)
    return f"{words} · best {subscription.k} · {100 - near}% words, {near}% nearness"
