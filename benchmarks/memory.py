"""How much memory the process needed."""

import ctypes
import gc
import resource
from pathlib import Path

import pyarrow as pa

_STATUS = Path("/proc/self/status")
_PAGES = Path("/proc/self/statm")
_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


def forget_peak() -> None:
    """Count the peak from now on, where the system can (Linux)."""
    try:
        _CLEAR.write_text(_RESET_PEAK)
    except OSError:
        return


def peak_rss_bytes() -> int:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def rss_bytes() -> int:
    """What the process holds at this moment."""
    try:
        return int(_PAGES.read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return peak_rss_bytes()


def give_back() -> None:
    """Let the system have what is free, where it can (Linux): what is held after that is in use."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
