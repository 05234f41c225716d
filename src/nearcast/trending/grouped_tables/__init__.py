"""`RST`: regions that are alike share a table of what is said in all of them."""

from nearcast.trending.grouped_tables.index import RST

__all__ = ["RST"]
