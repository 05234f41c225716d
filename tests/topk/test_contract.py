"""Every class of the room keeps the contract of `nearcast.checks`."""

from functools import partial

import pytest

from nearcast.checks import top_k_checks
from tests.topk.indexes import SMALL

CASES = [pytest.param(partial(kind, **small), id=kind.__name__) for kind, small in SMALL.items()]


@pytest.mark.parametrize("make_index", CASES)
@pytest.mark.parametrize("check", top_k_checks(), ids=lambda check: check.__name__)
def test_contract(make_index, check):
    check(make_index)
