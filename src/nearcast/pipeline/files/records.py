"""Rows of text files as records, before they are subscriptions or messages.

A record is a dictionary with the contract's names as keys: numbers and texts, lists of words,
GeoJSON as an object. Every text format becomes records, so the rules about them are in one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class RowProblem(ValueError):
    """Why a row is refused; `id` is its id where that is known."""

    def __init__(self, reason: str, id: object = None) -> None:
        super().__init__(reason)
        self.id = id


@dataclass(frozen=True, slots=True)
class Numbered:
    """A record, or the problem that it is, and its number in its file, from 1."""

    number: int
    record: Record | RowProblem


@dataclass(frozen=True, slots=True)
class Part:
    """What one task reads: a file, or whole lines of it.

    `stop` is None at the end of the file; `first` is the number of the first line; `columns` are
    those of a CSV file that are read.
    """

    path: Path
    format: str
    start: int = 0
    stop: int | None = None
    first: int = 1
    columns: tuple[str, ...] = ()

    def place(self, number: int) -> str:
        """Where a record stands, for people.

        >>> Part(Path("folder/places.geojson"), "geojson").place(3)
        'places.geojson, feature 3'
        """
        return f"{self.path.name}, {'feature' if self.format == 'geojson' else 'line'} {number}"
