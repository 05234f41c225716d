"""The session: tuned, quiet, clear about a missing Java; and loaded by who asks for it only."""

import os
import subprocess
import sys

import pytest

from nearcast.pipeline import spark_session
from nearcast.pipeline.java import NoJava
from nearcast.pipeline.session import SETTINGS


def test_the_session_has_our_settings(spark):
    given = {"spark.driver.memory"}  # by the fixture
    for key, value in SETTINGS.items():
        if key not in given:
            assert value in spark.sparkContext.getConf().get(key)  # Spark adds to Java's options
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_workers_have_the_same_python(spark):
    def versions(batches):
        for _ in batches:
            import pyarrow as pa

            yield pa.RecordBatch.from_pydict({"python": [sys.executable]})

    [row] = spark.range(0, 1, 1, 1).mapInArrow(versions, "python string").collect()
    assert row.python == sys.executable


def test_there_is_one_session(spark):
    assert spark_session("local[2]") is spark


def test_without_java_the_error_tells_what_to_do(monkeypatch, tmp_path):
    old = tmp_path / "old" / "bin" / "java"
    old.parent.mkdir(parents=True)
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(NoJava, match=r"Java 17 or newer.*version 8.*point JAVA_HOME at it"):
        spark_session()


@pytest.mark.parametrize(
    "statement",
    [
        "import nearcast",
        "import nearcast.pipeline",
        "from nearcast.pipeline import Hash, Location, Keyword, Log, NotificationStore",
        "import nearcast.cli",
    ],
)
def test_spark_is_loaded_when_it_is_used(statement):
    check = (
        f"import sys; {statement}; "
        "loaded = {name for name in ('pyspark', 'pandas') if name in sys.modules}; "
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


def test_a_name_that_is_not_there():
    import nearcast.pipeline

    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = nearcast.pipeline.nothing
    assert {"match", "stream", "plan"} <= set(dir(nearcast.pipeline))


def test_without_pyspark_the_error_tells_what_to_install():
    check = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import nearcast.pipeline\n"
        "try:\n    nearcast.pipeline.match\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True)
    assert "pip install 'nearcast[spark]'" in done.stdout
