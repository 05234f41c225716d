"""What is wrong, as JSON: `{"error": "<the value, the rule, the way out>"}`."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from nearcast.service.stores.subscriptions import NoRoom
from nearcast.storage import BadFile

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)

_WHEN = {
    400: "A value breaks a rule; the text says which.",
    401: "No token, or one that is not known.",
    403: "The token has not the role that this needs.",
    404: "There is no such thing, or it belongs to somebody else.",
    409: "It would be more than one subscriber may have, or the id is taken.",
    413: "The body is larger than the service takes.",
    422: "A parameter has the wrong form.",
    429: "Too often; the header Retry-After says when to try again.",
    503: "Not ready.",
    507: "The disk is full; nothing was acknowledged, send it again later.",
}
_SHOWN_OF_A_VALUE = 100


class BadInput(ValueError):
    """What somebody sent breaks a rule; the text says which, and is shown."""


@contextmanager
def reading_input() -> Iterator[None]:
    """Around what reads and checks input, and nothing else: errors of it are the sender's.

    Elsewhere the same errors are ours, and must not look like a bad request.

    >>> with reading_input():
    ...     float("many")
    Traceback (most recent call last):
    nearcast.service.api.errors.BadInput: could not convert string to float: 'many'
    """
    try:
        yield
    except BadFile:
        raise
    except RecursionError:
        raise BadInput("this is nested too deeply; send a plain GeoJSON Feature") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInput(str(error)) from error


class Problem(BaseModel):
    """What every refusal looks like."""

    error: str


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a route: what these statuses mean."""
    return {each: {"model": Problem, "description": _WHEN[each]} for each in statuses}


GUARDED = documented(400, 401, 403, 413, 422, 429, 507)
"""What any route with a token can answer."""


def problem(status: int, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer to a request that is refused."""
    # A half of a surrogate pair has no UTF-8; people do send them.
    safe = text.encode(errors="backslashreplace").decode()
    return JSONResponse({"error": safe}, status, dict(headers or {}))


def add_error_handlers(app: FastAPI) -> None:
    """Make every refusal look the same.  What is not known here is a 500, see `RequestTrace`."""
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(BadInput, _bad_input)
    app.add_exception_handler(NoRoom, _no_room)
    app.add_exception_handler(OSError, _disk_full)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    text = str(error.detail)
    if text == HTTPStatus(error.status_code).phrase:  # Starlette's own
        asked = f"{request.method} {request.url.path}"
        text = f"{asked}: {text.lower()}; /openapi.json lists what there is"
    return problem(error.status_code, text, error.headers)


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = " ".join(map(str, first["loc"]))
    value = repr(first.get("input"))[:_SHOWN_OF_A_VALUE]
    return problem(422, f"{where}: {value}: {first['msg']}")


async def _bad_input(request: Request, error: Exception) -> JSONResponse:
    return problem(400, str(error))


async def _no_room(request: Request, error: Exception) -> JSONResponse:
    return problem(409, str(error))


async def _disk_full(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OSError)
    if error.errno not in DISK_FULL:
        raise error
    return problem(507, "the disk is full, nothing was acknowledged; send it again later")
