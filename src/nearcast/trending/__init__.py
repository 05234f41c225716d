"""What is talked about here, now, for everybody, all the time?

For regions use `CellRows`, around a point `TermFields`, and of both the `Parallel` one where there
are two cores; the others are what a paper has. A name is loaded when it is first used: rules for
terms are part of settings, which need no compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.trending.cell_rows import CellRows, ParallelCellRows
    from nearcast.trending.decay import Decay
    from nearcast.trending.grouped_tables import RST
    from nearcast.trending.index import TrendingIndex, TrendingStats
    from nearcast.trending.nearby import NearbyIndex
    from nearcast.trending.scan import ScanTrending
    from nearcast.trending.sst import FTS, SST, TS, NearbyBaseline
    from nearcast.trending.term_fields import ParallelTermFields, TermFields
    from nearcast.trending.term_rules import ENGLISH_STOP_WORDS, TermRules
    from nearcast.trending.term_tables import DS, TP
    from nearcast.trending.terms_change import TermsChange
    from nearcast.trending.terms_changes import TermsChanges

__all__ = [
    "DS",
    "ENGLISH_STOP_WORDS",
    "FTS",
    "RST",
    "SST",
    "TP",
    "TS",
    "CellRows",
    "Decay",
    "NearbyBaseline",
    "NearbyIndex",
    "ParallelCellRows",
    "ParallelTermFields",
    "ScanTrending",
    "TermFields",
    "TermRules",
    "TermsChange",
    "TermsChanges",
    "TrendingIndex",
    "TrendingStats",
]

_MODULES = {
    "cell_rows": ("CellRows", "ParallelCellRows"),
    "decay": ("Decay",),
    "grouped_tables": ("RST",),
    "index": ("TrendingIndex", "TrendingStats"),
    "nearby": ("NearbyIndex",),
    "scan": ("ScanTrending",),
    "term_tables": ("DS", "TP"),
    "sst": ("FTS", "NearbyBaseline", "SST", "TS"),
    "term_fields": ("ParallelTermFields", "TermFields"),
    "term_rules": ("ENGLISH_STOP_WORDS", "TermRules"),
    "terms_change": ("TermsChange",),
    "terms_changes": ("TermsChanges",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'nearcast.trending' has no attribute {name!r}")
    value = getattr(import_module(f"nearcast.trending.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
