"""`Saver`: snapshots of a shard, for whose disk it does not wait."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from nearcast.durable_files import UnfinishedFolder
from nearcast.pipeline.hosted.shard import HostedShard


@dataclass(frozen=True, slots=True)
class SavedShard:
    """A snapshot, made after a batch; since the one before so many rows, in so many seconds."""

    path: Path
    batch: int
    rows: int
    seconds: float


class Saver:
    """Hands a shard to the system at once, and waits beside its work until it is on the disk.

    A fork would have the memory as it is without writing it first. But whoever writes to memory
    that a fork has too copies it, and what was in large pages is in small ones from then on.

    `problem` says why the last one that has ended failed, None where it did not.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self._saving: tuple[_Finishing, SavedShard] | None = None

    @property
    def is_busy(self) -> bool:
        """Is one being made?"""
        return self._saving is not None

    def start(self, shard: HostedShard, target: SavedShard) -> None:
        """Begin to save; the shard may change when this returns."""
        folder = UnfinishedFolder(target.path)
        try:
            with folder.filling() as place:
                shard.save_into(place)
        except Exception as error:
            self.problem = _reason(error)
            return
        finishing = _Finishing(folder)
        finishing.start()
        self._saving = finishing, target

    def finished(self, *, wait: bool = False) -> SavedShard | None:
        """The snapshot, once it is there; None where it is not, or failed."""
        if self._saving is None:
            return None
        finishing, target = self._saving
        if wait:
            finishing.join()
        if finishing.is_alive():
            return None
        self._saving, self.problem = None, finishing.problem
        return None if self.problem else target


class _Finishing(Thread):
    """Waits for the disk. A daemon: a keeper that ends leaves but a folder without a name."""

    def __init__(self, folder: UnfinishedFolder) -> None:
        super().__init__(daemon=True)
        self.problem: str | None = None
        self._folder = folder

    def run(self) -> None:
        try:
            self._folder.finish()
        except BaseException as error:
            self.problem = _reason(error)


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
