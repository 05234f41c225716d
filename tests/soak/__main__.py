"""`python -m tests.soak`: kill a stream, or a service, again and again; compare what arrives."""

import argparse
import random
import shutil
import sys
import tempfile
import time
from itertools import count, cycle
from pathlib import Path

from tests.soak.round import kinds_for, play
from tests.soak.service_round import play_service

SERVICE = "service"
"""A round against the whole service; the others are of the pipeline alone, on these masters."""
ROUNDS = ("local[2,4]", SERVICE, "local-cluster[2,1,1024]")


def main(arguments=None):
    """One line a round, fresh seeds, until the time is up; 1 at the first difference."""
    options = _options(arguments)
    end = time.monotonic() + 60 * options.minutes
    first = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    rounds = cycle(ROUNDS if options.round is None else [options.round])
    for seed, what in zip(count(first), rounds, strict=False):
        folder = Path(tempfile.mkdtemp(prefix=f"nearcast-soak-{seed}-"))
        again = f"python -m tests.soak --minutes 0 --seed {seed} --kills {options.kills} " + (
            f"--round '{what}'"
        )
        try:
            if what == SERVICE:
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
        if time.monotonic() >= end:
            return 0


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="start rounds for so long")
    parser.add_argument("--kills", type=int, default=20, help="in a round")
    parser.add_argument("--seed", type=int, help="of the first round; random by default")
    parser.add_argument("--round", help=f"of what; {', '.join(ROUNDS)} in turn by default")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
