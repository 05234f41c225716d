"""Boolean expressions over words, in a normal form that every index understands."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from nearcast.text._minimal import MAX_CLAUSES, BitClause, TooManyClauses, minimal, normal_form
from nearcast.text._syntax import Not, Tree, Word, syntax_tree
from nearcast.text.expression_error import ExpressionError
from nearcast.text.tokens import tokenize

__all__ = [
    "ANYTHING",
    "MAX_CLAUSES",
    "MAX_WORDS",
    "Clause",
    "Expression",
    "ExpressionError",
    "parse",
]

MAX_WORDS = 10_000  # a bit set per word: memory grows with the square


@dataclass(frozen=True, slots=True)
class Clause:
    """Words that must all occur, and words of which none may.

    >>> str(Clause(frozenset({"tea", "green"}), frozenset({"bag"})))
    'green AND tea AND NOT bag'
    """

    required: frozenset[str]
    forbidden: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for word in self.required | self.forbidden:
            if tokenize(word) != [word]:
                raise ValueError(f"word {word!r} is not a token; use parse or Expression.of_words")
        if both := sorted(self.required & self.forbidden):
            raise ValueError(f"word {both[0]!r} is both required and forbidden; remove one")

    def __str__(self) -> str:
        required = [_quoted(word) for word in sorted(self.required)]
        forbidden = [f"NOT {_quoted(word)}" for word in sorted(self.forbidden)]
        return " AND ".join(required + forbidden)


@dataclass(frozen=True, slots=True, repr=False)
class Expression:
    """At least one of the clauses holds.

    Made by `parse` or `of_words`, whose clauses are minimal: none can be dropped, no word left out.
    Two such expressions are equal when they mean the same. `str` gives a text for `parse`.

    >>> str(parse("ipad (discount OR sale)"))
    '(discount AND ipad) OR (ipad AND sale)'
    >>> parse("a AND (b OR NOT b)") == parse("a")
    True
    """

    clauses: tuple[Clause, ...]

    def __post_init__(self) -> None:
        def words(clause: Clause) -> tuple[list[str], list[str]]:
            return sorted(clause.required), sorted(clause.forbidden)

        if not self.clauses:
            raise ValueError("an expression without a clause holds for no message; give one")
        if any(not clause.required for clause in self.clauses) and not (
            len(self.clauses) == 1 and not self.clauses[0].forbidden
        ):
            raise ValueError(
                "a clause requires no word; each needs one, unless it is the only clause and empty"
            )
        object.__setattr__(self, "clauses", tuple(sorted(self.clauses, key=words)))

    @classmethod
    def of_words(cls, words: Iterable[str]) -> "Expression":
        """All these words; each item is tokenised, and none is an operator.

        >>> Expression.of_words(["Wi-Fi", "coffee"])
        parse('coffee AND fi AND wi')
        """
        if isinstance(words, str):
            raise TypeError(f"keywords {words!r} are one string; give a list, or use parse")
        tokens: set[str] = set()
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f"keyword {word!r} is not a string")
            found = tokenize(word)
            if not found:
                raise ValueError(f"keyword {word!r} has no letter or digit; leave it out")
            tokens.update(found)
        if not tokens:
            raise ValueError("there are no keywords; give at least one word")
        return cls((Clause(frozenset(tokens)),))

    def matches(self, words: AbstractSet[str]) -> bool:
        """Does a message with these tokens satisfy the expression?

        >>> parse("tea AND NOT bag").matches({"tea", "cup"})
        True
        """
        return any(
            clause.required <= words and clause.forbidden.isdisjoint(words)
            for clause in self.clauses
        )

    def __str__(self) -> str:
        if self == ANYTHING:
            return "*"  # not a word, so that parse refuses it instead of looking for it
        if len(self.clauses) == 1:
            return str(self.clauses[0])
        texts = [str(clause) for clause in self.clauses]
        return " OR ".join(f"({text})" if " " in text else text for text in texts)

    def __repr__(self) -> str:
        return "ANYTHING" if self == ANYTHING else f"parse({str(self)!r})"


ANYTHING = Expression((Clause(frozenset()),))
"""Holds for every message, even one without words."""


def parse(text: str) -> Expression:
    """Read an expression such as `ipad AND (discount OR sale) AND NOT used`.

    AND, OR, NOT (in any case) and parentheses; words side by side mean AND; NOT binds closest, then
    AND, then OR. A word is tokenised as in messages, so `wi-fi` asks for `wi` and `fi`. To look for
    an operator's name itself, put it in quotes: `"or"`.

    Raises `ExpressionError`, which shows the column, when the text is not an expression, when no
    message can satisfy it, when a message without any word would (`NOT a`, `a OR NOT b`), or when
    it has more than `MAX_WORDS` words or working it out takes more than `MAX_CLAUSES` clauses.

    >>> parse("tea NOT (bag OR bags)")
    parse('tea AND NOT bag AND NOT bags')
    >>> parse("tea AND (bag OR")
    Traceback (most recent call last):
    nearcast.text.expression_error.ExpressionError: expression, column 16: a word is missing ...
        tea AND (bag OR
                       ^
    """
    if not isinstance(text, str):
        raise TypeError(f"expression {text!r} is not a string; for a list use Expression.of_words")
    tree = syntax_tree(text)
    # Bits in alphabetical order, so that the minimal form does not depend on who comes first.
    words = sorted(set(_words(tree)))
    if len(words) > MAX_WORDS:
        problem = f"this has {len(words)} words, more than {MAX_WORDS}; split it into several"
        raise ExpressionError(problem, text, 1)
    try:
        clauses = normal_form(tree, {word: 1 << i for i, word in enumerate(words)})
        _check_meaning(clauses, text, words)
        return Expression(tuple(_clause(clause, words) for clause in minimal(clauses)))
    except TooManyClauses:
        problem = f"this means more than {MAX_CLAUSES} alternatives; split it into several"
        raise ExpressionError(problem, text, 1) from None


def _check_meaning(clauses: set[BitClause], text: str, words: list[str]) -> None:
    if not clauses:
        problem = "no message can satisfy this, as it asks for a word and forbids it; remove one"
        raise ExpressionError(problem, text, 1)
    # Whatever the clauses, one without a required word holds for the message without words, and
    # then every other way to write them has such a clause too.
    for clause in sorted(clauses):
        if not clause[0]:
            part = str(_clause(clause, words)) or "this"
            problem = (
                f"{part!r} needs no word, so nearly every message would match; "
                "put a required word beside it with AND"
            )
            raise ExpressionError(problem, text, 1)


def _words(tree: Tree) -> list[str]:
    if isinstance(tree, Word):
        return [tree.token]
    parts = [tree.part] if isinstance(tree, Not) else tree.parts
    return [word for part in parts for word in _words(part)]


def _clause(clause: BitClause, words: list[str]) -> Clause:
    def names(bits: int) -> frozenset[str]:
        # The digits of the number, lowest first, so that the cost is that of the words.
        return frozenset(
            word for word, bit in zip(words, reversed(f"{bits:b}"), strict=False) if bit == "1"
        )

    return Clause(names(clause[0]), names(clause[1]))


def _quoted(word: str) -> str:
    return f'"{word}"' if word.upper() in ("AND", "OR", "NOT") else word
