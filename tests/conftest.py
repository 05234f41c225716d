"""For the whole suite: one Hypothesis profile, one Spark session, two processes."""

import re

import pytest
from hypothesis import settings

# No deadline, because a kernel compiles at its first call. The same examples in every run, so that
# a failure is a change of the code; `pytest --hypothesis-profile=explore` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("same")


# These start Spark in the process of the test, though not by the fixture.
STARTS_SPARK = re.compile("README.md|tests/test_examples.py.*spark_")
# A cluster, or a browser, for all tests of a file.
SHARE_A_FIXTURE = re.compile("tests/pipeline/test_local_cluster.py|tests/service/page/")


@pytest.hookimpl(tryfirst=True)  # before the plugin that reads the marks
def pytest_collection_modifyitems(items):
    """Two processes run the tests; all that use Spark go to one, which has the only session."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) or STARTS_SPARK.match(item.nodeid):
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif SHARE_A_FIXTURE.match(item.nodeid):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Starting Spark takes seconds, so that whoever needs it shares this one."""
    from nearcast.pipeline import spark_session

    folder = tmp_path_factory.mktemp("spark")
    session = spark_session(
        "local[2]",
        settings={
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.local.dir": str(folder / "local"),
            "spark.driver.memory": "1g",
        },
    )
    yield session
    session.stop()
