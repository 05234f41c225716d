"""Which are the k best messages of the window, for everybody, all the time?"""

from nearcast.topk.index import Scoring, TopKIndex, TopKStats
from nearcast.topk.list_change import ListChange
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
from nearcast.topk.word_lists.index import WordLists
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
    "ScanTopK",
    "Scoring",
    "Skype",
    "TimeWindow",
    "TopKIndex",
    "TopKStats",
    "WordLists",
    "WordStatistics",
]
