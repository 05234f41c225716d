"""Workers of Spark whose disk fails now and then, at moments that a seed gives.

Like `sabotage`, it gets into the workers as the function that makes an index.
"""

import errno
import os
import random
import sys

from pyspark import TaskContext, cloudpickle

from nearcast import durable_files
from nearcast.boolean import RarestWordTree
from nearcast.durable_files import Disk

CALLS_A_FAULT = 400
"""A step of a shard makes about a hundred calls, most of them small writes."""

# So that workers need not find this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class FailingWorkers:
    """Makes indexes; in a worker it also puts a disk that fails under all durable files.

    Each fault is a line of the file `faults`, written before it happens.
    """

    def __init__(self, folder, seed):
        self._noted_in = folder / "faults"
        self._seed = seed

    def __call__(self):
        # In the driver there is no task.
        if TaskContext.get() is not None and type(durable_files.disk) is Disk:
            draw = random.Random(f"{self._seed} {os.getpid()}")
            durable_files.disk = failing_disk(draw, self._noted_in)
        return RarestWordTree()


def failing_disk(draw, noted_in):
    """A disk that fails one call in many, and of some dies."""

    def note(kind):
        with open(noted_in, "a") as file:
            file.write(f"{kind}\n")

    def fail(kind, number):
        if draw.randrange(CALLS_A_FAULT) == 0:
            note(kind)
            raise OSError(number, f"{os.strerror(number)} (injected)")

    class FailingFile:
        def __init__(self, file):
            self._file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

        def __getattr__(self, name):
            return getattr(self._file, name)

        def write(self, data):
            view = memoryview(data).cast("B")
            if draw.randrange(CALLS_A_FAULT) == 0:
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
