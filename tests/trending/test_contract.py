"""Every class of the room keeps the contract of `nearcast.checks`."""

from functools import partial

import pytest

from nearcast.checks import check_trending_index, trending_checks
from nearcast.trending import ScanTrending
from tests.trending.indexes import INDEXES


def test_contract_of_the_oracle():
    check_trending_index(partial(ScanTrending, a=1.0))


# These share their kernels with others, or are the oracle; the state machine has them all.
ALIKE = (
    "NearbyScan",
    "TS",
    "FTS",
    "SSTWithin",
    "TermFieldsWithin",
    "ParallelCellRows",
    "ParallelTermFields",
    "DS",
)
CASES = [
    pytest.param(make_index, id=name, marks=[pytest.mark.thorough] * (name in ALIKE))
    for name, make_index in INDEXES.items()
]


@pytest.mark.parametrize("make_index", CASES)
@pytest.mark.parametrize("check", trending_checks(), ids=lambda check: check.__name__)
def test_contract(make_index, check):
    check(make_index)
