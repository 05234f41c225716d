"""Whatever is killed, torn or full: every notification arrives once, or the stream says why not.

`python -m tests.soak` is the long version of the first test; `test_storm.py` has torn, flipped and
lost files and full disks without Spark.
"""

import re
import sys

import pytest
from pyspark.errors import StreamingQueryException

from nearcast.pipeline import Hash, Location, StoreSink, read_log, stream
from tests.pipeline.histories import random_history
from tests.soak.feeding import Feeder
from tests.soak.processes import DRIVER, KEEPER, WORKER, kill, workers_under
from tests.soak.round import play
from tests.soak.sabotage import AFTER, BEFORE, Sabotage
from tests.soak.verdict import differences

ROWS = 24
"""Of a batch, an unknown id and a bad row among them, so that each kind of file is written."""

MOST_BATCHES = 40
"""Work in the background is waited for so long; each takes a second or so."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")


@pytest.mark.thorough
def test_kills_at_random_moments(tmp_path):
    result = play(tmp_path, 7, "local[2,4]", [DRIVER, WORKER] * 2, Location)
    assert not result.problems, result
    assert result.kills == {DRIVER: 2, WORKER: 2}


@pytest.mark.thorough
@pytest.mark.parametrize("results", ["hash", "prefix"])
def test_results_after_kills_at_random_moments(tmp_path, results):
    kinds = [KEEPER, KEEPER, WORKER, DRIVER]
    result = play(tmp_path, 3, "local[2,4]", kinds, Hash, results)
    assert not result.problems, result
    assert result.kills == {KEEPER: 2, WORKER: 1, DRIVER: 1}


class SinkThatFails(StoreSink):
    """Fails at one batch, once, before it is written or after."""

    def __init__(self, path, moment, batch):
        super().__init__(path)
        self._moment = moment
        self._batch = batch

    def commit(self, output):
        moment = self._moment if output.number == self._batch else None
        if moment == BEFORE:
            raise OSError("the sink fails before it has written")
        super().commit(output)
        if moment == AFTER:
            raise OSError("the sink fails after it has written")


class Story:
    """A stream in one session that fails and is started again, batch by batch."""

    def __init__(self, spark, folder):
        self.folder = folder
        self.batches = 0
        self.sabotage = Sabotage(folder)
        self._spark = spark
        self._feeder = Feeder(folder / "log", 5)
        self._events = random_history(5, 10_000)

    def append_batch(self):
        """The rows of one batch more."""
        self._feeder.append([next(self._events) for _ in range(ROWS - 2)])
        self._feeder.append([("unsubscribe", "nobody")])
        self._feeder.append_bad_row()
        self.batches += 1

    def start(self, sink=None, snapshot_after=10**9):
        return stream(
            read_log(self._spark, self.folder / "log", rows_per_batch=ROWS),
            sink=sink or StoreSink(self.folder / "store"),
            checkpoint=self.folder / "checkpoint",
            index=self.sabotage,
            partitioning=Hash(2),
            snapshot_after=snapshot_after,
        )

    def run(self, **options):
        """Start, answer all there is, stop; everything must be right."""
        running = self.start(**options)
        try:
            running.process_all_available()
        finally:
            running.stop()
        self.check()
        return running

    def run_into_failure(self, **options):
        """Start and fail; the answer is what the stream says of it."""
        running = self.start(**options)
        with pytest.raises(StreamingQueryException) as failure:
            running.process_all_available()
        running.stop()
        return str(failure.value)

    def check(self):
        assert not differences(self.folder / "store", self._feeder)

    def shard_files(self, pattern):
        found = sorted((self.folder / "checkpoint" / "nearcast").glob(f"shard-*/{pattern}"))
        assert found
        return found

    def kill_workers(self):
        workers = workers_under(self._spark.sparkContext._gateway.proc.pid)
        assert workers
        kill(workers)


@pytest.fixture
def story(spark, tmp_path):
    story = Story(spark, tmp_path)
    story.append_batch()
    story.run()
    return story


@pytest.mark.thorough
def test_a_worker_that_dies_beside_any_file(story):
    """The same batch is tried again and again, and each time it gets a little further."""
    story.append_batch()
    for name in ("changes-", "rejects-", "notifications-"):
        for moment in (BEFORE, AFTER):
            story.sabotage.crash(moment, name)
            assert "crashed" in story.run_into_failure()
            assert story.sabotage.has_crashed
    (done,) = story.run().recent
    assert (done.batch, done.rows) == (1, ROWS)


@pytest.mark.thorough
def test_a_sink_that_fails_before_or_after_it_has_written(story):
    for moment in (BEFORE, AFTER):
        story.append_batch()
        sink = SinkThatFails(story.folder / "store", moment, story.batches - 1)
        assert f"fails {moment} it has written" in story.run_into_failure(sink=sink)
        story.run()


@pytest.mark.thorough
def test_a_torn_changelog_of_a_batch_that_is_not_done_is_written_again(story):
    story.append_batch()
    story.sabotage.crash(AFTER, "changes-")
    story.run_into_failure()
    for path in story.shard_files("changes-000000000001.near"):
        path.write_bytes(path.read_bytes()[:-100])
    story.run()


def truncated(data):
    return data[:-100]


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.thorough
def test_a_damaged_changelog_stops_the_stream(story):
    path = story.shard_files("changes-000000000000.near")[0]
    good = path.read_bytes()
    story.append_batch()
    story.kill_workers()  # who has the shard in memory does not need the file
    for damage in (truncated, flipped):
        path.write_bytes(damage(good))
        assert str(path) in story.run_into_failure()
    path.write_bytes(good)
    story.run()


@pytest.mark.thorough
def test_workers_that_are_gone_are_missed_by_nobody(story):
    story.kill_workers()
    story.append_batch()
    assert story.run().recent[0].restored == 2


@pytest.mark.thorough
def test_a_full_disk_delays_snapshots_and_nothing_else(story):
    story.sabotage.fill_disk()
    running = story.start(snapshot_after=1)
    for _ in range(MOST_BATCHES):  # one is tried after each batch, in the background
        story.append_batch()
        running.process_all_available()
        if running.summary.problem:
            break
    assert re.fullmatch(
        "no new snapshot of shard ., the old one stays: OSError: .*File too large",
        running.recent[-1].problem,
    )
    assert running.summary.snapshots == 0
    story.check()
    story.sabotage.free_disk()
    for _ in range(MOST_BATCHES):
        story.append_batch()
        running.process_all_available()
        if running.summary.snapshots >= 2:
            break
    assert running.summary.snapshots >= 2
    assert running.recent[-1].problem is None
    running.stop()
    story.check()
    story.kill_workers()  # so that the snapshots are read
    story.append_batch()
    story.run()


@pytest.mark.parametrize("name", ["commits", pytest.param("offsets", marks=pytest.mark.thorough)])
def test_the_last_word_of_spark_that_the_power_took(story, name):
    """Spark does not wait for the disk: of its newest file only the name may be there."""
    spark = story.folder / "checkpoint" / "spark"
    story.append_batch()
    story.run()
    numbers = sorted(int(path.name) for path in (spark / name).iterdir() if path.name.isdigit())
    newest = spark / name / str(numbers[-1] if name == "commits" else numbers[-1] + 1)
    newest.write_bytes(b"")
    story.append_batch()
    story.run()
