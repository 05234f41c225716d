"""One round: a stream that is fed while its processes are killed, and the verdict."""

import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.topk import CountWindow
from tests.pipeline.hosted_histories import spread
from tests.pipeline.in_process import planned
from tests.soak.driver import RESULTS
from tests.soak.driving import Driving
from tests.soak.feeding import Feeder, ResultsFeeder
from tests.soak.memory import growth
from tests.soak.processes import DRIVER, EXECUTOR, KEEPER, READER, WORKER
from tests.soak.verdict import differences

SHARDS = 3
WINDOW = CountWindow(20)
SECONDS_OF_A_START = 8.0
SECONDS_OF_A_BATCH = 0.5
BATCHES_BEFORE_A_LOOK = 2
"""When the workers have their code and their shards."""


@dataclass
class Result:
    """What a round was and what came of it.

    - `faults`: of the disks of workers and keepers
    - `megabytes`: of all processes, after some batches and in the end
    - `starts`: of the driver; `deaths`: what it said when it ended though nobody killed it
    - `wrong`: how the answers differ from the oracle's
    """

    seed: int
    master: str
    partitioning: str
    results: str | None = None
    kills: Counter = field(default_factory=Counter)
    faults: Counter = field(default_factory=Counter)
    megabytes: tuple[int, int] = (0, 0)
    starts: int = 0
    deaths: list[str] = field(default_factory=list)
    batches: int = 0
    rows: int = 0
    notifications: int = 0
    rejects: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def problems(self):
        ended = [f"the driver ended by itself: {said}" for said in self.deaths]
        return self.wrong + ended + growth(*self.megabytes)

    def __str__(self):
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.kills.items()))
        way = self.partitioning + (f", results by {self.results}" if self.results else "")
        return (
            f"seed {self.seed}, {self.master}, {way}: {self.kills.total()} kills "
            f"({kinds}), {self.faults.total()} faults, {self.starts} starts, "
            f"{self.batches} batches, {self.rows} rows, "
            f"{self.notifications} notifications, {self.rejects} rejects, "
            f"{self.megabytes[0]} to {self.megabytes[1]} MB, {self.seconds:.0f} s: "
            + ("WRONG" if self.problems else "exact")
        )


def kinds_for(master, number, with_results):
    """What to kill, so many in all."""
    kinds = [DRIVER, WORKER, DRIVER, WORKER, READER]
    if master.startswith("local-cluster"):
        kinds = [DRIVER, EXECUTOR, WORKER, EXECUTOR, READER]
    if with_results:
        kinds = [*kinds[:2], KEEPER, *kinds[2:]]
    return [kinds[turn % len(kinds)] for turn in range(number)]


def play(folder, seed, master, kinds, partitioning, results=None):
    """Kill what `kinds` lists, in an order and at moments that the seed gives.

    - `partitioning`: one of `PARTITIONINGS`
    - `results`: how the results of subscriptions are spread, by hash, cells, keyword or prefix;
      None: all subscriptions are boolean
    """
    begin = time.monotonic()
    way = planned(partitioning, SHARDS, seed)
    way.save(folder / "partitioning.near")
    result = Result(seed, master, way.name, results)
    if results:
        settings = ResultSettings(WINDOW, distribution=spread(results, SHARDS, seed))
        (folder / RESULTS).write_text(json.dumps(settings.to_json()))
        tells_each = results != "prefix"
        feeder = ResultsFeeder(folder / "log", seed, WINDOW, tells_each=tells_each)
    else:
        feeder = Feeder(folder / "log", seed)
    with Driving(folder, master, feeder, seed) as driving:
        driving.wait_for_batches(BATCHES_BEFORE_A_LOOK)
        megabytes = driving.megabytes()
        _kill_all(driving, random.Random(seed), kinds)
        feeder.finish()
        driving.wait_until(lambda: driving.position == feeder.rows - 1)
        result.megabytes = megabytes, driving.megabytes()
        driving.stop()
        result.batches = driving.batches
    result.kills, result.starts, result.deaths = driving.kills, driving.starts, driving.deaths
    result.faults = driving.faults
    result.rows = feeder.rows
    result.notifications, result.rejects = feeder.expected.total(), feeder.rejected.total()
    result.wrong = differences(folder / "store", feeder)
    result.seconds = time.monotonic() - begin
    return result


def _kill_all(driving, draw, kinds):
    for kind in draw.sample(kinds, len(kinds)):
        if kind == DRIVER and draw.random() < 0.3:
            time.sleep(draw.uniform(0, SECONDS_OF_A_START))  # some moment of its start
        else:
            driving.wait_for_batches(draw.randrange(1, 4))
            time.sleep(draw.uniform(0, SECONDS_OF_A_BATCH))  # some moment of a batch
        driving.kill(kind, draw)
