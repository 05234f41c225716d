"""`CellRows`: lists of regions by what is said in the cells around."""

from nearcast.trending.cell_rows.index import CellRows

__all__ = ["CellRows"]
