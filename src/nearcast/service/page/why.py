"""`WhyCard`: why a message matched, or is in a list, over the map."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from html import escape
from typing import Any

from nicegui import ui

from nearcast.explain import Explanation, explain
from nearcast.explain.rank import RankExplanation, explain_rank
from nearcast.model import Point, Subscription, TopKSubscription
from nearcast.service.documents import message_from
from nearcast.service.page.sampler import said
from nearcast.text import tokenize
from nearcast.topk.index import Scoring
from nearcast.topk.list_change import Ranked

_WORD = re.compile(r"\w+")


class WhyCard:
    """Hidden until a match is chosen; `on_close` is called when it is closed."""

    def __init__(self, on_close: Callable[[], None]) -> None:
        self._on_close = on_close
        with (
            ui.element("section").classes("why").props('aria-label="Why it matched"') as self._card
        ):
            with ui.element("header"):
                self._swatch = ui.element("span").classes("swatch")
                self._title = ui.label()
                close = ui.button(icon="close", color=None, on_click=self.close).props(
                    "flat round dense size=sm"
                )
                close.props["aria-label"] = "Close"
            self._body = ui.html("", sanitize=False).props('role="status" aria-live="polite"')
        self._card.set_visibility(False)

    def show(
        self, name: str, colour: str, subscription: Subscription | None, message: dict[str, Any]
    ) -> None:
        """Explain; without a subscription it says that it is gone."""
        self._title.text = f"Matched “{name}”"
        self._swatch.style(f"background: {colour}")
        if subscription is None:
            self._body.content = (
                f'<p class="said">{escape(said(message))}</p>'
                '<div class="reason">This subscription is no longer there.</div>'
            )
        else:
            self._body.content = explanation_html(
                explain(subscription, message_from(message, time.time()))
            )
        self._card.set_visibility(True)

    def show_rank(
        self,
        name: str,
        colour: str,
        subscription: TopKSubscription,
        message: dict[str, Any],
        results: Ranked,
        scoring: Scoring,
    ) -> None:
        """Explain the score of a message in a list."""
        self._title.text = f"In the list “{name}”"
        self._swatch.style(f"background: {colour}")
        found = explain_rank(subscription, message_from(message, time.time()), scoring, results)
        self._body.content = rank_html(found)
        self._card.set_visibility(True)

    def close(self) -> None:
        """Hide it."""
        self._card.set_visibility(False)
        self._on_close()


def explanation_html(explanation: Explanation) -> str:
    """What the message said, with the words that decided marked; and the reasons."""
    decisive = {
        word for clause in explanation.clauses if clause.holds for word in clause.clause.required
    }
    message = explanation.message
    text = message.text if message.text is not None else " ".join(message.keywords)
    verdict, wanted, _ = str(explanation).split("\n")
    at = message.at if isinstance(message.at, Point) else None
    rows = [("wanted", wanted.partition(":")[2].strip())]
    if at is not None:
        rows.append(("place", f"{at.lon:.5f}, {at.lat:.5f}"))
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    return (
        f'<p class="said">{_marked(text, decisive)}</p>'
        f'<div class="reason">{escape(_sentence(verdict))}</div><dl>{listed}</dl>'
    )


def rank_html(found: RankExplanation) -> str:
    """What the message said, with the shared words marked; and the parts of its score."""
    message, alpha = found.message, found.subscription.alpha
    text = message.text if message.text is not None else " ".join(message.keywords)
    verdict = str(found).partition("\n")[0]
    far = found.distance
    rows = [
        ("score", f"{found.score:.3f}"),
        ("words", f"{found.cosine:.3f}, counts {1 - alpha:.0%}"),
        ("nearness", f"{found.nearness:.3f}, counts {alpha:.0%}"),
        ("distance", f"{far / 1000:,.1f} km" if far >= 1000 else f"{far:.0f} m"),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    marked = _marked(text, {each.word for each in found.words})
    return (
        f'<p class="said">{marked}</p>'
        f'<div class="reason">{escape(_sentence(verdict))}</div><dl>{listed}</dl>'
    )


def _sentence(verdict: str) -> str:
    """A match is what the title says already."""
    reasons = verdict.removeprefix("match: ")
    return reasons[0].upper() + reasons[1:]


def _marked(text: str, words: set[str]) -> str:
    parts: list[str] = []
    end = 0
    for found in _WORD.finditer(text):
        if words.intersection(tokenize(found.group())):
            parts += [escape(text[end : found.start()]), f"<mark>{escape(found.group())}</mark>"]
            end = found.end()
    return "".join([*parts, escape(text[end:])])
