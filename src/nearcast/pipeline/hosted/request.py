"""`StepRequest`: what a task asks the keeper of a shard to do for a batch."""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearcast.model import Id
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.state import ShardFiles, StateFolder
from nearcast.storage import Buffer

_LENGTH = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One batch for one shard.

    - `state`: where it keeps its files; `files`: those that there are of the batches before
    - `schema`: of what is told
    - `votes`: how many have to find an id unknown
    - `snapshot_after`: rows
    - `keeps_results`: does the sink want the results that changed?
    - `messages`, `others`: rows as tasks packed them
    - `resettled`: the lists that are in other shards from this batch on
    - `asked`: whose parts of lists are asked for, as they are before the batch; None: take a step
    """

    state: StateFolder
    shard: int
    batch: int
    files: ShardFiles
    settings: ResultSettings
    schema: pa.Schema
    votes: int
    snapshot_after: int
    keeps_results: bool
    messages: Sequence[Buffer]
    others: Sequence[Buffer]
    resettled: Sequence[tuple[Id, Sequence[int]]] = ()
    asked: list[Id] | None = None

    def header(self) -> dict[str, Any]:
        """All but the rows, fit for JSON."""
        files = self.files
        return {
            "state": [str(self.state.folder), self.state.key, self.state.run],
            "shard": self.shard,
            "batch": self.batch,
            "files": [str(files.snapshot or ""), files.snapshot_batch, files.changes],
            "settings": self.settings.to_json(),
            "schema": base64.b64encode(self.schema.serialize()).decode(),
            "votes": self.votes,
            "snapshot_after": self.snapshot_after,
            "keeps_results": self.keeps_results,
            "messages": len(self.messages),
            "others": len(self.others),
            "resettled": self.resettled,
            "asked": self.asked,
        }

    @classmethod
    def of(cls, header: dict[str, Any], parts: Sequence[Buffer]) -> StepRequest:
        """From what was sent."""
        folder, key, run = header["state"]
        snapshot, snapshot_batch, changes = header["files"]
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(header["schema"])))
        return cls(
            StateFolder(Path(folder), key, run),
            header["shard"],
            header["batch"],
            ShardFiles(Path(snapshot) if snapshot else None, snapshot_batch, tuple(changes)),
            ResultSettings.of(header["settings"]),
            schema,
            header["votes"],
            header["snapshot_after"],
            header["keeps_results"],
            parts[: header["messages"]],
            parts[header["messages"] :],
            header["resettled"],
            header["asked"],
        )


def send(connection: socket.socket, content: dict[str, Any], parts: Sequence[Buffer] = ()) -> None:
    """A JSON object and some buffers behind it, each with its length before."""
    for data in (json.dumps({**content, "parts": len(parts)}).encode(), *parts):
        connection.sendall(_LENGTH.pack(len(data)))
        connection.sendall(memoryview(data))


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[memoryview]]:
    """What was sent; EOFError when the other side has gone."""
    content: dict[str, Any] = json.loads(bytes(_received(connection)))
    return content, [_received(connection) for _ in range(content.pop("parts"))]


def _received(connection: socket.socket) -> memoryview:
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> memoryview:
    data = memoryview(bytearray(length))
    done = 0
    while done < length:
        count = connection.recv_into(data[done:])
        if count == 0:
            raise EOFError("the other side of a keeper's socket has gone")
        done += count
    return data
