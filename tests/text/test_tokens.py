import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.text import tokenize

# Texts in which folding and normal forms have something to do, as well as any text at all.
TRICKY = (
    "aA1 #@_-'ßẞİıſΐΰᾳΩſtﬁ½²ⅷＡ１\u0301\u0308\u0345\u00a0\u00b4\u2003\u200d\ufe0f한ㅎ中٣\U0001f600"
)
texts = st.text() | st.text(st.sampled_from(TRICKY))


@given(texts)
def test_a_token_is_its_own_only_token(text):
    for token in tokenize(text):
        assert tokenize(token) == [token]


def test_the_tokens_of_every_single_character_are_their_own_only_tokens():
    for code in range(sys.maxunicode + 1):
        for token in tokenize(chr(code)):
            assert tokenize(token) == [token], hex(code)


@given(texts)
def test_a_text_may_be_cut_at_white_space(text):
    assert tokenize(text) == [token for chunk in text.split() for token in tokenize(chunk)]


@given(texts)
def test_tokens_are_letters_marks_and_decimal_digits(text):
    for token in tokenize(text):
        for character in token:
            category = unicodedata.category(character)
            assert category[0] in "LM" or category == "Nd"


@given(st.text(st.characters(max_codepoint=127)))
def test_the_quick_way_for_ascii_agrees_with_the_way_for_all(text):
    assert tokenize(text) == tokenize(text + " é")[:-1]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" \t\n", []),
        ("#iPad @Home", ["ipad", "home"]),
        ("wi-fi don't a_b", ["wi", "fi", "don", "t", "a", "b"]),
        ("STRASSE Straße ＳＴＲＡＳＳＥ", ["strasse"] * 3),
        ("cafe\u0301 café", ["café", "café"]),
        ("x² 3½", ["x2", "31", "2"]),
        ("١٢٣", ["١٢٣"]),
        ("हिन्दी 中文 한국어", ["हिन्दी", "中文", "한국어"]),
        ("tea\u00a0time tea\u2003time", ["tea", "time", "tea", "time"]),
        ("a\ud800b", ["a", "b"]),
        ("😀", []),
    ],
)
def test_tokens_of(text, tokens):
    assert tokenize(text) == tokens
