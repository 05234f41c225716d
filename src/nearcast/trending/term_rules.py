"""Which words of a document count as terms?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nearcast.model._checks import bag_of_words, positive_count
from nearcast.text import tokenize

ENGLISH_STOP_WORDS = frozenset(
    # What is left of "it's", "don't", "we'll" when the tokenizer has cut them is here too.
    tokenize(
        """
        a about after again all also am an and any are as at be because been before being both but
        by can could d did do does doing don down during each few for from further had has have
        having he her here hers herself him himself his how i if in into is it its itself just ll m
        me more most my myself no nor not now of off on once only or other our ours ourselves out
        over own re s same she should so some such t than that the their theirs them themselves then
        there these they this those through to too under until up ve very was we were what when
        where which while who whom why will with would you your yours yourself yourselves
        """
    )
)


@dataclass(frozen=True, slots=True, init=False)
class TermRules:
    """The words that are left out: stop words, and what has fewer than `shortest` letters.

    >>> TermRules().terms(("the", "rain", "in", "spain", "rain"))
    ('rain', 'spain', 'rain')
    >>> TermRules(stop_words=(), shortest=4).terms(("the", "rain", "this"))
    ('rain', 'this')
    """

    stop_words: frozenset[str]
    shortest: int

    def __init__(self, stop_words: Iterable[str] = ENGLISH_STOP_WORDS, shortest: int = 1) -> None:
        object.__setattr__(self, "stop_words", frozenset(bag_of_words(stop_words, "stop words")))
        object.__setattr__(self, "shortest", positive_count(shortest, "shortest"))

    def terms(self, words: Iterable[str]) -> tuple[str, ...]:
        """The words that count, in their order, repeats kept."""
        return tuple(
            word for word in words if len(word) >= self.shortest and word not in self.stop_words
        )
