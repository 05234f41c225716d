"""What subscribers of a list of terms are told."""

from dataclasses import dataclass

from nearcast.model import Id

Terms = tuple[tuple[str, float], ...]
"""Terms with their scores, the most talked about first."""


@dataclass(frozen=True, slots=True)
class TermsChange:
    """Other terms than before, or another order.

    - `terms`: the new list
    - `entered`, `left`: the terms that are new in it, and those that are no longer, best first
    - `moved`: the terms that were in it and now stand at another place
    """

    subscription_id: Id
    terms: Terms
    entered: tuple[str, ...]
    left: tuple[str, ...]
    moved: tuple[str, ...]


def terms_change(subscription_id: Id, before: tuple[str, ...], after: Terms) -> TermsChange | None:
    """The difference of two lists, or None where the same terms stand in the same order.

    >>> terms_change("s", ("rain", "bus"), (("bus", 2.0), ("rain", 1.5), ("jazz", 1.0)))
    ... # doctest: +NORMALIZE_WHITESPACE
    TermsChange(subscription_id='s', terms=(('bus', 2.0), ('rain', 1.5), ('jazz', 1.0)),
    entered=('jazz',), left=(), moved=('bus', 'rain'))
    >>> terms_change("s", ("rain",), (("rain", 3.0),)) is None
    True
    """
    now = tuple(term for term, _ in after)
    if before == now:
        return None
    rank = {term: place for place, term in enumerate(before)}
    return TermsChange(
        subscription_id,
        after,
        entered=tuple(term for term in now if term not in rank),
        left=tuple(term for term in before if term not in set(now)),
        moved=tuple(term for place, term in enumerate(now) if rank.get(term, place) != place),
    )
