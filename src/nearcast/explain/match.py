"""Why does a boolean subscription want a message, or why not?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nearcast.explain._wording import box_text, length_text, said_text
from nearcast.model import Box, Circle, Message, Region, Subscription
from nearcast.space import distance_to_region, is_in
from nearcast.text import ANYTHING, Clause

SHOWN = 4
"""How many ways to satisfy an expression the text of an `Explanation` shows."""


@dataclass(frozen=True, slots=True)
class ClauseExplanation:
    """What one clause of an expression finds wrong with a message; nothing when it holds.

    - `missing`: words that it requires and the message does not have
    - `unwanted`: words that it forbids and the message has
    """

    clause: Clause
    missing: frozenset[str]
    unwanted: frozenset[str]

    @property
    def holds(self) -> bool:
        """Is the clause satisfied?"""
        return not self.missing and not self.unwanted


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a message fares with a subscription; `str` says it in words.

    - `clauses`: each clause of the expression, in its order; one that holds is enough
    - `in_region`: is the place of the message in the region of the subscription?
    - `distance`: how far it is from the region, 0 inside; metres, or units of the plane
    """

    subscription: Subscription
    message: Message
    clauses: tuple[ClauseExplanation, ...]
    in_region: bool
    distance: float

    @property
    def words_match(self) -> bool:
        """Do the words of the message satisfy the expression?"""
        return any(clause.holds for clause in self.clauses)

    @property
    def matches(self) -> bool:
        """Would the message be delivered?"""
        return self.words_match and self.in_region

    def __str__(self) -> str:
        verdict = "match" if self.matches else "no match"
        subscription, message = self.subscription, self.message
        return (
            f"{verdict}: {'; '.join(self._reasons())}\n"
            f"  wanted: {subscription.expression}, {_region_text(subscription.region)}\n"
            f"  said:   {said_text(message)}"
        )

    def _reasons(self) -> Iterable[str]:
        """What decides: everything for a match, only what is wrong otherwise."""
        if self.matches or not self.words_match:
            yield self._words_text()
        if not self.in_region:
            yield f"{length_text(self.distance, self.message.at.space)} outside the region"
        elif self.matches:
            yield "everywhere" if self.subscription.region is None else "inside the region"

    def _words_text(self) -> str:
        if self.subscription.expression == ANYTHING:
            return "any words will do"
        for explained in self.clauses:
            if explained.holds:
                return f"has {_conditions(explained.clause.required, explained.clause.forbidden)}"
        return f"needs {_ways(self.clauses)}"


def explain(subscription: Subscription, message: Message) -> Explanation:
    """Look at every part of the subscription, in plain Python, as its definition reads.

    >>> from nearcast.model import Point
    >>> deals = Subscription("deals", "ipad (discount OR sale)", Circle(Point(2.35, 48.86), 500))
    >>> explanation = explain(deals, Message(7, text="New iPad case", at=Point(2.36, 48.87)))
    >>> print(explanation)
    no match: needs 'discount' or 'sale'; 831 m outside the region
      wanted: (discount AND ipad) OR (ipad AND sale), within 500 m of 2.35, 48.86
      said:   'New iPad case', at 2.36, 48.87
    >>> [sorted(clause.missing) for clause in explanation.clauses], round(explanation.distance)
    ([['discount'], ['sale']], 831)
    >>> explain(deals, Message(8, text="iPad sale!", at=Point(2.35, 48.86))).matches
    True
    """
    words = frozenset(message.keywords)
    return Explanation(
        subscription,
        message,
        tuple(
            ClauseExplanation(clause, clause.required - words, clause.forbidden & words)
            for clause in subscription.expression.clauses
        ),
        is_in(message.at, subscription.region),
        distance_to_region(message.at, subscription.region),
    )


# ---------------------------------------------------------------- words


def _ways(clauses: Iterable[ClauseExplanation]) -> str:
    """The least changes that would satisfy one of the clauses, what they share in front."""
    changes = _least({(clause.missing, clause.unwanted) for clause in clauses})
    missing = frozenset.intersection(*(change[0] for change in changes))
    unwanted = frozenset.intersection(*(change[1] for change in changes))
    ways = [_conditions(more - missing, less - unwanted) for more, less in changes]
    if len(ways) == 1:
        return _conditions(missing, unwanted)
    # With parentheses only where a reader could take "and" and "or" for each other's part.
    choice = " or ".join(f"({way})" if " and " in way else way for way in ways[:SHOWN])
    if len(ways) > SHOWN:
        choice += f" or one of {len(ways) - SHOWN} other ways"
    if not missing and not unwanted:
        return choice
    return f"{_conditions(missing, unwanted)} and ({choice})"


Change = tuple[frozenset[str], frozenset[str]]


def _least(changes: set[Change]) -> list[Change]:
    """Without those that ask for more than another does; the shortest first."""
    by_size = sorted(
        changes,
        key=lambda change: (len(change[0] | change[1]), sorted(change[0]), sorted(change[1])),
    )
    least: list[Change] = []
    for missing, unwanted in by_size:
        if not any(less <= missing and fewer <= unwanted for less, fewer in least):
            least.append((missing, unwanted))
    return least


def _conditions(required: Iterable[str], forbidden: Iterable[str]) -> str:
    present = [f"'{word}'" for word in sorted(required)]
    absent = [f"no '{word}'" for word in sorted(forbidden)]
    return " and ".join(present + absent)


# ---------------------------------------------------------------- places


def _region_text(region: Region | None) -> str:
    match region:
        case None:
            return "everywhere"
        case Box():
            return f"in the box {box_text(region)}"
        case Circle(centre, radius):
            return f"within {length_text(radius, centre.space)} of {centre.lon:g}, {centre.lat:g}"
        case _:
            return f"in the polygon from {region.rings[0][0][0]:g}, {region.rings[0][0][1]:g}"
