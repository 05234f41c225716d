"""Which are the k best messages of the window, for everybody, all the time?

A name is loaded when it is first used: windows are part of settings, which need no compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.topk.index import Scoring, TopKIndex, TopKStats
    from nearcast.topk.list_change import ListChange
    from nearcast.topk.parallel_lists import ParallelLists
    from nearcast.topk.scan import ScanTopK
    from nearcast.topk.skype import (
        CIQKmax,
        CIQSkyband,
        CIQSkype,
        IGPTKmax,
        IGPTSkyband,
        IPTKmax,
        IPTSkyband,
        IPTSkype,
        Skype,
    )
    from nearcast.topk.windows import CountWindow, TimeWindow
    from nearcast.topk.word_lists import WordLists
    from nearcast.topk.word_statistics import WordStatistics

__all__ = [
    "CIQKmax",
    "CIQSkyband",
    "CIQSkype",
    "CountWindow",
    "IGPTKmax",
    "IGPTSkyband",
    "IPTKmax",
    "IPTSkyband",
    "IPTSkype",
    "ListChange",
    "ParallelLists",
    "ScanTopK",
    "Scoring",
    "Skype",
    "TimeWindow",
    "TopKIndex",
    "TopKStats",
    "WordLists",
    "WordStatistics",
]

_MODULES = {
    "index": ("Scoring", "TopKIndex", "TopKStats"),
    "list_change": ("ListChange",),
    "parallel_lists": ("ParallelLists",),
    "scan": ("ScanTopK",),
    "skype": (
        "CIQKmax",
        "CIQSkyband",
        "CIQSkype",
        "IGPTKmax",
        "IGPTSkyband",
        "IPTKmax",
        "IPTSkyband",
        "IPTSkype",
        "Skype",
    ),
    "windows": ("CountWindow", "TimeWindow"),
    "word_lists": ("WordLists",),
    "word_statistics": ("WordStatistics",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'nearcast.topk' has no attribute {name!r}")
    value = getattr(import_module(f"nearcast.topk.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
