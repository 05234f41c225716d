"""A disk that fails now and then, at moments that a seed gives, and notes it.

It stands in for `nearcast.durable_files.disk` in the processes of Spark: those that take steps
(`failing_workers`) and those that keep results (`failing_keepers`).
"""

import errno
import os
from math import inf

from nearcast.durable_files import Disk

CALLS_A_FAULT = 100
"""A step of a shard makes about a dozen: it creates, syncs and renames a few files."""
MOST_WRITES = 64
"""A file that fails does so with one of its first writes; most have fewer."""


def failing_disk(draw, noted_in, who):
    """A disk that fails one call in many, and of some dies.

    Each fault is a line of the file `noted_in`, written before it happens: what, and to whom.
    """

    def note(kind):
        with open(noted_in, "a") as file:
            file.write(f"{kind} of a {who}\n")

    def is_due():
        return draw.randrange(CALLS_A_FAULT) == 0

    def fail(kind, number):
        if is_due():
            note(kind)
            raise OSError(number, f"{os.strerror(number)} (injected)")

    class FailingFile:
        def __init__(self, file):
            self._file = file
            # Files differ in how many writes they take: each is as likely to fail.
            self._good_writes = int(MOST_WRITES ** draw.random()) - 1 if is_due() else inf

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

        def __getattr__(self, name):
            return getattr(self._file, name)

        def write(self, data):
            view = memoryview(data).cast("B")
            self._good_writes -= 1
            if self._good_writes < 0:
                kind = draw.choice(["full disk", "torn write"])
                note(kind)
                self._file.write(view[: draw.randrange(len(view) + 1)])
                self._file.flush()
                if kind == "torn write":
                    os._exit(1)
                raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)} (injected)")
            return self._file.write(view)

    class FailingDisk(Disk):
        def create(self, path):
            return FailingFile(super().create(path))

        def sync(self, file):
            fail("failed sync", errno.EIO)
            super().sync(file)

        def rename(self, source, target):
            fail("failed rename", errno.EIO)
            super().rename(source, target)

        def sync_path(self, path):
            fail("failed sync", errno.EIO)
            super().sync_path(path)

    return FailingDisk()
