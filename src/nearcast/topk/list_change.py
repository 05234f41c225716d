"""What subscribers of a top-k list are told."""

from dataclasses import dataclass

from nearcast.model import Id

Ranked = tuple[tuple[Id, float], ...]
"""Message ids with their scores, best first."""


@dataclass(frozen=True, slots=True)
class ListChange:
    """The list of a subscription is another than before.

    - `results`: the new list
    - `entered`, `left`: the ids that are new in it, and those that are no longer, best first
    """

    subscription_id: Id
    results: Ranked
    entered: tuple[Id, ...]
    left: tuple[Id, ...]


def list_change(subscription_id: Id, before: Ranked, after: Ranked) -> ListChange | None:
    """The difference of two lists, or None where there is none.

    >>> list_change("s", ((1, 0.9), (2, 0.5)), ((3, 0.95), (1, 0.9)))
    ListChange(subscription_id='s', results=((3, 0.95), (1, 0.9)), entered=(3,), left=(2,))
    """
    if before == after:
        return None
    old, new = {id for id, _ in before}, {id for id, _ in after}
    return ListChange(
        subscription_id,
        after,
        tuple(id for id, _ in after if id not in old),
        tuple(id for id, _ in before if id not in new),
    )
