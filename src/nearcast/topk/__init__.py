"""Which are the k best messages of the window, for everybody, all the time?"""

from nearcast.topk.index import Scoring, TopKIndex, TopKStats
from nearcast.topk.lazy_window import LazyWindow
from nearcast.topk.list_change import ListChange
from nearcast.topk.scan import ScanTopK
from nearcast.topk.windows import CountWindow, TimeWindow
from nearcast.topk.word_lists import WordLists
from nearcast.topk.word_statistics import WordStatistics

__all__ = [
    "CountWindow",
    "LazyWindow",
    "ListChange",
    "ScanTopK",
    "Scoring",
    "TimeWindow",
    "TopKIndex",
    "TopKStats",
    "WordLists",
    "WordStatistics",
]
