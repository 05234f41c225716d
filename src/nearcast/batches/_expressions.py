"""The keywords of a user's table as an `ExpressionColumn`.

Parsing a text costs some ten microseconds. But most of a million texts have one of a few shapes,
and texts of one shape have the same normal form but for the names of their words. So a shape is
parsed once, and the clauses of all rows are gathered from those of their shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearcast.batches._columns import (
    is_empty,
    is_list,
    is_text,
    list_column,
    text_column,
    wrong_type,
)
from nearcast.batches._lexemes import LexedColumn, lexed
from nearcast.batches._lexicon import Codes, without_unused
from nearcast.batches._ragged import start_of
from nearcast.batches._ragged_kernels import distinct, gather
from nearcast.batches._tokens import tokens_of
from nearcast.batches.expression_column import ExpressionColumn, Starts
from nearcast.batches.rejects import Rejects, why_refused
from nearcast.text.expression import ANYTHING, Expression, ExpressionError, parse

NO_TEMPLATE = -1


def read_expressions(column: pa.ChunkedArray, rejects: Rejects) -> ExpressionColumn:
    """The expressions of all rows; null stands for any words, and so does a rejected row."""
    if is_list(column):
        return _of_lists(column, rejects)
    if is_text(column) or is_empty(column):
        return _of_texts(text_column("keywords", column), rejects)
    raise wrong_type("keywords", column, "string or list<string>")


def _of_lists(column: pa.ChunkedArray, rejects: Rejects) -> ExpressionColumn:
    length, items = list_column("keywords", column)
    item_start = start_of(length)
    tokens = tokens_of(items.fill_null(""))
    # An item without tokens is refused, and null has none either.
    without_token = np.concatenate([[0], np.cumsum(np.diff(tokens.start) == 0)])
    is_bad = (np.diff(without_token[item_start]) > 0) | (length == 0)
    for row in np.flatnonzero(is_bad & np.array(column.is_valid(), bool)).tolist():
        rejects.add(row, why_refused(partial(Expression.of_words, column[row].as_py())))
    required_start, required, _ = distinct(
        tokens.start[item_start], tokens.codes, len(tokens.lexicon)
    )
    return ExpressionColumn(
        lexicon=tokens.lexicon,
        clause_start=np.arange(len(length) + 1),
        required_start=required_start,
        required=required,
        forbidden_start=np.zeros(len(length) + 1, np.int64),
        forbidden=np.empty(0, np.int32),
    )


def _of_texts(texts: pa.LargeStringArray, rejects: Rejects) -> ExpressionColumn:
    rows = lexed(texts.fill_null(""))
    templates = [ANYTHING]
    template_of_shape = np.full(len(rows.shapes), NO_TEMPLATE)
    for number, shape in enumerate(rows.shapes):
        expression = shape.template()
        if expression is not None:
            template_of_shape[number] = len(templates)
            templates.append(expression)
    template = template_of_shape[rows.shape]
    template[np.array(texts.is_null(), bool)] = 0
    alone = np.flatnonzero(template == NO_TEMPLATE)
    template[alone] = 0
    column = _filled(ExpressionColumn.of_expressions(templates), template, rows)
    if not len(alone):
        return column
    parsed = ExpressionColumn.of_expressions(
        _parsed(texts[row].as_py(), row, rejects) for row in alone.tolist()
    )
    source = np.arange(len(texts))
    source[alone] = len(texts) + np.arange(len(alone))
    return ExpressionColumn.concat([column, parsed]).take(source)


def _parsed(text: str, row: int, rejects: Rejects) -> Expression:
    try:
        return parse(text)
    except ExpressionError as error:
        rejects.add(row, str(error))
        return ANYTHING


def _filled(
    templates: ExpressionColumn, template: npt.NDArray[np.int64], rows: LexedColumn
) -> ExpressionColumn:
    """Row i is its template with the words of the row in place of w0, w1, ..."""
    every_clause = np.arange(len(templates.required_start) - 1)
    clause_start, clauses = gather(templates.clause_start, every_clause, template)
    first_word = np.repeat(rows.word_start[:-1], np.diff(clause_start))
    place = np.array([int(name[1:]) for name in templates.lexicon.to_pylist()], np.int64)

    def fill(start: Starts, names: Codes) -> tuple[Starts, Codes]:
        filled_start, filled = gather(start, names, clauses)
        return filled_start, rows.words[
            np.repeat(first_word, np.diff(filled_start)) + place[filled]
        ]

    required_start, required = fill(templates.required_start, templates.required)
    forbidden_start, forbidden = fill(templates.forbidden_start, templates.forbidden)
    # AND, OR and NOT are words of the lexemes, but seldom of the expressions.
    lexicon, [required, forbidden] = without_unused(rows.lexicon, required, forbidden)
    return ExpressionColumn(
        lexicon, clause_start, required_start, required, forbidden_start, forbidden
    )
