"""How much memory the process needed."""

import resource
from pathlib import Path

_STATUS = Path("/proc/self/status")
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
