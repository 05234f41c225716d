"""Workers of Spark whose disk fails now and then.

Like `sabotage`, it gets into the workers as the function that makes an index.
"""

import os
import random

from pyspark import TaskContext

from nearcast import durable_files
from nearcast.boolean import RarestWordTree
from nearcast.durable_files import Disk
from tests.soak.failing_disk import failing_disk


class FailingWorkers:
    """Makes indexes; in a worker it also puts a disk that fails under all durable files.

    Each fault is a line of the file `noted_in`, written before it happens.
    """

    def __init__(self, noted_in, seed):
        self._noted_in = noted_in
        self._seed = seed

    def __call__(self):
        # In the driver there is no task.
        if TaskContext.get() is not None and type(durable_files.disk) is Disk:
            draw = random.Random(f"{self._seed} {os.getpid()}")
            durable_files.disk = failing_disk(draw, self._noted_in, "worker")
        return RarestWordTree()
