"""When messages are, and when they expire, checked by the rules of the model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nearcast.batches.rejects import Rejects, why_refused
from nearcast.model import Message, Point

Floats = npt.NDArray[np.float64]


def check_times(time: Floats, expires: Floats, rejects: Rejects) -> None:
    """Reject messages whose times the model refuses; NaN in `expires` is a message that stays."""
    bad = ~np.isfinite(time) | np.isinf(expires) | (expires < time)
    for row in np.flatnonzero(bad).tolist():
        if row not in rejects:
            rejects.add(row, _why_refused(float(time[row]), float(expires[row])))


def _why_refused(time: float, expires: float) -> str:
    def message() -> Message:
        until = None if np.isnan(expires) else expires
        return Message(0, keywords=(), at=Point(0, 0), time=time, expires=until)

    return why_refused(message).removeprefix("message 0: ")
