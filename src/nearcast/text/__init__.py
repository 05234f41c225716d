"""Words: what a word is, what an expression over words means, the order of words.

`StringTable` is in `nearcast.text.string_table`, because it loads the compiler.
"""

from nearcast.text.expression import ANYTHING, Clause, Expression, ExpressionError, parse
from nearcast.text.order import Idf, Random, TermOrder, Tf
from nearcast.text.tokens import tokenize

__all__ = [
    "ANYTHING",
    "Clause",
    "Expression",
    "ExpressionError",
    "Idf",
    "Random",
    "TermOrder",
    "Tf",
    "parse",
    "tokenize",
]
