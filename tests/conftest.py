"""For the whole suite: one Hypothesis profile, one Spark session, two processes."""

import pytest
from hypothesis import settings

# No deadline, because a kernel compiles at its first call. The same examples in every run, so that
# a failure is a change of the code; `pytest --hypothesis-profile=explore` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("same")


# These start Spark in the process of the test, though not by the fixture.
STARTS_SPARK = ("README.md", "tests/test_examples.py", "tests/benchmarks/test_pipeline.py")
# A cluster, or a browser, for all tests of a file.
SHARE_A_FIXTURE = ("tests/pipeline/test_local_cluster.py", "tests/service/page/")


def pytest_collection_modifyitems(items):
    """Two processes run the tests: all that use Spark go to one, which has the only session."""
    for item in items:
        path = item.path.relative_to(item.config.rootpath).as_posix()
        if "spark" in getattr(item, "fixturenames", ()) or path in STARTS_SPARK:
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif path.startswith(SHARE_A_FIXTURE):
            item.add_marker(pytest.mark.xdist_group(path))


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
