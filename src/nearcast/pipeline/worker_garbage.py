"""Keeps workers from searching all loaded code for garbage after every task.

PySpark's workers collect garbage when a task is done. With NumPy, Arrow, numba and our rooms loaded
this goes through some 300,000 objects that never become garbage: 50 to 100 ms of a core after each
task, more than the task of a small batch itself.
"""

from __future__ import annotations

import gc

from pyspark import TaskContext

_spared: set[str] = set()


def spare_loaded_code(task: str) -> None:
    """Exempt what is alive now; once for each kind of task, because each loads code of its own.

    Only in a worker of Spark: the process of somebody's program is not ours to tune.
    """
    if task not in _spared and TaskContext.get() is not None:
        _spared.add(task)
        gc.collect()  # garbage would stay for ever
        gc.freeze()
