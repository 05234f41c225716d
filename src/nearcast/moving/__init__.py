"""What changes when someone moves?  Results that follow subscribers over live messages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.moving.ap_plus_tree import APPlusTree, APPlusTreeSafe, Communication
    from nearcast.moving.cell_lists import APPlusK, APPlusS, IQPlus, KKIndex, RQPlus, SSIndex
    from nearcast.moving.change import Change, Changes
    from nearcast.moving.index import MovingIndex, MovingStats
    from nearcast.moving.late_positions import LatePositions
    from nearcast.moving.scan import ScanMoving
    from nearcast.moving.word_quadtrees import WordQuadtrees

__all__ = [
    "APPlusK",
    "APPlusS",
    "APPlusTree",
    "APPlusTreeSafe",
    "Change",
    "Changes",
    "Communication",
    "IQPlus",
    "KKIndex",
    "LatePositions",
    "MovingIndex",
    "MovingStats",
    "RQPlus",
    "SSIndex",
    "ScanMoving",
    "WordQuadtrees",
]

_MODULES = {
    "ap_plus_tree": ("APPlusTree", "APPlusTreeSafe", "Communication"),
    "cell_lists": ("APPlusK", "APPlusS", "IQPlus", "KKIndex", "RQPlus", "SSIndex"),
    "change": ("Change", "Changes"),
    "index": ("MovingIndex", "MovingStats"),
    "late_positions": ("LatePositions",),
    "scan": ("ScanMoving",),
    "word_quadtrees": ("WordQuadtrees",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'nearcast.moving' has no attribute {name!r}")
    value = getattr(import_module(f"nearcast.moving.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
