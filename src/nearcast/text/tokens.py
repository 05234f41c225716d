"""What is a word? The one answer that subscriptions, messages and Spark share."""

import re
from unicodedata import category, normalize

_ASCII_WORD = re.compile("[a-z0-9]+")


class _SeparatorsToSpaces(dict[int, int]):
    """A `str.translate` table that learns each character the first time it is seen."""

    def __missing__(self, code: int) -> int:
        kind = category(chr(code))
        in_word = kind[0] in "LM" or kind == "Nd"
        self[code] = code if in_word else ord(" ")
        return self[code]


_separators_to_spaces = _SeparatorsToSpaces()


def tokenize(text: str) -> list[str]:
    """Cut `text` into its words, in order, repeats kept.

    A word is a run of letters, marks and decimal digits, after Unicode NFKC and case folding, so
    that `Straße`, `STRASSE` and the full-width `ＳＴＲＡＳＳＥ` are one word. Everything else
    separates words, a leading # or @ too. A word is its own only token, and white space can be cut
    beforehand: the tokens of a text are those of its white-space-separated chunks in turn.

    >>> tokenize("Cheap #iPad at @Macy's, 50% off!")
    ['cheap', 'ipad', 'at', 'macy', 's', '50', 'off']
    >>> tokenize("CAFÉ Straße ½")
    ['café', 'strasse', '1', '2']
    >>> tokenize("...")
    []
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    # Folding may leave the normal form (ΐ becomes ι and two marks), hence the second time.
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return folded.translate(_separators_to_spaces).split()
