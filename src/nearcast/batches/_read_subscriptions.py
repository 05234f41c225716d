"""From a user's table to the columns of a `SubscriptionBatch`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from nearcast.batches._columns import BOX, columns_of, id_column, need
from nearcast.batches._expressions import read_expressions
from nearcast.batches._ids import check_ids
from nearcast.batches._regions import read_regions
from nearcast.batches.expression_column import ExpressionColumn
from nearcast.batches.rejects import Rejects
from nearcast.model.shapes import Space
from nearcast.space.region_column import EVERYWHERE, RegionColumn

COLUMNS = ("id", "keywords", *BOX, "region")


def read_subscriptions(
    table: pa.Table | pa.RecordBatch, space: Space
) -> tuple[pa.Array, ExpressionColumn, RegionColumn]:
    """Ids, expressions and regions, or `BadRows` with every bad row of the table."""
    columns = columns_of(table, "subscription", COLUMNS)
    need(columns, "subscription", "id", "keywords")
    rejects = Rejects("subscription")
    ids = id_column(columns["id"], rejects)
    expressions = read_expressions(columns["keywords"], rejects)
    regions = read_regions(columns, len(ids), space, rejects)
    if rejects:
        # What the batch itself would check, so that the error tells of every bad row at once.
        check_ids(ids, rejects)
        check_any_has_region(expressions, regions, rejects)
        rejects.raise_if_any(ids)
    return ids, expressions, regions


def check_any_has_region(
    expressions: ExpressionColumn, regions: RegionColumn, rejects: Rejects
) -> None:
    """Reject rows that ask for any words everywhere."""
    needs_no_word = np.diff(expressions.required_start)[expressions.clause_start[:-1]] == 0
    is_everywhere = regions.kernel_arrays()[0] == EVERYWHERE
    for row in np.flatnonzero(needs_no_word & is_everywhere).tolist():
        if row not in rejects:
            rejects.add(row, "any keywords everywhere is every message; give words or a region")
