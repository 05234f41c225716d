"""`SubscriptionBatch`: many boolean subscriptions as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy.typing as npt
import pyarrow as pa

from nearcast.batches._ids import check_ids, ids_to_arrow, joined_ids
from nearcast.batches._lexicon import Codes
from nearcast.batches._read_subscriptions import check_any_has_region, read_subscriptions
from nearcast.batches._rows import check_one_space, check_row, row_numbers
from nearcast.batches.expression_column import ExpressionColumn, Starts
from nearcast.batches.rejects import Rejects
from nearcast.model import Space, Subscription
from nearcast.space import RegionColumn


@dataclass(frozen=True, slots=True, eq=False)
class SubscriptionBatch:
    """Subscriptions as columns: ids, expressions, regions; no Python object per row.

    - `ids`: an Arrow array, int64 or large_string, without nulls or repeats
    - `expressions`: an `ExpressionColumn`; its arrays are attributes of the batch too
    - `regions`: a `RegionColumn`, which also says in which `space` the batch is

    >>> table = pa.table({
    ...     "id": ["tea-shop", "sales"],
    ...     "keywords": ["tea AND NOT iced", "ipad AND (discount OR sale)"],
    ...     "west": [2.2, None], "south": [48.8, None], "east": [2.5, None], "north": [48.9, None],
    ... })
    >>> batch = SubscriptionBatch.from_arrow(table)
    >>> len(batch), batch.space, batch.lexicon.to_pylist()
    (2, Space.EARTH, ['tea', 'iced', 'ipad', 'discount', 'sale'])
    >>> batch.subscription(0).region
    Box(west=2.2, south=48.8, east=2.5, north=48.9, space=Space.EARTH)
    >>> len(batch.subscription(1).expression.clauses), batch.subscription(1).region
    (2, None)
    """

    ids: pa.Array
    expressions: ExpressionColumn
    regions: RegionColumn

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.expressions) == len(self.regions):
            raise ValueError(
                f"{len(self.ids)} ids, {len(self.expressions)} expressions and "
                f"{len(self.regions)} regions; a batch has one of each per row"
            )
        rejects = Rejects("subscription")
        check_ids(self.ids, rejects)
        check_any_has_region(self.expressions, self.regions, rejects)
        rejects.raise_if_any(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def space(self) -> Space:
        """The space of the regions."""
        return self.regions.space

    @property
    def lexicon(self) -> pa.LargeStringArray:
        """The distinct words of the expressions."""
        return self.expressions.lexicon

    @property
    def clause_start(self) -> Starts:
        """int64[n+1]: row i owns the clauses clause_start[i]:clause_start[i+1]."""
        return self.expressions.clause_start

    @property
    def required_start(self) -> Starts:
        """int64[c+1]: clause j requires required[required_start[j]:required_start[j+1]]."""
        return self.expressions.required_start

    @property
    def required(self) -> Codes:
        """int32[]: positions in the lexicon, distinct within a clause."""
        return self.expressions.required

    @property
    def forbidden_start(self) -> Starts:
        """int64[c+1]: clause j forbids forbidden[forbidden_start[j]:forbidden_start[j+1]]."""
        return self.expressions.forbidden_start

    @property
    def forbidden(self) -> Codes:
        """int32[]: positions in the lexicon, distinct within a clause."""
        return self.expressions.forbidden

    @classmethod
    def from_arrow(
        cls, table: pa.Table | pa.RecordBatch, *, space: Space = Space.EARTH
    ) -> SubscriptionBatch:
        """Read a table; a row that breaks a rule is a `BadRows` error that tells of all such rows.

        Columns, and no others:

        - `id`: integers of any width that fit 64 bits with sign, or strings; each once
        - `keywords`: a string expression, or a list of strings that must all occur; null stands for
          `ANY` and then needs a region
        - `west`, `south`, `east`, `north`: a box, or all four null for everywhere; or instead
          `region`: GeoJSON text or WKB, null for everywhere; without any of them every row is
          everywhere
        """
        return cls(*read_subscriptions(table, space))

    @classmethod
    def from_subscriptions(
        cls, subscriptions: Iterable[Subscription], *, space: Space = Space.EARTH
    ) -> SubscriptionBatch:
        """The batch that holds these subscriptions, in their order.

        >>> one = Subscription("tea-shop", "tea AND NOT iced")
        >>> SubscriptionBatch.from_subscriptions([one]).subscription(0) == one
        True
        """
        rows = list(subscriptions)
        rejects = Rejects("subscription")
        ids = ids_to_arrow([row.id for row in rows], rejects)
        for number, row in enumerate(rows):
            if row.region is not None and row.region.space is not space:
                rejects.add(
                    number, f"{row.region} is not in {space}; a batch has one space for all"
                )
        rejects.raise_if_any(ids)
        return cls(
            ids,
            ExpressionColumn.of_expressions(row.expression for row in rows),
            RegionColumn.of_regions([row.region for row in rows], space),
        )

    def subscription(self, row: int) -> Subscription:
        """The subscription of one row.  O(its size)."""
        check_row(row, len(self))
        return Subscription(
            self.ids[row].as_py(), self.expressions.expression(row), self.regions.region(row)
        )

    def take(self, rows: npt.ArrayLike) -> SubscriptionBatch:
        """The batch of these rows, in this order, with no more words than they use."""
        chosen = row_numbers(rows, len(self))
        return SubscriptionBatch(
            self.ids.take(pa.array(chosen)),
            self.expressions.take(chosen),
            self.regions.take(chosen),
        )

    @staticmethod
    def concat(batches: Sequence[SubscriptionBatch]) -> SubscriptionBatch:
        """The rows of all batches, one batch after the other; at least one batch is needed."""
        ids = joined_ids([batch.ids for batch in batches])
        check_one_space([batch.space for batch in batches])
        regions = RegionColumn.empty(batches[0].space)
        for batch in batches:
            regions.append(batch.regions)
        return SubscriptionBatch(
            ids,
            ExpressionColumn.concat([batch.expressions for batch in batches]),
            regions,
        )
