"""A stream whose disk fails again and again, in one process and without Spark.

Batches go through the real steps of all shards into a real store and into files, from a real log.
Whatever fails is tried again, as Spark does, or everything is started again, as after a crash. In
the end all must be as if nothing had happened.
"""

import json
import os
import random
import re
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import isclose

import pyarrow.dataset as ds

from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.log import Log
from nearcast.pipeline.partitioning import Hash
from nearcast.pipeline.sinks import FilesSink, StoreSink
from nearcast.pipeline.state import BadCheckpoint
from nearcast.storage import BadFile
from nearcast.topk import CountWindow
from tests.faulty_files.disk import FAULTS, FaultyDisk, ProcessDied
from tests.faulty_files.images import crash_image, cut_short, flip_bit, no_space_beyond
from tests.pipeline.hosted_histories import spread
from tests.pipeline.in_process import (
    InProcessStream,
    keeper_that_waits,
    lose_hot_copies,
    planned,
)
from tests.soak.feeding import ROUNDED, Feeder, ResultsFeeder
from tests.soak.memory import growth, megabytes
from tests.soak.verdict import differences, differences_of

SHARDS = 2
SHARDS_OF_RESULTS = 3
"""Two cells, or two ranges of words, and the shard that hears everything."""
WINDOW = CountWindow(20)
SNAPSHOT_AFTER = 40
"""Rows."""
MOST_CALLS, MOST_CALLS_WITH_RESULTS = 40, 150
"""A batch makes about so many calls of the disk."""
BIT_FLIP = "bit flip"
OUTPUTS = ("notifications", "rejects", "results", "parts")
WARM = 0.2
"""The share of the faults after which everything was used once."""
FULL_DATABASE, CUT_SHORT, DATABASE_FLIP = "full database", "cut short", "database bit flip"


@dataclass
class StormResult:
    seed: int
    partitioning: str
    results: str | None
    faults: Counter
    batches: int = 0
    rows: int = 0
    notifications: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    kills: Counter = field(default_factory=Counter)  # of processes: none
    megabytes: tuple[int, int] = (0, 0)

    def __str__(self):
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.faults.items()))
        way = self.partitioning + (f", results by {self.results}" if self.results else "")
        return (
            f"seed {self.seed}, files, {way}: {self.faults.total()} faults ({kinds}),"
            f" {self.batches} batches, {self.rows} rows, {self.notifications} notifications, "
            f"{self.megabytes[0]} to {self.megabytes[1]} MB, {self.seconds:.0f} s: "
            + ("WRONG" if self.problems else "exact")
        )


def play_storm(folder, seed, faults, partitioning=Hash, results=None):
    """So many faults; the answer is a result.

    `results`: how the results of subscriptions are spread, by hash, cells, keyword or prefix; None:
    all subscriptions are boolean.
    """
    begin = time.monotonic()
    storm = _Storm(folder, seed, partitioning, results)
    before = None
    with storm.disk.installed():
        while storm.faults.total() < faults:
            storm.turn()
            if before is None and storm.faults.total() >= faults * WARM:
                before = megabytes([os.getpid()])
        storm.drain()
    name = storm.partitioning.name
    result = StormResult(seed, name, results, storm.faults, storm.batch)
    result.rows, result.notifications = storm.feeder.rows, storm.feeder.expected.total()
    result.megabytes = before, megabytes([os.getpid()])
    result.problems = storm.problems() + growth(*result.megabytes)
    storm.close()
    result.seconds = time.monotonic() - begin
    return result


class _Storm:
    def __init__(self, folder, seed, partitioning, results):
        self._folder = folder
        self._draw = random.Random(f"storm {seed}")
        self._shards = SHARDS_OF_RESULTS if results else SHARDS
        self._most_calls = MOST_CALLS_WITH_RESULTS if results else MOST_CALLS
        self.partitioning = planned(partitioning, self._shards, seed)
        root = folder / "disk"
        root.mkdir()
        self.disk = FaultyDisk(root, self._draw)
        self._settings = None
        if results:
            way = spread(results, self._shards, seed)
            self._settings = ResultSettings(WINDOW, distribution=way)
            tells_each = way is None or not way.moves_lists
            self.feeder = ResultsFeeder(folder / "log", seed, WINDOW, tells_each=tells_each)
        else:
            self.feeder = Feeder(folder / "log", seed)
        self._results = {}  # kind and items of each that was written
        self._other_faults = Counter()
        self._images = 0
        self.batch = 0
        self._ends = [0]  # of the batches in the log: what Spark has decided
        self._packed = {}  # rows of the batch on their way to their shards
        self._stream = self._store = None

    @property
    def faults(self):
        return self.disk.faults + self._other_faults

    def turn(self):
        """Append rows, make a batch of them, and let something fail."""
        self._append()
        if self._draw.random() < 0.3:
            self._harm_log()
        self._ends.append(self.feeder.rows)
        if self._draw.random() < 0.2:
            self._flip_any_bit()
        self._until_done(most_faults=self._draw.randrange(1, 8))

    def drain(self):
        """Once more, and nothing fails."""
        self._append()
        self._ends.append(self.feeder.rows)
        self._until_done(most_faults=0)

    def problems(self):
        """What is not as the oracle says."""
        files = ds.dataset(self.disk.root / "files", format="parquet", partitioning="hive")
        in_order = files.to_table().sort_by([("batch", "ascending"), ("position", "ascending")])
        wrong = differences(self._folder / "store", self.feeder)
        wrong += [f"in files: {each}" for each in differences_of(in_order, self.feeder)]
        return [*wrong, *self._wrong_results()]

    def _wrong_results(self):
        """Those that were written last are not those of the broker."""
        if not self._settings:
            return
        one = self.feeder.one
        if {id for id, (kind, _) in self._results.items() if kind} != set(one.hosted):
            yield f"there are results of {sorted(self._results)}, not of {sorted(one.hosted)}"
        for id in one.hosted:
            (kind, found), right = self._results.get(id, (None, [])), one.broker.results(id)
            if kind == "enter":
                is_right = found == right
            else:
                is_right = [name for name, _ in found] == [name for name, _ in right]
            if is_right and kind == "top":  # scores of terms age
                pairs = zip(found, right, strict=True)
                is_right = all(isclose(a, b, rel_tol=ROUNDED) for (_, a), (_, b) in pairs)
            if not is_right:
                yield f"the result of {id} is {found}, not {right}"

    def close(self):
        self.feeder.log.close()
        self._store.close()

    # ------------------------------------------------------------ the stream

    def _until_done(self, most_faults):
        """Try the batch, and a snapshot, until they are done."""
        while self.batch < len(self._ends) - 1 or self._stream is None:
            if most_faults:
                most_faults -= 1
                self.disk.order(self._draw.choice(FAULTS), self._draw.randrange(self._most_calls))
            try:
                if self._stream is None:
                    self._start()
                else:
                    self._do_batch()
            except ProcessDied:
                self.disk.restart()
                self._stream = None
            except OSError as error:
                _must_say(error, "injected")
                if self._draw.random() < 0.5:
                    self._stream = None
        self._take_snapshot()
        self.disk.be_good()

    def _start(self):
        lose_hot_copies()
        if self._store is not None:
            self._store.close()
        self._stream = InProcessStream(
            self.disk.root / "state",
            self.partitioning,
            results=self._settings,
            snapshot_after=SNAPSHOT_AFTER,
            make_keeper=keeper_that_waits,
        )
        self._stream.state.check_batch(self.batch)
        if self._settings:
            self._stream.state.hosted().check_batch(self.batch)
        self._store = StoreSink(self._folder / "store")
        self._store.open(self._stream.state.key)
        self._files = FilesSink(self.disk.root / "files")
        self._files.open(self._stream.state.key)

    def _do_batch(self, flip_output=False):
        stream, number = self._stream, self.batch
        for shard in stream.files:
            stream.state.remove_outputs(shard, number - 1)
        stream.files = {shard: files.before(number) for shard, files in stream.files.items()}
        if number not in self._packed:
            rows = self.feeder.log.read(self._ends[number], self._ends[number + 1])
            self._packed = {number: stream.packed(rows)}
        output = stream.process_packed(number, self._packed[number])
        if flip_output:
            self._flip_bit_of(self._outputs(number))
            if self._draw.random() < 0.5:
                return  # nobody has read it when everything is started again
        results = output.results().to_pylist()
        self._files.commit(output)
        if self._draw.random() < 0.1:
            self._fail_to_store(output)
        self._store.commit(output)
        for each in results:
            self._results[each["subscription_id"]] = each["kind"], json.loads(each["items"] or "[]")
        self.batch += 1

    def _outputs(self, number):
        """The files with what a batch gave."""
        names = (f"{kind}-{number:012d}.parquet" for kind in OUTPUTS)
        return sorted(path for name in names for path in (self.disk.root / "state").rglob(name))

    def _take_snapshot(self):
        shard = self._draw.randrange(self._shards * 3)
        if shard >= self._shards:
            return
        try:
            self._stream.snapshot(shard, tries=self._draw.randrange(1, 3))
        except ProcessDied:
            self.disk.restart()
            self._stream = None
        except OSError as error:
            _must_say(error, "injected")

    def _append(self):
        if self._draw.random() < 0.1:
            self.feeder.append_bad_row()
        for event in islice(self.feeder.events, self._draw.randrange(1, 15)):
            if self._draw.random() < 0.05:
                self._fail_to_append(event)
            self.feeder.append([event])

    # ------------------------------------------------------------ harm to files at rest

    def _flip_any_bit(self):
        """Somewhere in the checkpoint, and everything is read again."""
        root = self.disk.root / "state"
        # A part of some names is random, and should not count.
        paths = [path for path in root.rglob("*") if path.is_file()]
        paths.sort(key=lambda path: re.sub("[0-9a-f]{32}", "", str(path)))
        if not paths:
            return
        is_output, wanted = self._draw.random() < 0.3, self.batch + 1
        if not is_output:
            self._flip_bit_of(paths)
        # What a batch gives may be damaged each time that it is made anew.
        for _ in range(self._draw.randrange(1, 4) if is_output else 1):
            if self.batch == wanted:
                break
            self._stream = None
            try:
                self._start()
                self._do_batch(flip_output=is_output)
            except (BadFile, BadCheckpoint) as error:
                _must_say(error, str(self._flipped[0]))
        self._stream = None
        path, good, bad = self._flipped
        # All else comes back from another copy.
        if not is_output and path.exists() and path.read_bytes() == bad:
            path.write_bytes(good)

    def _flip_bit_of(self, paths):
        path = self._draw.choice(paths)
        good = flip_bit(path, self._draw)
        self._flipped = path, good, path.read_bytes()
        self._other_faults[BIT_FLIP] += 1

    # ------------------------------------------------------------ harm to databases

    def _fail_to_append(self, event):
        """The disk is full, perhaps, when this row comes."""
        log, is_written = self.feeder.log, False
        end = log.end
        with suppress(OSError), self._little_space(self._folder / "log"):
            self.feeder.write([event])
            is_written = True
        assert log.end - end == is_written
        if is_written:
            self.feeder.tell([event])

    def _fail_to_store(self, output):
        with self._little_space(self._folder / "store"):
            try:
                self._store.commit(output)
            except OSError as error:
                _must_say(error, "nothing was written")

    def _little_space(self, folder):
        self._other_faults[FULL_DATABASE] += 1
        sizes = [path.stat().st_size for path in folder.glob("*.sqlite-wal")]
        return no_space_beyond(sum(sizes) + self._draw.randrange(8000))

    def _harm_log(self):
        """What is acknowledged is in any image of a crash; damage is told."""
        folder, known = self._folder / "log", _rows(self.feeder.log)
        durable = (folder / "log.sqlite-wal").stat().st_size
        with Log(self._image(folder)) as image:
            assert _rows(image) == known, "a crash loses rows"
        self.feeder.append(list(islice(self.feeder.events, 1)))
        allowed = known, _rows(self.feeder.log)

        torn = self._image(folder)
        if (torn / "log.sqlite-wal").stat().st_size > durable:  # else it was begun anew
            self._other_faults[CUT_SHORT] += 1
            cut_short(torn / "log.sqlite-wal", durable, self._draw)
            with Log(torn) as image:
                assert _rows(image) in allowed, "a log that was cut short has other rows"

        flipped = self._image(folder)
        self._other_faults[DATABASE_FLIP] += 1
        flip_bit(self._draw.choice(sorted(flipped.iterdir())), self._draw)
        try:
            # A flip within the last transaction looks as if that had been cut short.
            with Log(flipped) as image:
                assert _rows(image) in allowed, "a damaged log has other rows"
        except BadFile as error:
            _must_say(error, str(flipped))

    def _image(self, folder):
        self._images += 1
        return crash_image(folder, self._folder / f"image-{self._images}")


def _must_say(error, text):
    if text not in str(error):
        raise AssertionError(f"{text!r} is not in {str(error)!r}") from error


def _rows(log):
    return log.read(0, log.end).to_pylist()
