"""Texts, expressions, ids, and the same column in every form in which Arrow may hold it."""

from itertools import pairwise

import pyarrow as pa
from hypothesis import strategies as st

INT64 = st.integers(-(2**63), 2**63 - 1)
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)

# Plain, in capitals, with punctuation, of several tokens, operators' names, not ASCII.
WORDS = st.sampled_from(
    ["tea", "Tea", "iced", "CAKE", "#cake", "wi-fi", "fi", '"or"', "@and", "Straße", "ÉTÉ",
     "été", "½", "ｔｅａ", "茶", "tea\u00a0iced", "iced\u00a0or", "x1", "don't"]
)  # fmt: skip
SPACES_BETWEEN = st.sampled_from([" ", "  ", "\t", "\u00a0", "\n", "\u3000", "\x1f"])


def id_lists(size):
    """Distinct ids, all integers or all strings."""
    return st.one_of(
        st.lists(ids, min_size=size, max_size=size, unique=True) for ids in (INT64, STRINGS)
    )


def texts():
    """Texts of messages."""
    pieces = st.one_of(WORDS, SPACES_BETWEEN, STRINGS, st.sampled_from(list("(),.!?-")))
    return st.lists(pieces, max_size=8).map("".join)


def expression_texts():
    """Texts that look like expressions: many can be parsed, some cannot."""
    grown = st.recursive(
        WORDS,
        lambda part: st.one_of(
            st.builds("({})".format, part),
            st.builds("{} {}".format, st.sampled_from(["NOT", "not"]), part),
            st.builds(
                "{}{}{}{}{}".format,
                part,
                SPACES_BETWEEN,
                st.sampled_from(["AND", "OR", "and", "or", "Or", "", "NOT"]),
                SPACES_BETWEEN,
                part,
            ),
        ),
        max_leaves=6,
    )
    loose = st.lists(
        st.one_of(WORDS, st.sampled_from(["AND", "OR", "NOT", "(", ")", "!!!", ""])), max_size=6
    ).map(" ".join)
    return st.one_of(grown, grown, loose)


@st.composite
def arrow_forms(draw, table):
    """The same rows: as one table or record batch, in chunks, in slices of something longer."""
    rows = table.num_rows
    if draw(st.booleans()):
        cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=3)))
        edges = [0, *cuts, rows]
        pieces = [table.slice(a, b - a) for a, b in pairwise(edges)]
        table = pa.concat_tables(pieces)
    if draw(st.booleans()):
        table = pa.concat_tables([table, table, table]).slice(rows, rows)
    if draw(st.booleans()):
        table = pa.table({name: draw(_retyped(table[name])) for name in table.column_names})
    if draw(st.booleans()):
        table = table.combine_chunks()
        batches = table.to_batches()
        if len(batches) == 1:
            return batches[0]
    return table


def _retyped(column):
    kind = column.type
    forms = [column]
    if pa.types.is_string(kind):
        forms += [column.cast(pa.large_string()), column.dictionary_encode()]
        forms += [column.cast(pa.string_view())]
    if pa.types.is_binary(kind):
        forms += [column.cast(pa.large_binary()), column.dictionary_encode()]
    if pa.types.is_list(kind):
        forms += [column.cast(pa.large_list(pa.large_string()))]
        forms += [column.cast(pa.large_list(pa.string_view()))]
    return st.sampled_from(forms)
