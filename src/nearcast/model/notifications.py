"""What subscribers are told."""

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from nearcast.model._checks import finite_number
from nearcast.model.ids import Id, check_id

Kind: TypeAlias = Literal["match", "enter", "leave", "top", "trend"]


_OF_LISTS = ("results", "entered", "left", "moved")


@dataclass(frozen=True, slots=True, repr=False)
class Notification:
    """Something changed for a subscription.

    `kind` is `match`, `enter` or `leave` (a message joins or leaves the result of a moving
    subscription), `top` (a changed top-k list) or `trend` (a changed list of `terms`, best first,
    each with its score, and the terms that `entered`, `left` and `moved` to another place in it; it
    has no message).

    A `top` has the new list, `results`, best first, each with its score, and the ids that `entered`
    and `left` it, best first. Its message is the one whose arrival changed the list, if it was one,
    and its score what that message is worth, if it is in the list.

    >>> Notification("cafe", "match", 7).time
    0.0
    >>> Notification("cafe", "matched", 7)
    Traceback (most recent call last):
    ValueError: notification kind 'matched' is unknown; it is one of match, enter, leave, top, trend
    """

    subscription_id: Id
    kind: Kind
    message_id: Id | None
    score: float | None = None
    terms: tuple[tuple[str, float], ...] | None = None
    time: float = 0.0
    results: tuple[tuple[Id, float], ...] | None = None
    entered: tuple[Id, ...] | None = None
    left: tuple[Id, ...] | None = None
    moved: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "subscription_id", check_id(self.subscription_id, "subscription"))
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"notification kind {self.kind!r} is unknown; "
                f"it is one of {', '.join(get_args(Kind))}"
            )
        if self.message_id is not None:
            object.__setattr__(self, "message_id", check_id(self.message_id, "message"))
        if self.score is not None:
            score = finite_number(self.score, "notification score")
            object.__setattr__(self, "score", score)
        if self.terms is not None:
            terms = tuple((term, float(score)) for term, score in self.terms)
            object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "time", finite_number(self.time, "notification time"))

    def __repr__(self) -> str:
        """Every field, those of lists only where there is a list."""
        shown: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        parts = (
            f"{name}={value!r}"
            for name, value in shown.items()
            if value is not None or name not in _OF_LISTS
        )
        return f"{type(self).__name__}({', '.join(parts)})"
