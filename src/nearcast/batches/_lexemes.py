"""Texts of expressions as lexemes, and the few shapes that many texts have.

`ipad AND (discount OR sale)` has the shape of `w0 AND ( w1 OR w2 )`, and so has every text that
differs from it in its words alone, as long as equal words stay equal and different ones different.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.batches._lexicon import Codes, distinct_words, large
from nearcast.batches._ragged import start_of
from nearcast.batches._ragged_kernels import distinct, gather
from nearcast.batches._tokens import Starts, split, tokens_of_distinct
from nearcast.text.expression import Expression, ExpressionError, parse
from nearcast.text.tokens import tokenize

# A shape is a string of bytes, one per lexeme. The n-th different word of a text is WORD + n.
OPERATORS = ("and", "or", "not", "(", ")")
OPEN, CLOSE = OPERATORS.index("("), OPERATORS.index(")")
NOT = OPERATORS.index("not")
WORD = len(OPERATORS)
STRANGE = 255  # no word, or several; or one word too many for a byte


@dataclass(frozen=True, slots=True)
class Shape:
    """The lexemes of a text but for the names of its words, as bytes."""

    lexemes: bytes

    def template(self) -> Expression | None:
        """The expression over w0, w1, ... that all texts of this shape mean, if there is one.

        With every word once, or without NOT, there is one minimal normal form. Otherwise several
        may be equally small, and the words decide which of them a text gets.

        >>> Shape(bytes([WORD, OPERATORS.index("or"), WORD + 1])).template()
        parse('w0 OR w1')
        """
        words = [lexeme for lexeme in self.lexemes if lexeme >= WORD]
        if STRANGE in words or (NOT in self.lexemes and len(set(words)) < len(words)):
            return None
        try:
            return parse(
                " ".join(
                    f"w{lexeme - WORD}" if lexeme >= WORD else OPERATORS[lexeme]
                    for lexeme in self.lexemes
                )
            )
        except ExpressionError:
            return None  # each text has its own words and columns to complain about


@dataclass(frozen=True, slots=True)
class LexedColumn:
    """Text i has the shape shapes[shape[i]] and the words words[word_start[i]:word_start[i+1]].

    The words are positions in the lexicon, distinct within a text, in order of first occurrence.
    """

    lexicon: pa.LargeStringArray
    shapes: list[Shape]
    shape: npt.NDArray[np.int32]
    word_start: Starts
    words: Codes


def lexed(texts: pa.LargeStringArray) -> LexedColumn:
    """The lexemes of texts, none of which is null."""
    for parenthesis in "()":
        texts = pc.replace_substring(texts, parenthesis, f" {parenthesis} ")
    chunk_start, chunks = split(texts)
    chunks, number = distinct_words(chunks)
    lexicon, lexeme_start, lexemes, tokens = _lexemes_of_distinct(chunks)
    occurrence_start, lexemes_found = gather(lexeme_start, lexemes, number)
    tokens_found = gather(lexeme_start, tokens, number)[1]
    row_start = occurrence_start[chunk_start]

    is_word = lexemes_found == WORD
    word_before = np.concatenate([[0], np.cumsum(is_word)])
    word_start, words, rank = distinct(word_before[row_start], tokens_found[is_word], len(lexicon))
    lexemes_found[is_word] = np.minimum(WORD + rank, STRANGE)
    shape, shapes = _distinct_rows(row_start, lexemes_found)
    return LexedColumn(lexicon, shapes, shape, word_start, words)


def _lexemes_of_distinct(
    chunks: pa.LargeStringArray,
) -> tuple[pa.LargeStringArray, Starts, npt.NDArray[np.uint8], Codes]:
    """(lexicon, start, lexemes, tokens) of distinct chunks; a word's token is a lexicon position.

    A chunk of several tokens, `wi-fi`, means all of them, as if it were `(wi fi)`.
    """
    tokens = tokens_of_distinct(chunks, _words_of_chunk)
    operator = np.array(
        pc.index_in(pc.ascii_lower(chunks), value_set=large(OPERATORS)).fill_null(-1), np.int64
    )
    count = np.diff(tokens.start)
    is_words = (operator < 0) & (count > 0)
    in_parentheses = np.flatnonzero(is_words & (count > 1))
    length = np.ones(len(chunks), np.int64)
    length[in_parentheses] = count[in_parentheses] + 2
    start = start_of(length)
    lexemes = np.full(start[-1], WORD, np.uint8)
    lexemes[start[:-1][~is_words]] = np.where(operator < 0, STRANGE, operator)[~is_words]
    lexemes[start[in_parentheses]] = OPEN
    lexemes[start[in_parentheses + 1] - 1] = CLOSE
    codes = np.full(start[-1], -1, np.int32)
    codes[lexemes == WORD] = tokens.codes[np.repeat(is_words, count)]
    return tokens.lexicon, start, lexemes, codes


def _words_of_chunk(chunk: str) -> list[str]:
    # Texts were cut at ASCII white space. Where there is other white space, only the parser knows.
    return tokenize(chunk) if chunk.split() == [chunk] else []


def _distinct_rows(
    start: Starts, lexemes: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int32], list[Shape]]:
    """The number of each row's shape, and the shapes: Arrow tells byte strings apart."""
    column = pa.Array.from_buffers(
        pa.large_binary(), len(start) - 1, [None, pa.py_buffer(start), pa.py_buffer(lexemes)]
    )
    encoded = column.dictionary_encode()
    shapes = [Shape(shape) for shape in encoded.dictionary.to_pylist()]
    return np.array(encoded.indices, np.int32), shapes
