"""The body of a request: bytes, one JSON object, or a line of JSON each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, NoReturn, TypeVar

from fastapi import Depends, HTTPException
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request

MOST_LINES = 200_000
"""Of one bulk: a body of nothing but line ends must not fill the memory."""

SMALL_BODY = 65_536
"""Bytes: enough for whatever is not a Feature."""

_HALF_A_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


async def _read(request: Request) -> bytes:
    return await request.body()


async def _read_small(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > SMALL_BODY:
            raise HTTPException(
                413,
                f"the body has more than {SMALL_BODY:,} bytes; send a smaller one",
                {"Connection": "close"},
            )
    return body


# A route names its token before its body: a body is read only for those who may send it, whatever
# its content type. FastAPI reads and parses the models of a signature before it looks at tokens.
Body = Annotated[bytes, Depends(_read)]
"""All of it.  The middleware `BodyLimit` has seen to its size."""
SmallBody = Annotated[bytes, Depends(_read_small)]
"""All of it, for a route whose body is a model."""

Model = TypeVar("Model", bound=BaseModel)


def read_model(kind: type[Model], body: bytes) -> Model:
    """The model that a body is the JSON of; 422 when it is not."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(
            [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        ) from None


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
