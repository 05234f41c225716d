"""Where a service keeps everything that survives it: one folder."""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from nearcast.durable_files import make_folder


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder of one service, readable by its owner alone: it holds secrets of webhooks.

    log/          every message and every change of a subscription, in one order
    checkpoint/   the pipeline: subscriptions by shard, how far it has read
    results/      how results were begun: those of another way cannot go on
    messages/     what recent messages said, by id and by offset; made from the log
    outbox/       who is to get what, numbered; written by the pipeline
    registry/     tokens and subscriptions, as people gave them
    deliveries/   what was acknowledged, webhooks, dead letters
    address       where the service can be reached while it runs
    """

    path: Path

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> DataFolder:
        """The folder, made when it is missing."""
        folder = Path(path).absolute()
        make_folder(folder)
        folder.chmod(0o700)
        return cls(folder)

    @property
    def log(self) -> Path:
        """Of the embedded log."""
        return self.path / "log"

    @property
    def checkpoint(self) -> Path:
        """Of the pipeline."""
        return self.path / "checkpoint"

    @property
    def results(self) -> Path:
        """How results were begun; they are in the checkpoint."""
        return self.path / "results"

    @property
    def messages(self) -> Path:
        """Of the catalogue of messages."""
        return self.path / "messages"

    @property
    def outbox(self) -> Path:
        """Of the outbox."""
        return self.path / "outbox"

    @property
    def registry(self) -> Path:
        """Of tokens and subscriptions."""
        return self.path / "registry"

    @property
    def deliveries(self) -> Path:
        """Of cursors, webhooks and dead letters."""
        return self.path / "deliveries"

    @property
    def address(self) -> Path:
        """A file with the address of the running service."""
        return self.path / "address"

    def claim(self, name: str) -> int:
        """Be the only process in this part; the lock is let go when the process ends.

        The answer is the open file, which must be kept. A second claim is a ValueError.
        """
        file = os.open(self.path / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise ValueError(
                f"{self.path} is in use by another {name}; stop that one, or give another folder"
            ) from None
        return file
