"""`EventStream`: reads server-sent events."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection
from typing import Any

SECONDS_WITHOUT_A_WORD = 60.0
"""A quiet stream says now and then that it is alive."""


class EventStream:
    """An open connection; iterating gives events until it is closed, by either side."""

    def __init__(self, server: str, path: str, headers: Mapping[str, str]) -> None:
        self._connection = HTTPConnection(server, timeout=SECONDS_WITHOUT_A_WORD)
        self._connection.connect()
        self._socket = self._connection.sock  # the response may take it over
        self._connection.request("GET", path, headers=dict(headers))
        self._response = self._connection.getresponse()
        if self._response.status != 200:
            self.close()
            raise ConnectionError(f"{path}: {self._response.status}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The data of each event; comments and empty lines are left out."""
        while line := self._response.readline():
            name, _, value = line.partition(b": ")
            if name == b"data":
                yield json.loads(value)

    def close(self) -> None:
        """End it; from any thread, also while another one reads."""
        with suppress(OSError):  # the other side was quicker
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
