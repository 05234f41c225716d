"""When is it over?  Ctrl-C asks for an end in good order, whatever is going on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def asked_to_end() -> Iterator[threading.Event]:
    """An event that is set by Ctrl-C, in place of an exception in the middle of something."""
    ending = threading.Event()
    before = {each: signal.signal(each, lambda *_: ending.set()) for each in SIGNALS}
    try:
        yield ending
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
