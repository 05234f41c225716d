"""`python -m tests.soak`: kill and harm streams and services again and again; compare what arrives.

What is killed: driver, workers and executors of a stream, the service, its pipeline and Java. What
fails: disks, databases, receivers, the clock. See `faulty_files` for what of it is simulated.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from itertools import count, cycle
from pathlib import Path

from tests.faulty_files.storm import play_storm
from tests.soak.round import kinds_for, play
from tests.soak.service_round import play_service

SERVICE = "service"
"""A round against the whole service; the others are of the pipeline alone, on these masters."""
FILES = "files"
"""A round of a stream in this process, without Spark, whose disk fails."""
ROUNDS = (FILES, "local[2,4]", FILES, SERVICE, FILES, "local-cluster[2,1,1024]")
FAULTS_A_ROUND = 400
"""Of files."""


def main(arguments=None):
    """One line a round, fresh seeds, until the time is up; 1 at the first difference."""
    options = _options(arguments)
    end = time.monotonic() + 60 * options.minutes
    first = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    kills, faults = Counter(), Counter()
    rounds = cycle(ROUNDS if options.round is None else [options.round])
    for seed, what in zip(count(first), rounds, strict=False):
        folder = Path(tempfile.mkdtemp(prefix=f"nearcast-soak-{seed}-"))
        again = f"python -m tests.soak --minutes 0 --seed {seed} --kills {options.kills} " + (
            f"--round '{what}'"
        )
        try:
            if what == FILES:
                result = play_storm(folder, seed, FAULTS_A_ROUND)
            elif what == SERVICE:
                result = play_service(folder, seed, options.kills)
            else:
                result = play(folder, seed, what, kinds_for(what, options.kills, seed % 2 == 0))
        except BaseException:
            print(f"seed {seed} did not end; files in {folder}; replay: {again}", flush=True)
            raise
        print(result, flush=True)
        if result.problems:
            print(*result.problems, f"files in {folder}; replay: {again}", sep="\n", flush=True)
            return 1
        shutil.rmtree(folder)
        kills.update(result.kills)
        faults.update(result.faults)
        if time.monotonic() >= end:
            break
    print(
        f"{kills.total()} kills ({_in_words(kills)}), {faults.total()} faults injected "
        f"({_in_words(faults)}), nothing lost, nothing twice"
    )
    return 0


def _in_words(counts):
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="start rounds for so long")
    parser.add_argument("--kills", type=int, default=20, help="in a round")
    parser.add_argument("--seed", type=int, help="of the first round; random by default")
    parser.add_argument("--round", help=f"of what; {', '.join(ROUNDS)} in turn by default")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
