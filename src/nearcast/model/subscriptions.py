"""What people wait for: every match, the best few, or what is talked about."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from nearcast.model._checks import bag_of_words, finite_number, positive_count
from nearcast.model.ids import Id, check_id
from nearcast.model.shapes import Box, Circle, Point, Polygon, Region
from nearcast.text.expression import ANYTHING, Expression, ExpressionError, parse


class AnyKeywords(Enum):
    """The type of `ANY`."""

    ANY = "ANY"

    def __repr__(self) -> str:
        return "ANY"


ANY: Final = AnyKeywords.ANY
"""As the keywords of a subscription: whatever the words, the region decides."""


@dataclass(frozen=True, slots=True, init=False)
class Subscription:
    """Every message whose words satisfy an expression and whose place is in a region.

    `keywords` is a text for `nearcast.text.parse`, an iterable of words that must all occur, an
    `Expression`, or `ANY`, which needs a region. No region means everywhere.

    >>> Subscription("cafe", "coffee OR tea", Circle(Point(2.35, 48.86), 500)).expression
    parse('coffee OR tea')
    >>> Subscription("all", ANY)
    Traceback (most recent call last):
    ValueError: subscription 'all': ANY keywords everywhere is every message; give a region
    """

    id: Id
    region: Region | None
    expression: Expression

    def __init__(
        self,
        id: Id,
        keywords: str | Iterable[str] | Expression | Literal[AnyKeywords.ANY],
        region: Region | None = None,
    ) -> None:
        object.__setattr__(self, "id", id)
        owner = _set_id(self)
        expression = _expression(keywords, owner)
        if region is not None:
            _check_region(region, owner)
        elif expression == ANYTHING:
            raise ValueError(f"{owner}: ANY keywords everywhere is every message; give a region")
        object.__setattr__(self, "region", region)
        object.__setattr__(self, "expression", expression)


@dataclass(frozen=True, slots=True, init=False)
class MovingSubscription(Subscription):
    """A `Subscription` whose region moves, and which has a result: the live messages that match it.

    >>> MovingSubscription("walker", "tea", Circle(Point(2.35, 48.86), 500)).region.radius
    500.0
    """


@dataclass(frozen=True, slots=True, init=False)
class TopKSubscription:
    """The `k` best messages of the window, by nearness to `at` (weight `alpha`) and by words.

    `keywords` is a text or an iterable of words, without operators; afterwards the tuple of all
    tokens, repeats kept, at least one.

    >>> TopKSubscription("lunch", "Ramen noodles", Point(139.7, 35.7), k=3).keywords
    ('ramen', 'noodles')
    >>> TopKSubscription("lunch", "ramen", Point(139.7, 35.7), alpha=2)
    Traceback (most recent call last):
    ValueError: subscription 'lunch': alpha 2.0 is outside [0, 1]; 0 is words alone, 1 place alone
    """

    id: Id
    keywords: tuple[str, ...]
    at: Point
    k: int
    alpha: float

    def __init__(
        self, id: Id, keywords: str | Iterable[str], at: Point, k: int = 20, alpha: float = 0.5
    ) -> None:
        object.__setattr__(self, "id", id)
        owner = _set_id(self)
        words = bag_of_words([keywords] if isinstance(keywords, str) else keywords, owner)
        if not words:
            raise ValueError(f"{owner}: keywords {keywords!r} hold no word; give at least one")
        _check_point(at, owner)
        alpha = finite_number(alpha, f"{owner}: alpha")
        if not 0 <= alpha <= 1:
            raise ValueError(
                f"{owner}: alpha {alpha} is outside [0, 1]; 0 is words alone, 1 place alone"
            )
        object.__setattr__(self, "keywords", words)
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "k", positive_count(k, f"{owner}: k"))
        object.__setattr__(self, "alpha", alpha)


@dataclass(frozen=True, slots=True)
class TrendingSubscription:
    """The `k` terms most talked about in a region.

    >>> TrendingSubscription("here", Box(2, 48, 3, 49)).k
    10
    """

    id: Id
    region: Region
    k: int = 10

    def __post_init__(self) -> None:
        owner = _set_id(self)
        _check_region(self.region, owner)
        object.__setattr__(self, "k", positive_count(self.k, f"{owner}: k"))


@dataclass(frozen=True, slots=True)
class NearbyTrendingSubscription:
    """The `k` terms most talked about, the nearer to `at` the more they count.

    >>> NearbyTrendingSubscription("near me", Point(2.35, 48.86), k=5).k
    5
    """

    id: Id
    at: Point
    k: int = 10

    def __post_init__(self) -> None:
        owner = _set_id(self)
        _check_point(self.at, owner)
        object.__setattr__(self, "k", positive_count(self.k, f"{owner}: k"))


_Any = Subscription | TopKSubscription | TrendingSubscription | NearbyTrendingSubscription


def _set_id(subscription: _Any) -> str:
    """Store the checked id; the answer names the subscription in errors."""
    object.__setattr__(subscription, "id", check_id(subscription.id, "subscription"))
    return f"subscription {subscription.id!r}"


def _expression(keywords: object, owner: str) -> Expression:
    if isinstance(keywords, Expression):
        return keywords
    if keywords is ANY:
        return ANYTHING
    if isinstance(keywords, str):
        try:
            return parse(keywords)
        except ExpressionError as error:
            raise ExpressionError(error.problem, error.text, error.column, owner) from None
    if not isinstance(keywords, Iterable):
        raise TypeError(
            f"{owner}: keywords {keywords!r} are no words; "
            "give an expression, a list of words, or ANY with a region"
        )
    try:
        return Expression.of_words(keywords)
    except TypeError as error:
        raise TypeError(f"{owner}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{owner}: {error}") from None


def _check_region(region: object, owner: str) -> None:
    if not isinstance(region, Box | Circle | Polygon):
        raise TypeError(
            f"{owner}: region {region!r} is no Box, Circle or Polygon; give one of them"
        )


def _check_point(at: object, owner: str) -> None:
    if not isinstance(at, Point):
        raise TypeError(f"{owner}: at {at!r} is not a Point; give Point(lon, lat)")
