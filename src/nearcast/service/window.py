"""Which messages count for top-k lists, as operators say it."""

from __future__ import annotations

from nearcast.topk.windows import CountWindow, TimeWindow, Window


def window_from(text: str) -> Window:
    """A number of messages, or with an `s` of seconds.

    >>> window_from("10000"), window_from("3600s")
    (CountWindow(messages=10000), TimeWindow(seconds=3600.0))
    >>> window_from("a day")
    Traceback (most recent call last):
    ValueError: window 'a day' is neither messages nor seconds; give 10000 or 3600s, for instance
    """
    try:
        if text.endswith("s"):
            return TimeWindow(float(text[:-1]))
        return CountWindow(int(text))
    except ValueError:
        raise ValueError(
            f"window {text!r} is neither messages nor seconds; give 10000 or 3600s, for instance"
        ) from None
