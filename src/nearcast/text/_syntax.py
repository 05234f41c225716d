"""From the text of an expression to its syntax tree, or to an error that points at the place."""

import re
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from nearcast.text.expression_error import ExpressionError
from nearcast.text.tokens import tokenize

MAX_NESTING = 50  # parentheses within parentheses; far below Python's own recursion limit

_LEXEME = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True, slots=True)
class Word:
    """True when the message has this token."""

    token: str


@dataclass(frozen=True, slots=True)
class Not:
    """True when the part is false."""

    part: "Tree"


@dataclass(frozen=True, slots=True)
class All:
    """True when every part is."""

    parts: list["Tree"]


@dataclass(frozen=True, slots=True)
class Some:
    """True when one part is."""

    parts: list["Tree"]


Tree: TypeAlias = Word | Not | All | Some


def syntax_tree(text: str) -> Tree:
    """NOT binds closest, then AND (also between words side by side), then OR."""
    parser = _Parser(text)
    if parser.peek() == "":
        parser.fail("there is no word; give at least one")
    tree = parser.some()
    if parser.peek() == ")":
        parser.fail("this ')' closes nothing; remove it or add a '(' before it")
    return tree


class _Parser:
    """Recursive descent; each method reads one level of precedence and leaves what follows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lexemes = [(match[0], match.start() + 1) for match in _LEXEME.finditer(text)]
        self.lexemes.append(("", len(text.rstrip()) + 1))
        self.position = 0
        self.nesting = 0

    def peek(self) -> str:
        """The next lexeme, operators in capitals, "" at the end."""
        return self.lexemes[self.position][0].upper()

    def take(self, expected: str) -> bool:
        found = self.peek() == expected
        self.position += found
        return found

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        _, column = self.lexemes[self.position if position is None else position]
        raise ExpressionError(problem, self.text, column)

    def some(self) -> Tree:
        parts = [self.all()]
        while self.take("OR"):
            parts.append(self.all())
        return Some(parts) if len(parts) > 1 else parts[0]

    def all(self) -> Tree:
        parts = [self.negation()]
        while self.take("AND") or self.peek() not in ("", "OR", ")"):
            parts.append(self.negation())
        return All(parts) if len(parts) > 1 else parts[0]

    def negation(self) -> Tree:
        negated = False
        while self.take("NOT"):
            negated = not negated
        part = self.part()
        return Not(part) if negated else part

    def part(self) -> Tree:
        match self.peek():
            case "":
                self.fail("a word is missing here, at the end; add one")
            case ")":
                self.fail("a word is missing before this ')'; add one")
            case ("AND" | "OR") as operator:
                self.fail(
                    f"a word is missing before this {operator}; add one, or look for the word "
                    f'itself by putting it in quotes: "{operator.lower()}"'
                )
            case "(":
                return self.parentheses()
        lexeme, _ = self.lexemes[self.position]
        words: list[Tree] = [Word(token) for token in tokenize(lexeme)]
        if not words:
            self.fail(f"{lexeme!r} has no letter or digit; write a word, AND, OR, NOT, '(' or ')'")
        self.position += 1
        return All(words) if len(words) > 1 else words[0]

    def parentheses(self) -> Tree:
        opening = self.position
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(f"more than {MAX_NESTING} nested parentheses; write it flatter")
        self.position += 1
        tree = self.some()
        if not self.take(")"):
            self.fail("this '(' is never closed; add a ')'", opening)
        self.nesting -= 1
        return tree
