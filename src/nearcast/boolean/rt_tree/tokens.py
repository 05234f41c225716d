"""Which words of a subscription stand for it in the token filters of the nodes above it."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from nearcast.boolean.r_tree import _lists


class TokenFilter(ABC):
    """What a message must have to visit a node."""

    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class AllTokens(TokenFilter):
    """Any word of any entry below (R^t), and all entries of a leaf are then looked at."""

    code = _lists.ALL_WORDS


@dataclass(frozen=True, slots=True)
class OneToken(TokenFilter):
    """The rarest word of an entry below (R^t+)."""

    code = _lists.ONE_WORD


@dataclass(frozen=True, slots=True)
class SeveralTokens(TokenFilter):
    """The rarest word of an entry below, and another word of one, on each level the next (R^t++).

    An entry of one word is represented by it alone.
    """

    code = _lists.SEVERAL_WORDS
