"""The error that shows where an expression is wrong."""

import re

_LONGEST_LINE = 100


class ExpressionError(ValueError):
    """An expression that cannot be used: what is wrong, and in which column (from 1)."""

    def __init__(self, problem: str, text: str, column: int, subject: str = "expression") -> None:
        super().__init__(problem, text, column, subject)  # all of them, so that it can be pickled
        self.problem, self.text, self.column, self.subject = problem, text, column, subject

    def __str__(self) -> str:
        # Every white space becomes one space, so that the text is one line and the caret fits.
        line, indent = re.sub(r"\s", " ", self.text), self.column - 1
        if len(line) > _LONGEST_LINE:
            cut = max(0, indent - _LONGEST_LINE // 2)
            line, indent = line[cut : cut + _LONGEST_LINE], indent - cut
        caret = " " * indent + "^"
        return f"{self.subject}, column {self.column}: {self.problem}\n    {line}\n    {caret}"
