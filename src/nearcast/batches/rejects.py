"""Rows that a batch refuses, each with the reason."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

SHOWN = 5
"""How many bad rows the text of `BadRows` shows; `BadRows.rejects` holds them all."""


class BadRows(ValueError):
    """Some rows of a batch break a rule; nothing of the batch was taken.

    `rejects` holds every bad row once, as (row number from 0, reason), in the order of the rows, so
    that a caller may put those rows aside and load the others.

    >>> import pyarrow as pa
    >>> from nearcast.batches import MessageBatch
    >>> table = pa.table({"id": [7, 8], "text": ["hot", "tea"], "lon": [0, 1], "lat": [95.2, 1]})
    >>> try:
    ...     MessageBatch.from_arrow(table)
    ... except BadRows as bad:
    ...     [row for row, reason in bad.rejects]
    [0]
    """

    def __init__(self, text: str, rejects: list[tuple[int, str]]) -> None:
        super().__init__(text)
        self.rejects = rejects

    def __reduce__(self) -> tuple[type[BadRows], tuple[str, list[tuple[int, str]]]]:
        # An exception is otherwise rebuilt from its text alone, and would not survive a pickle.
        return BadRows, (str(self), self.rejects)


class Rejects:
    """Gathers the reasons why rows are refused; several reasons of one row are joined.

    >>> rejects = Rejects("message")
    >>> rejects.add(3, "text is null")
    >>> rejects.raise_if_any(pa.array(["a", "b", "c", "d"]))
    Traceback (most recent call last):
    ...
    nearcast.batches.rejects.BadRows: row 3, message 'd': text is null
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._reasons: dict[int, str] = {}

    def __contains__(self, row: int) -> bool:
        return row in self._reasons

    def __len__(self) -> int:
        return len(self._reasons)

    def add(self, row: int, reason: str) -> None:
        """Note that `row` is refused for `reason`."""
        before = self._reasons.get(row)
        self._reasons[row] = reason if before is None else f"{before}\nand {reason}"

    def raise_if_any(self, ids: pa.Array) -> None:
        """Raise `BadRows` when a row was refused; `ids[row]` names it in the text."""
        if not self._reasons:
            return
        rejects = sorted(self._reasons.items())
        lines = []
        for row, reason in rejects[:SHOWN]:
            lines.append(f"row {row}, {self._kind} {ids[row].as_py()!r}: {reason}")
        if len(rejects) == 1:
            raise BadRows(lines[0], rejects)
        more = len(rejects) - SHOWN
        if more > 0:
            lines.append(f"... and {more} more, see .rejects")
        raise BadRows("\n".join([f"{len(rejects)} bad rows", *lines]), rejects)


def why_refused(make: Callable[[], object]) -> str:
    """What the constructor that refuses these values says about them.

    A check over a whole column only finds the bad rows. The words come from the class that owns the
    rule, so that a row of a table and a single object are refused alike.
    """
    try:
        made = make()
    except (TypeError, ValueError) as error:
        return str(error)
    raise AssertionError(f"a column check refused what is a valid {made!r}")
