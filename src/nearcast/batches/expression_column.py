"""`ExpressionColumn`: the boolean expressions of many subscriptions in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearcast.batches._expression_kernels import (
    FINE,
    NO_CLAUSE,
    NO_REQUIRED_WORD,
    NO_SUCH_WORD,
    NOT_RISING,
    WORD_TWICE,
    first_problem,
)
from nearcast.batches._lexicon import Codes, check_lexicon, merged, without_unused
from nearcast.batches._ragged import check_array, check_ends, joined_starts
from nearcast.batches._ragged_kernels import gather
from nearcast.text.expression import Clause, Expression

Starts = npt.NDArray[np.int64]

PROBLEMS = {
    NOT_RISING: "has a start that is beyond the next one; starts must rise",
    NO_CLAUSE: "has no clause, so that no message can satisfy it",
    NO_SUCH_WORD: "has a code that is not a position in the lexicon",
    WORD_TWICE: "has a clause with the same word twice; codes must be distinct",
    NO_REQUIRED_WORD: "has a clause without a required word; only one without any words may be, "
    "alone, and then means anything",
}


@dataclass(frozen=True, slots=True, eq=False)
class ExpressionColumn:
    """Expressions as alternatives of clauses, and clauses as required and forbidden words.

    ```
    lexicon          large_string[w]   distinct words; an int32 code is a position in it
    clause_start     int64[n+1]        expression i owns clauses clause_start[i]:clause_start[i+1]
    required_start   int64[c+1]        clause j owns required[required_start[j]:required_start[j+1]]
    required         int32[]           codes, distinct within a clause
    forbidden_start  int64[c+1]        likewise the words that must not occur
    forbidden        int32[]
    ```

    An expression that any words satisfy is one clause without words.

    >>> from nearcast.text import parse
    >>> column = ExpressionColumn.of_expressions([parse("tea"), parse("tea AND NOT iced OR cake")])
    >>> column.clause_start, column.required_start, column.required, column.forbidden
    (array([0, 1, 3]), array([0, 1, 2, 3]), array([0, 1, 0], dtype=int32), array([2], dtype=int32))
    >>> column.lexicon.to_pylist()
    ['tea', 'cake', 'iced']
    >>> column.expression(1) == parse("cake OR tea AND NOT iced")
    True
    """

    lexicon: pa.LargeStringArray
    clause_start: Starts
    required_start: Starts
    required: Codes
    forbidden_start: Starts
    forbidden: Codes

    def __post_init__(self) -> None:
        check_lexicon(self.lexicon)
        clauses = len(self.required_start) - 1
        check_ends("clause_start", self.clause_start, len(self), clauses)
        check_ends("required_start", self.required_start, clauses, len(self.required))
        check_ends("forbidden_start", self.forbidden_start, clauses, len(self.forbidden))
        check_array("required", self.required, np.int32, (self.required.size,))
        check_array("forbidden", self.forbidden, np.int32, (self.forbidden.size,))
        problem, row = first_problem(
            self.clause_start,
            self.required_start,
            self.required,
            self.forbidden_start,
            self.forbidden,
            len(self.lexicon),
        )
        if problem != FINE:
            raise ValueError(f"expression {row} {PROBLEMS[problem]}")

    def __len__(self) -> int:
        return len(self.clause_start) - 1

    @classmethod
    def of_expressions(cls, expressions: Iterable[Expression]) -> ExpressionColumn:
        """The column that holds these expressions, in their order."""
        clause_start, required_start, forbidden_start = [0], [0], [0]
        required: list[str] = []
        forbidden: list[str] = []
        for expression in expressions:
            for clause in expression.clauses:
                # Sorted, because the order in a set depends on the hash seed.
                words = clause.required
                required += sorted(words) if len(words) > 1 else words
                required_start.append(len(required))
                if clause.forbidden:
                    forbidden += sorted(clause.forbidden)
                forbidden_start.append(len(forbidden))
            clause_start.append(len(required_start) - 1)
        encoded = pa.array(required + forbidden, pa.large_string()).dictionary_encode()
        codes = encoded.indices.to_numpy()
        return cls(
            lexicon=encoded.dictionary,
            clause_start=np.array(clause_start, np.int64),
            required_start=np.array(required_start, np.int64),
            required=codes[: len(required)],
            forbidden_start=np.array(forbidden_start, np.int64),
            forbidden=codes[len(required) :],
        )

    def expression(self, row: int) -> Expression:
        """The expression of one row.  O(its size)."""
        clauses = []
        for clause in range(self.clause_start[row], self.clause_start[row + 1]):
            required = self.required[self.required_start[clause] : self.required_start[clause + 1]]
            forbidden = self.forbidden[
                self.forbidden_start[clause] : self.forbidden_start[clause + 1]
            ]
            clauses.append(Clause(self._words(required), self._words(forbidden)))
        return Expression(tuple(clauses))

    def _words(self, codes: Codes) -> frozenset[str]:
        return frozenset(self.lexicon[code].as_py() for code in codes.tolist())

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> ExpressionColumn:
        """The expressions of these rows, in this order, with no more words than they use."""
        every_clause = np.arange(len(self.required_start) - 1)
        clause_start, clauses = gather(self.clause_start, every_clause, rows)
        required_start, required = gather(self.required_start, self.required, clauses)
        forbidden_start, forbidden = gather(self.forbidden_start, self.forbidden, clauses)
        lexicon, codes = without_unused(self.lexicon, required, forbidden)
        return ExpressionColumn(
            lexicon, clause_start, required_start, codes[0], forbidden_start, codes[1]
        )

    @staticmethod
    def concat(columns: Sequence[ExpressionColumn]) -> ExpressionColumn:
        """The rows of all columns, one column after the other, over one lexicon."""
        lexicon, codes = merged([column.lexicon for column in columns])
        pairs = list(zip(columns, codes, strict=True))
        return ExpressionColumn(
            lexicon=lexicon,
            clause_start=joined_starts([column.clause_start for column in columns]),
            required_start=joined_starts([column.required_start for column in columns]),
            required=np.concatenate([code[column.required] for column, code in pairs]),
            forbidden_start=joined_starts([column.forbidden_start for column in columns]),
            forbidden=np.concatenate([code[column.forbidden] for column, code in pairs]),
        )
