"""Every class of the room keeps the contract of `nearcast.checks`."""

import pytest

from nearcast.checks import check_moving_index, moving_checks
from nearcast.moving import ScanMoving
from tests.moving.indexes import INDEXES, RIVALS

# Rivals of the AP+-Tree are made of the same parts, but for where subscriptions and messages are.
OF_PLACES = ("check_batches", "check_antimeridian_and_poles")


@pytest.mark.parametrize("check", moving_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [name for name in INDEXES if name != "ScanMoving"])
def test_contract(name, check):
    check(INDEXES[name])


@pytest.mark.thorough  # the oracle beside itself
@pytest.mark.parametrize("check", moving_checks(), ids=lambda check: check.__name__)
def test_contract_of_the_oracle(check):
    check(ScanMoving)


@pytest.mark.parametrize("name", OF_PLACES)
@pytest.mark.parametrize("make_index", RIVALS.values(), ids=RIVALS)
def test_contract_of_rivals(make_index, name):
    checks = {check.__name__: check for check in moving_checks()}
    checks[name](make_index)


class Forgetful(ScanMoving):
    """An index that never tells what leaves."""

    def move(self, subscription_id, region, *, time=None):
        changes = super().move(subscription_id, region, time=time)
        return [change for change in changes if change.sign > 0]


def test_checks_notice_a_wrong_index():
    with pytest.raises(AssertionError) as raised:
        check_moving_index(Forgetful)
    assert any("while running check_" in note for note in raised.value.__notes__)
