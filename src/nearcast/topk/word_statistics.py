"""How much does a word tell? As much as it is rare in a fixed body of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any

from nearcast.model import Message
from nearcast.model._checks import positive_count


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """In how many of `documents` documents each word occurs; part of an index's configuration.

    A word that is not in `frequencies` occurs in none. Without statistics all words weigh the same.

    >>> statistics = WordStatistics(100, {"the": 90, "jazz": 2})
    >>> round(statistics.idf("the"), 3), round(statistics.idf("jazz"), 3)
    (0.741, 3.536)
    >>> statistics.weights(["jazz", "the", "jazz"])["jazz"] > 0.9
    True
    """

    documents: int = 1
    frequencies: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        documents = positive_count(self.documents, "statistics: documents")
        object.__setattr__(self, "documents", documents)
        for word, frequency in self.frequencies.items():
            if not 0 <= frequency <= documents:
                raise ValueError(
                    f"statistics: {word!r} in {frequency} of {documents} documents; "
                    "give a number from 0 to that of the documents"
                )

    @classmethod
    def of_messages(cls, messages: Iterable[Message]) -> WordStatistics:
        """Count the words of a sample.

        >>> from nearcast.model import Point
        >>> WordStatistics.of_messages([Message(1, text="tea tea", at=Point(0, 0))]).frequencies
        {'tea': 1}
        """
        frequencies: Counter[str] = Counter()
        documents = 0
        for message in messages:
            documents += 1
            frequencies.update(set(message.keywords))
        return cls(max(1, documents), dict(frequencies))

    def row(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {"documents": self.documents, "frequencies": dict(self.frequencies)}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> WordStatistics:
        """The statistics whose `row` this is.

        >>> statistics = WordStatistics(100, {"the": 90, "jazz": 2})
        >>> WordStatistics.of_row(statistics.row()) == statistics
        True
        """
        return cls(row["documents"], row["frequencies"])

    def idf(self, word: str) -> float:
        """The inverse document frequency: ln(1 + N / (1 + df))."""
        return log(1.0 + self.documents / (1.0 + self.frequencies.get(word, 0)))

    def weights(self, words: Iterable[str]) -> dict[str, float]:
        """The vector of unit length of some words: how often each occurs, times its idf."""
        vector = {word: count * self.idf(word) for word, count in sorted(Counter(words).items())}
        length = sqrt(sum(weight * weight for weight in vector.values()))
        return {word: weight / length for word, weight in vector.items()}
