"""Tokens of whole columns: each distinct string is cut once, and most need no Python at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.batches._lexicon import Codes, distinct_words, large
from nearcast.batches._ragged import start_of
from nearcast.batches._ragged_kernels import gather
from nearcast.text.tokens import tokenize

Starts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TokenColumn:
    """String i has the tokens codes[start[i]:start[i+1]], positions in the lexicon."""

    lexicon: pa.LargeStringArray
    start: Starts
    codes: Codes


def tokens_of(strings: pa.LargeStringArray) -> TokenColumn:
    """The tokens of each string, none of which is null."""
    distinct, number = distinct_words(strings)
    tokens = tokens_of_distinct(distinct, tokenize)
    start, codes = gather(tokens.start, tokens.codes, number)
    return TokenColumn(tokens.lexicon, start, codes)


def tokens_of_distinct(
    strings: pa.LargeStringArray, cut: Callable[[str], list[str]]
) -> TokenColumn:
    """The tokens of distinct strings; `cut` is asked about the unusual ones only."""
    # A run of ASCII letters and digits is one token, itself in lower case.
    is_plain = pc.match_substring_regex(strings, "^[A-Za-z0-9]+$")
    plain = np.array(is_plain, bool)
    cuts = [cut(string) for string in strings.filter(pc.invert(is_plain)).to_pylist()]
    lexicon, codes = distinct_words(
        pa.concat_arrays(
            [
                pc.ascii_lower(strings.filter(is_plain)),
                large([token for tokens in cuts for token in tokens]),
            ]
        )
    )
    count = np.ones(len(strings), np.int64)
    count[~plain] = [len(tokens) for tokens in cuts]
    in_order = np.empty_like(codes)
    of_plain = np.repeat(plain, count)
    in_order[of_plain] = codes[: int(plain.sum())]
    in_order[~of_plain] = codes[int(plain.sum()) :]
    return TokenColumn(lexicon, start_of(count), in_order)


def split(texts: pa.LargeStringArray) -> tuple[Starts, pa.LargeStringArray]:
    """Cut texts, none null, at ASCII white space: where the chunks of each start, and they."""
    chunks = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(texts))
    return start_of(np.array(pc.list_value_length(chunks), np.int64)), chunks.flatten()
