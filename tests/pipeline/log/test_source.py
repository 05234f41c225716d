"""The log as a source of Spark: every row once, in batches of the size asked for."""

import json
import pickle

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from nearcast.pipeline.log import Log
from nearcast.pipeline.log.source import ROWS_WORTH_A_TASK, LogSource, read_log


def messages(first, last):
    numbers = range(first, last)
    return pa.table(
        {
            "kind": ["message"] * len(numbers),
            "id": pa.array([f"m{n}" for n in numbers], pa.string()),
            "text": pa.array([f"ünï {n}" for n in numbers], pa.string()),
            "lon": pa.array([n / 7 for n in numbers], pa.float64()),
        }
    )


def stream_reader(log, **options):
    return LogSource({"path": log.path, **options}).streamReader(None)


class Batches:
    """Offsets that a query delivered, a list for each batch."""

    def __init__(self, stream, checkpoint):
        self.offsets = {}
        self.query = (
            stream.writeStream.foreachBatch(self.keep)
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        self.query.awaitTermination()

    def keep(self, rows, number):
        self.offsets[number] = sorted(rows.toArrow()["offset"].to_pylist())


def test_a_stream_has_every_row_in_batches_of_the_size_asked_for(spark, tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 25))
    stream = read_log(spark, log.path, rows_per_batch=10)
    seen = Batches(stream, tmp_path / "checkpoint")
    assert seen.offsets == {0: [*range(10)], 1: [*range(10, 20)], 2: [*range(20, 25)]}


def test_a_query_goes_on_from_its_checkpoint(spark, tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 5))
    first = Batches(read_log(spark, log.path), tmp_path / "checkpoint")
    log.append(messages(5, 12))
    log.trim(5)
    second = Batches(read_log(spark, log.path, rows_per_batch=4), tmp_path / "checkpoint")
    assert first.offsets == {0: [*range(5)]}
    assert second.offsets == {1: [5, 6, 7, 8], 2: [9, 10, 11]}
    source = second.query.lastProgress["sources"][0]
    assert json.loads(source["endOffset"]) == json.loads(source["latestOffset"]) == {"offset": 12}


def test_a_batch_that_failed_is_replayed_with_the_same_rows(spark, tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 6))
    stream = read_log(spark, log.path, rows_per_batch=4)

    def fail(rows, number):
        raise RuntimeError("the sink is away")

    query = (
        stream.writeStream.foreachBatch(fail)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    with pytest.raises(StreamingQueryException, match="the sink is away"):
        query.awaitTermination()
    log.append(messages(6, 9))
    seen = Batches(read_log(spark, log.path), tmp_path / "checkpoint")
    assert seen.offsets == {0: [0, 1, 2, 3], 1: [4, 5, 6, 7, 8]}


def test_rows_come_as_they_were_appended(spark, tmp_path):
    log = Log(tmp_path / "log", ids="int64")
    log.append(
        pa.table(
            {
                "kind": ["unsubscribe", "message"],
                "id": [2**63 - 1, None],
                "lat": [float("nan"), None],
            }
        )
    )
    spark.dataSource.register(LogSource)
    rows = spark.read.format("nearcast-log").load(log.path)
    assert dict(rows.dtypes)["id"] == "bigint"
    assert repr(rows.toArrow().to_pylist()) == repr(log.read(0, 2).to_pylist())


def test_many_rows_are_read_by_several_tasks(spark, tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 3 * ROWS_WORTH_A_TASK))
    log.trim(1)
    spark.dataSource.register(LogSource)
    frame = spark.read.format("nearcast-log").option("tasks", 2).load(log.path)
    assert frame.rdd.getNumPartitions() == 2
    assert frame.toArrow()["offset"].to_pylist() == [*range(1, 3 * ROWS_WORTH_A_TASK)]


def test_a_missing_log_is_an_error_and_is_not_made(spark, tmp_path):
    with pytest.raises(AnalysisException, match="there is no log here"):
        read_log(spark, tmp_path / "typo")
    assert not (tmp_path / "typo").exists()


def test_the_reader_honours_the_limit_it_is_given(tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 100))
    reader = stream_reader(log, rowsPerBatch="30", startingOffset="20")
    assert reader.initialOffset() == {"offset": 20}
    assert reader.getDefaultReadLimit() == ReadMaxRows(30)
    assert reader.latestOffset({"offset": 20}, ReadMaxRows(30)) == {"offset": 50}
    assert reader.latestOffset({"offset": 90}, ReadMaxRows(30)) == {"offset": 100}
    assert reader.latestOffset({"offset": 20}, ReadAllAvailable()) == {"offset": 100}
    assert reader.reportLatestOffset() == {"offset": 100}
    assert reader.partitions({"offset": 50}, {"offset": 50}) == []
    assert stream_reader(log).getDefaultReadLimit() == ReadAllAvailable()


def test_available_now_stops_where_the_log_ended(tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 10))
    reader = stream_reader(log)
    reader.prepareForTriggerAvailableNow()
    log.append(messages(10, 20))
    assert reader.latestOffset({"offset": 0}, ReadAllAvailable()) == {"offset": 10}
    assert reader.latestOffset({"offset": 10}, ReadMaxRows(5)) == {"offset": 10}
    assert reader.reportLatestOffset() == {"offset": 20}


def test_tasks_cover_a_range_without_gap(tmp_path):
    log = Log(tmp_path / "log")
    reader = stream_reader(log, tasks="7")
    for rows in (0, 1, ROWS_WORTH_A_TASK, 3 * ROWS_WORTH_A_TASK + 1, 10**7 + 3):
        parts = reader.partitions({"offset": 5}, {"offset": 5 + rows})
        covered = [*((part.first, part.last) for part in parts)]
        assert [first for first, _ in covered] == [5, *(last for _, last in covered[:-1])][
            : len(parts)
        ]
        assert sum(last - first for first, last in covered) == rows
        assert len(parts) == min(7, max(rows > 0, rows // ROWS_WORTH_A_TASK))


def test_readers_and_partitions_are_pickled(tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 3))
    source = pickle.loads(pickle.dumps(LogSource({"path": log.path})))
    reader = pickle.loads(pickle.dumps(source.streamReader(None)))
    (part,) = pickle.loads(pickle.dumps(reader.partitions({"offset": 1}, {"offset": 3})))
    assert pa.Table.from_batches(reader.read(part)).equals(log.read(1, 3))


def test_what_was_trimmed_cannot_be_read(tmp_path):
    log = Log(tmp_path / "log")
    log.append(messages(0, 10))
    log.trim(4)
    assert stream_reader(log).initialOffset() == {"offset": 4}
    with pytest.raises(IndexError, match=r"startingOffset 3 is not in .* which has 4 to 10"):
        stream_reader(log, startingOffset="3").initialOffset()
    (part,) = stream_reader(log).partitions({"offset": 3}, {"offset": 5})
    with pytest.raises(IndexError, match="the log was trimmed and begins at 4"):
        list(stream_reader(log).read(part))


def test_a_checkpoint_of_another_log_is_refused(tmp_path):
    reader = stream_reader(Log(tmp_path / "log"))
    with pytest.raises(ValueError, match=r"checkpoint is at offset 5, but .* ends at 0"):
        reader.latestOffset({"offset": 5}, ReadAllAvailable())


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "option 'path' is missing"),
        ({"path": "p", "rowsPerBatch": "0"}, "'rowsPerBatch' is '0'; give a whole number from 1"),
        ({"path": "p", "startingOffset": "-1"}, "'startingOffset' is '-1'"),
        ({"path": "p", "tasks": "many"}, "'tasks' is 'many'"),
    ],
)
def test_options_are_checked(options, problem):
    with pytest.raises(ValueError, match=problem):
        LogSource(options)
