"""One round: a stream that is fed while its processes are killed, and the verdict."""

import random
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.pipeline.in_process import PARTITIONINGS, planned
from tests.soak.driver import WINDOW
from tests.soak.driving import Driving
from tests.soak.feeding import Feeder, ResultsFeeder
from tests.soak.processes import DRIVER, EXECUTOR, KEEPER, READER, WORKER
from tests.soak.verdict import differences

SHARDS = 3
SECONDS_OF_A_START = 8.0
SECONDS_OF_A_BATCH = 0.5
BATCHES_BEFORE_A_LOOK = 2
"""When the workers have their code and their shards."""


@dataclass
class Result:
    """What a round was and what came of it.

    - `faults`: of the workers' disks
    - `megabytes`: of all processes, after some batches and in the end
    - `starts`: of the driver; `deaths`: what it said when it ended though nobody killed it
    - `wrong`: how the answers differ from the oracle's
    """

    seed: int
    master: str
    partitioning: str
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
        return self.wrong + [f"the driver ended by itself: {said}" for said in self.deaths]

    def __str__(self):
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.kills.items()))
        return (
            f"seed {self.seed}, {self.master}, {self.partitioning}: {self.kills.total()} kills "
            f"({kinds}), {self.faults.total()} faults, {self.starts} starts, "
            f"{self.batches} batches, {self.rows} rows, "
            f"{self.notifications} notifications, {self.rejects} rejects, "
            f"{self.megabytes[0]} to {self.megabytes[1]} MB, {self.seconds:.0f} s: "
            + ("WRONG" if self.wrong else "exact")
        )


def kinds_for(master, number, with_results):
    """What to kill, so many in all."""
    kinds = [DRIVER, WORKER, DRIVER, WORKER, READER]
    if master.startswith("local-cluster"):
        kinds = [DRIVER, EXECUTOR, WORKER, EXECUTOR, READER]
    if with_results:
        kinds = [*kinds[:2], KEEPER, *kinds[2:]]
    return [kinds[turn % len(kinds)] for turn in range(number)]


def play(folder, seed, master, kinds):
    """Kill what `kinds` lists, in an order and at moments that the seed gives.

    Where keepers are to be killed, there are subscriptions of every kind.
    """
    begin = time.monotonic()
    partitioning = planned(PARTITIONINGS[seed % len(PARTITIONINGS)], SHARDS, seed)
    partitioning.save(folder / "partitioning.near")
    result = Result(seed, master, partitioning.name)
    if KEEPER in kinds:
        (folder / "results").touch()
        feeder = ResultsFeeder(folder / "log", seed, WINDOW)
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
    result.wrong = differences(folder / "store", feeder.expected, feeder.rejected, feeder.columns)
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
