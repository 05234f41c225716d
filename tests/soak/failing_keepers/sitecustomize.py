"""Disks of keepers that fail: Python imports this file by its name before anything else, if it
finds it.

Keepers are processes of their own, which nobody hands a function. Their faults are noted in the
file that NEARCAST_SOAK_FAULTS names, and come at moments that NEARCAST_SOAK_SEED gives.
"""

import os
import sys

_noted_in = os.environ.get("NEARCAST_SOAK_FAULTS")

if _noted_in and "nearcast.pipeline.hosted.keeper_process" in sys.orig_argv:
    import random

    from nearcast import durable_files
    from tests.soak.failing_disk import failing_disk

    _draw = random.Random(f"{os.environ['NEARCAST_SOAK_SEED']} {os.getpid()}")
    durable_files.disk = failing_disk(_draw, _noted_in, "keeper")
