import sys

import pytest

from tests.soak.service_round import JAVA, PIPELINE, SERVICE, play_service

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


@pytest.mark.parametrize("kills", [2, pytest.param(3, marks=pytest.mark.thorough)])
def test_what_is_acknowledged_arrives_whoever_is_killed(tmp_path, kills):
    result = play_service(tmp_path, seed=7, kills=kills)
    assert not result.problems, result
    assert result.kills == {SERVICE: 1, PIPELINE: 1, JAVA: kills - 2}
    assert result.events > 0
