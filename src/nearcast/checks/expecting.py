"""What every room's checks need: errors that must come, and checks one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

MakeIndex = TypeVar("MakeIndex")


@contextmanager
def expects(kind: type[Exception], naming: str = "") -> Iterator[None]:
    """The block raises such an error, whose text holds `naming`.

    >>> with expects(ValueError, naming="32"):
    ...     int("32 or so")
    """
    try:
        yield
    except kind as error:
        if naming not in str(error):
            raise AssertionError(f"the error should name {naming}") from error
    else:
        raise AssertionError(f"this should raise a {kind.__name__}")


def run_checks(checks: Iterable[Callable[[MakeIndex], None]], make_index: MakeIndex) -> None:
    """One after the other; the error of one that fails tells which it is."""
    for check in checks:
        try:
            check(make_index)
        except Exception as error:
            error.add_note(f"while running {check.__name__}: {check.__doc__}")
            raise
