"""`DS` and `TP`: every region has a table of all its terms."""

from nearcast.trending.term_tables.index import DS, TP

__all__ = ["DS", "TP"]
