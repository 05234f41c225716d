"""One Hypothesis profile and one Spark session for the whole suite."""

import pytest
from hypothesis import settings

# No deadline, because a kernel compiles at its first call. The same examples in every run, so that
# a failure is a change of the code; `pytest --hypothesis-profile=explore` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("same")


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
