"""What can name a message or a subscription."""

from numbers import Integral
from typing import TypeAlias

Id: TypeAlias = str | int


def check_id(value: object, kind: str) -> Id:
    """The id as a plain str or int, or an error that says whose (`kind`) id it is.

    >>> check_id("cafe", "subscription")
    'cafe'
    >>> check_id(2**63, "message")
    Traceback (most recent call last):
    ValueError: message id 9223372036854775808 does not fit into 64 bits; give it as a string
    """
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError(f"{kind} id {value!r} is not valid Unicode; remove the lone surrogate")
        return str(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{kind} id {value!r} is neither a string nor an integer; give one of these"
        )
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{kind} id {number} does not fit into 64 bits; give it as a string")
    return number
