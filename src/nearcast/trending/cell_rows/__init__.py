"""`CellRows`: lists of regions by what is said in the cells around, alone and on two cores."""

from nearcast.trending.cell_rows.index import CellRows
from nearcast.trending.cell_rows.parallel import ParallelCellRows

__all__ = ["CellRows", "ParallelCellRows"]
