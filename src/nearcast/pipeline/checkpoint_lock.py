"""`CheckpointLock`: streams use a checkpoint, or somebody changes its shape, not both at once."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from nearcast.pipeline.state import BadCheckpoint

NAME = "lock"


class CheckpointLock:
    """Held until it is released, or the process is gone.

    It guards against processes of this host, and of others where the file system has such locks.
    """

    def __init__(self, file: int | None) -> None:
        self._file = file

    @classmethod
    def shared(cls, checkpoint: Path) -> CheckpointLock:
        """For a stream: Spark sees to it that two do not meet."""
        return cls._of(checkpoint, fcntl.LOCK_SH, "is being resharded; wait until that is done")

    @classmethod
    def exclusive(cls, checkpoint: Path) -> CheckpointLock:
        """For who replaces what streams use."""
        return cls._of(checkpoint, fcntl.LOCK_EX, "is in use; stop the stream first")

    @classmethod
    def _of(cls, checkpoint: Path, kind: int, problem: str) -> CheckpointLock:
        file = os.open(checkpoint / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise BadCheckpoint(f"{checkpoint} {problem}") from None
        except OSError:  # this file system has no locks
            os.close(file)
            return cls(None)
        return cls(file)

    def release(self) -> None:
        """Let others in; more than once does no harm."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
