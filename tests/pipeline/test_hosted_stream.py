"""Results in a stream of Spark: keepers are found, survive, are replaced, and told of once."""

import os
import signal
import sys
from itertools import islice
from pathlib import Path

import pytest

from nearcast.model import Circle, Message, MovingSubscription, Point, TopKSubscription
from nearcast.pipeline import (
    FilesSink,
    Hash,
    Log,
    NotificationStore,
    ResultDistribution,
    ResultSettings,
    StoreSink,
    read_log,
    reshard,
    stream,
)
from nearcast.pipeline.state import BadCheckpoint
from nearcast.topk import CountWindow
from nearcast.topk.distributions import ByKeyword, ByPrefix, WordRanges
from tests.pipeline.hosted_histories import OneBroker, cells, random_events
from tests.pipeline.in_process import log_table

ROWS = 30
WINDOW = CountWindow(20)


class Story:
    """A log of every kind of row, a stream that follows it, and one broker that takes the same."""

    def __init__(self, spark, folder, seed=1):
        self.folder = folder
        self.distribution = None
        self.log = Log(folder / "log")
        self.expected = []
        self._spark = spark
        self._one = OneBroker(WINDOW)
        self._events = random_events(seed, 10**6)

    def append(self, rows=ROWS):
        """So many rows at once."""
        events = list(islice(self._events, rows))
        offsets = self.log.append(log_table(events).drop_columns(["offset"]))
        for offset, event in zip(offsets, events, strict=True):
            self.expected += [
                (offset, each.subscription_id, each.kind, each.message_id or "")
                for each in self._one.apply(event)
            ]

    def start(self, **options):
        return stream(
            read_log(self._spark, self.log.path, rows_per_batch=ROWS),
            sink=options.pop("sink", None) or StoreSink(self.folder / "store"),
            checkpoint=self.folder / "checkpoint",
            partitioning=options.pop("partitioning", Hash(2)),
            results=ResultSettings(WINDOW, distribution=self.distribution),
            snapshot_after=options.pop("snapshot_after", 50),
        )

    def check(self):
        rows = NotificationStore(self.folder / "store").read().to_pylist()
        names = ("position", "subscription_id", "kind")
        found = [(*(row[name] for name in names), row["message_id"] or "") for row in rows]
        assert [row[0] for row in found] == sorted(row[0] for row in found)
        assert sorted(found) == sorted(self.expected)


def keepers():
    """The processes that keep a shard."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"hosted.keeper_process" in words:
            found.append(int(process.name))
    return found


@pytest.fixture
def story(spark, tmp_path):
    return Story(spark, tmp_path)


def test_every_change_is_told_once_and_keepers_are_found(story):
    story.append(6 * ROWS)
    running = story.start()
    try:
        running.process_all_available()
        summary, first = running.summary, running.recent[0]
        assert len(running.recent) == 6
        assert first.keepers_restored == 2
        assert 1 - sum(each.keepers_restored for each in running.recent[1:]) / 10 >= 0.95
        assert summary.keeper_hit_rate == 10 / 12  # all but the first time
        assert summary.notifications == len(story.expected)
    finally:
        running.stop()
    story.check()
    assert list((story.folder / "checkpoint").glob("nearcast/hosted/shard-*/snapshot-*"))
    story.append()
    again = story.start()
    with pytest.raises(BadCheckpoint, match="checkpoint is in use; stop the stream first"):
        reshard(story.folder / "checkpoint", shards=3)
    assert again.next_expiry == running.next_expiry  # before anybody has asked
    again.process_all_available()
    again.stop()
    story.check()


@pytest.mark.thorough
def test_it_goes_on_in_other_shards(story):
    story.append(2 * ROWS)
    running = story.start()
    running.process_all_available()
    running.stop()
    assert reshard(story.folder / "checkpoint", shards=3).after == Hash(3)
    story.append(2 * ROWS)
    with pytest.raises(BadCheckpoint, match=r"shards 3, now it is 2; .* `nearcast reshard`"):
        story.start()
    again = story.start(partitioning=None)
    assert again.next_expiry == running.next_expiry
    again.process_all_available()
    assert [each.batch for each in again.recent] == [2, 3]
    again.stop()
    story.check()


WORDS_APART = ByKeyword(2, WordRanges({"tea": 0, "cake": 0}, (1,)))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(None, marks=pytest.mark.thorough),
        ResultDistribution(2, cells(2), WORDS_APART),
    ],
)
def test_keepers_that_are_killed_are_missed_by_nobody(story, way):
    story.distribution = way
    running = story.start(snapshot_after=10**9)
    try:
        for _ in range(2):
            story.append()
            running.process_all_available()
            for process in keepers():
                os.kill(process, signal.SIGKILL)
        story.append()
        running.process_all_available()
        assert [each.keepers_restored for each in running.recent] == [2, 2, 2]
        story.append()
        running.process_all_available()
        assert running.recent[-1].keepers_hot == 2
        last = running.recent[-1]
        assert (last.copies == 2 * last.messages) is (way is None)
    finally:
        running.stop()
    story.check()
    if way:  # it goes on as it was spread
        story.distribution = None
        story.append()
        again = story.start(partitioning=None)
        again.process_all_available()
        again.stop()
        story.check()


def test_a_list_that_needs_another_shard_is_asked_for_there(spark, tmp_path):
    """By prefix: it begins in one shard, and is in both from the second batch on."""
    top = ByPrefix(2, WordRanges({"tea": 0, "jazz": 1}, (1,)), {})
    at = Point(2.35, 48.86)
    with Log(tmp_path / "log") as log:
        running = stream(
            read_log(spark, log.path),
            sink=StoreSink(tmp_path / "store"),
            checkpoint=tmp_path / "checkpoint",
            results=ResultSettings(WINDOW, distribution=ResultDistribution(2, None, top)),
        )
        try:
            log.publish([Message("j1", text="jazz", at=at), Message("t1", text="tea", at=at)])
            running.process_all_available()
            log.subscribe([TopKSubscription("both", "tea jazz", at, k=3)])
            running.process_all_available()
            log.publish([Message("j2", text="jazz", at=at)])
            running.process_all_available()
            assert running.recent[-1].notifications == 1
        finally:
            running.stop()
    rows = NotificationStore(tmp_path / "store").read().to_pylist()
    lists = [[each["item"] for each in row["items"]] for row in rows]
    assert lists == [["t1", "j1"], ["j2", "t1", "j1"]]
    assert [row["position"] for row in rows] == [2, 3]


def test_files_have_all_columns(story, spark):
    story.append(2 * ROWS)
    running = story.start(sink=FilesSink(story.folder / "files"))
    running.process_all_available()
    running.stop()
    rows = spark.read.parquet(str(story.folder / "files")).collect()
    found = [(r.position, r.subscription_id, r.kind, r.message_id or "") for r in rows]
    assert sorted(found) == sorted(story.expected)
    assert {row.kind for row in rows} >= {"match", "top", "trend", "enter"}


def test_two_streams(story, spark, tmp_path):
    """Events from one, messages from another; in each batch the events come first."""
    at = Point(2.35, 48.86)
    story.log.subscribe(
        [TopKSubscription("best", "tea", at), MovingSubscription("walk", "tea", Circle(at, 9.0))]
    )
    with Log(tmp_path / "messages") as messages:
        messages.publish([Message("m", text="tea", at=at)])
        said = read_log(spark, messages.path).drop("kind", "keywords", "region", "offset")
        running = stream(
            read_log(spark, story.log.path).drop("text", "lon", "lat"),
            said,
            sink=StoreSink(tmp_path / "store"),
            checkpoint=tmp_path / "checkpoint",
            results=ResultSettings(),
        )
        running.process_all_available()
        running.stop()
    rows = NotificationStore(tmp_path / "store").read().to_pylist()
    assert sorted((row["subscription_id"], row["kind"]) for row in rows) == [
        ("best", "top"),
        ("walk", "enter"),
    ]


def test_a_checkpoint_of_other_results_is_refused(story):
    story.append()
    story.start().stop()
    with pytest.raises(BadCheckpoint, match=r"was made with results \{.*\}, now it is None"):
        stream(
            read_log(story._spark, story.log.path),
            sink=StoreSink(story.folder / "store"),
            checkpoint=story.folder / "checkpoint",
            partitioning=Hash(2),
        )
