"""The rivals of the AP+-Tree: indexes of subscriptions and of messages apart, by word and cell."""

from nearcast.moving.cell_lists.indexes import APPlusK, APPlusS, IQPlus, KKIndex, RQPlus, SSIndex

__all__ = ["APPlusK", "APPlusS", "IQPlus", "KKIndex", "RQPlus", "SSIndex"]
