"""What time is it, asked from within a kernel?"""

import time

import numpy as np
from numba import types

from nearcast.inner import inner

_clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))
_MONOTONIC = time.CLOCK_MONOTONIC


@inner
def now(moment):
    """Nanoseconds since some moment; `moment` is int64[2], to be written over."""
    _clock_gettime(_MONOTONIC, moment.ctypes)
    return moment[0] * np.int64(1_000_000_000) + moment[1]
