"""`ForkedSaver`: snapshots of a shard that goes on meanwhile."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from nearcast.pipeline.hosted.shard import HostedShard

_MOST_WORDS = 4000  # bytes of a reason; a pipe takes more without a reader


@dataclass(frozen=True, slots=True)
class SavedShard:
    """A snapshot, made after a batch; since the one before so many rows, in so many seconds."""

    path: Path
    batch: int
    rows: int
    seconds: float


class ForkedSaver:
    """Saves in a fork of the process: it has the memory as it is, and nobody waits for it.

    `problem` says why the last one failed, None where it did not.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self._saving: tuple[int, int, SavedShard] | None = None  # process, pipe, what

    @property
    def is_busy(self) -> bool:
        """Is one being made?"""
        return self._saving is not None

    def start(self, shard: HostedShard, target: SavedShard) -> None:
        """Begin to save; the process must have no other threads that work on the shard."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            _close_all_but(writing)
            try:
                shard.save(target.path)
                code = 0
            except BaseException as error:
                words = f"{type(error).__name__}: {error}".encode()
                os.write(writing, words[:_MOST_WORDS])
            finally:
                os._exit(code)  # nothing of the parent is to be closed or flushed twice
        os.close(writing)
        self._saving = child, reading, target

    def finished(self, *, wait: bool = False) -> SavedShard | None:
        """The snapshot, once it is there; None where it is not, or failed."""
        if self._saving is None:
            return None
        child, reading, target = self._saving
        done, status = os.waitpid(child, 0 if wait else os.WNOHANG)
        if done == 0:
            return None
        self._saving = None
        words = os.read(reading, _MOST_WORDS).decode(errors="replace")
        os.close(reading)
        self.problem = None if status == 0 else words or f"ended with status {status}"
        return target if status == 0 else None


def _close_all_but(kept: int) -> None:
    """Who talks to the parent would wait for this process too, should the parent die."""
    most = os.sysconf("SC_OPEN_MAX")
    os.closerange(3, kept)
    os.closerange(kept + 1, most)
