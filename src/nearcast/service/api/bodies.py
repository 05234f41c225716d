"""The body of a request: bytes, one JSON object, or a line of JSON each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, NoReturn

from fastapi import Depends, HTTPException
from starlette.requests import Request

MOST_LINES = 200_000
"""Of one bulk: a body of nothing but line ends must not fill the memory."""

_HALF_A_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


async def _read(request: Request) -> bytes:
    return await request.body()


Body = Annotated[bytes, Depends(_read)]
"""All of it.  The middleware `BodyLimit` has seen to its size."""


def json_object(text: bytes) -> dict[str, Any]:
    """The one object that this is, or a ValueError.

    >>> json_object(b'{"a": NaN}')
    Traceback (most recent call last):
    ValueError: NaN is not JSON; give a number
    """
    try:
        found = json.loads(text.decode(), parse_constant=_not_a_number)
        if _HALF_A_PAIR.search(text):  # rare, so that others do not pay for the check
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError:
        raise ValueError(
            "this is not UTF-8, or has half of a surrogate pair; send whole letters"
        ) from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error}; send one JSON object") from None
    except RecursionError:
        raise ValueError("this is nested too deeply; send a plain GeoJSON Feature") from None
    if not isinstance(found, dict):
        raise ValueError(f"this is JSON of a {type(found).__name__}; send an object")
    return found


def lines_of(body: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not empty, with their numbers from 1 on; 413 when there are too many.

    >>> list(lines_of(b"one\\n\\ntwo"))
    [(1, b'one'), (3, b'two')]
    """
    if body.count(b"\n") > MOST_LINES:
        raise HTTPException(413, f"the body has more than {MOST_LINES:,} lines; send several")
    return ((i, line) for i, line in enumerate(body.split(b"\n"), 1) if line.strip())


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; give a number")
