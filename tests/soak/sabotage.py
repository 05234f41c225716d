"""Faults inside the workers of Spark, at a moment that a test chooses.

Workers are other processes, and what they run is imported there. The one thing of a stream that
comes from its owner and runs inside them is the function that makes an index, so that is where the
fault gets in.
"""

import os
import resource
import sys
from pathlib import Path

from pyspark import TaskContext, cloudpickle

from nearcast.boolean import RarestWordTree
from nearcast.pipeline.snapshot import Snapshot

BEFORE, AFTER = "before", "after"
MOST_BYTES_OF_A_FULL_DISK = 100

# So that workers need not find this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Sabotage:
    """Makes indexes; in a worker it also waits there to do harm, whenever it is ordered."""

    def __init__(self, folder):
        self._order = folder / "crash"
        self._full = folder / "full"

    def __call__(self):
        if TaskContext.get() is not None:  # in the driver there is none
            self._infiltrate()
        return RarestWordTree()

    def crash(self, moment, name):
        """The worker that is about to give this name to a finished file, or just has, dies."""
        self._order.write_text(f"{moment} {name}")

    @property
    def has_crashed(self):
        return not self._order.exists()

    def fill_disk(self):
        """From now on no snapshot fits on the disk."""
        self._full.touch()

    def free_disk(self):
        self._full.unlink()

    def _infiltrate(self):
        replace = getattr(os.replace, "honest", os.replace)
        save = getattr(Snapshot.save, "honest", Snapshot.save)

        def replace_or_die(source, target):
            moment = self._moment_of(Path(target).name)
            if moment == BEFORE:
                os._exit(1)
            replace(source, target)
            if moment == AFTER:
                os._exit(1)

        def save_or_fail(snapshot, folder):
            limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
            if self._full.exists():
                resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES_OF_A_FULL_DISK, most))
            try:
                save(snapshot, folder)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))

        replace_or_die.honest = replace
        save_or_fail.honest = save
        os.replace = replace_or_die
        Snapshot.save = save_or_fail

    def _moment_of(self, name):
        """When to die on account of this file, if that was ordered; an order is obeyed once."""
        try:
            moment, wanted = self._order.read_text().split()
            if name.startswith(wanted):
                self._order.unlink()
                return moment
        except FileNotFoundError:
            pass
        return None
