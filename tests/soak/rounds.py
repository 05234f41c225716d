"""Which rounds there are, and in which order a long run has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from tests.faulty_files.storm import play_storm
from tests.pipeline.in_process import PARTITIONINGS
from tests.soak import service_round
from tests.soak.processes import DRIVER, EXECUTOR, KEEPER, READER, WORKER
from tests.soak.round import kinds_for, play
from tests.soak.service_round import play_service

FILES = "files"
"""A round of a stream in this process, without Spark, whose disk fails."""
SERVICE = "service"
"""A round against the whole service; the others are of the pipeline alone, on these masters."""
LOCAL, CLUSTER = "local[2,4]", "local-cluster[2,1,1024]"
WHATS = (FILES, SERVICE, LOCAL, CLUSTER)
CYCLE = (
    (FILES, False),
    (LOCAL, True),
    (FILES, True),
    (SERVICE, False),
    (FILES, True),
    (CLUSTER, False),
    (FILES, True),
    (LOCAL, False),
    (FILES, True),
    (CLUSTER, True),
)
"""What, and whether it has subscriptions that have a result."""
NAMED = {kind.__name__.lower(): kind for kind in PARTITIONINGS}
PARTITIONING_NAMES = (*NAMED,)
RESULTS = ("hash", "cells", "keyword", "prefix")
"""How results are spread."""
PROMISED = {DRIVER, WORKER, READER, EXECUTOR, KEEPER, *service_round.KINDS}
"""What is killed in a whole cycle."""
FAULTS, FAULTS_OF_RESULTS = 400, 200
"""Of files, in a round; a batch takes longer where there are results."""


@dataclass(frozen=True)
class Round:
    """One round: all that it depends on.

    - `kills`: how many, where processes are killed
    - `partitioning`: of boolean subscriptions, one of `PARTITIONING_NAMES`
    - `results`: one of `RESULTS`; None: there are none
    """

    what: str
    seed: int
    kills: int
    partitioning: str
    results: str | None

    def play(self, folder):
        """The answer is a result."""
        way = NAMED[self.partitioning]
        if self.what == FILES:
            faults = FAULTS_OF_RESULTS if self.results else FAULTS
            return play_storm(folder, self.seed, faults, way, self.results)
        if self.what == SERVICE:
            return play_service(folder, self.seed, self.kills)
        kinds = kinds_for(self.what, self.kills, with_results=bool(self.results))
        return play(folder, self.seed, self.what, kinds, way, self.results)

    @property
    def command(self):
        """That plays it again."""
        line = (
            f"python -m tests.soak --minutes 0 --seed {self.seed} --kills {self.kills} "
            f"--round '{self.what}' --partitioning {self.partitioning}"
        )
        return line if self.results is None else f"{line} --results {self.results}"


def in_turn(seed: int, kills: int) -> Iterator[Round]:
    """Cycles of all rounds, the first with this seed.

    In each cycle a kind of round has another partitioning and another distribution of results than
    in the one before; streams without Spark have all distributions in each.
    """
    for number in count():
        cycle, place = divmod(number, len(CYCLE))
        what, has_results = CYCLE[place]
        turn = seed + cycle + sum(has_results for _, has_results in CYCLE[:place])
        yield Round(
            what,
            seed + number,
            kills,
            PARTITIONING_NAMES[(seed + cycle + place) % len(PARTITIONING_NAMES)],
            RESULTS[turn % len(RESULTS)] if has_results else None,
        )
