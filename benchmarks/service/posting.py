"""Posting lines to the service, and knowing that all of them were accepted."""

import time

import httpx


def post_all(address: str, token: str, bodies: list[list[str]]) -> float:
    """Post one body of lines after the other; the seconds until the last was acknowledged."""
    with httpx.Client(base_url=address, timeout=120, headers=line_headers(token)) as client:
        begin = time.perf_counter()
        for lines in bodies:
            check_accepted(client.post("/v1/messages/bulk", content="\n".join(lines)))
        return time.perf_counter() - begin


def check_accepted(answer: httpx.Response) -> None:
    """Raise when the service refused any line."""
    answer.raise_for_status()
    if rejected := answer.json().get("rejected"):
        raise AssertionError(rejected[0])


def line_headers(token: str) -> dict[str, str]:
    """The headers of a body of lines."""
    return {**bearer(token), "content-type": "application/x-ndjson"}


def bearer(token: str) -> dict[str, str]:
    """The header that says who asks."""
    return {"authorization": f"Bearer {token}"}
