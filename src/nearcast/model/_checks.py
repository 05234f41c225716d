"""Plain values that people hand in: a finite number, a count, a bag of words."""

from collections.abc import Iterable
from math import isfinite
from numbers import Integral, Real

from nearcast.text.tokens import tokenize


def finite_number(value: object, name: str) -> float:
    """The value as a float; `name` says in an error what it is, and of whom."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} {value!r} is not a number; give an int or a float")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise ValueError(f"{name} {number} is not finite; give a finite number")
    return number


def positive_count(value: object, name: str) -> int:
    """The value as an int, at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} {value!r} is not a whole number; give an int >= 1")
    if value < 1:
        raise ValueError(f"{name} {value} is below 1; give an int >= 1")
    return int(value)


def bag_of_words(words: Iterable[str], owner: str) -> tuple[str, ...]:
    """The tokens of all the words in order, repeats kept."""
    if isinstance(words, str):
        raise TypeError(f"{owner}: keywords {words!r} are one string; give a list of strings")
    tokens: list[str] = []
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{owner}: keyword {word!r} is not a string")
        tokens += tokenize(word)
    return tuple(tokens)
