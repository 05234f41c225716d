"""`python -m tests.soak`: kill and harm streams and services again and again; compare what arrives.

What is killed: driver, workers, executors and keepers of a stream, the service, its pipeline and
Java. What fails: disks, databases, receivers, the clock. See `faulty_files` for what of it is
simulated.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

from tests.soak.rounds import CYCLE, PARTITIONING_NAMES, PROMISED, RESULTS, WHATS, Round, in_turn

MINUTES_OF_A_CYCLE = 20
"""Who asks for so many has all rounds, however slow the machine is."""


def main(arguments=None):
    """One line a round, fresh seeds, until the time is up; 1 at the first difference.

    Also 1 where a whole cycle of rounds has spared somebody that it promises to kill.
    """
    options = _options(arguments)
    end = time.monotonic() + 60 * options.minutes
    kills, faults, played = Counter(), Counter(), 0
    for each in _rounds(options):
        folder = Path(tempfile.mkdtemp(prefix=f"nearcast-soak-{each.seed}-"))
        try:
            result = each.play(folder)
        except BaseException:
            again = f"files in {folder}; replay: {each.command}"
            print(f"seed {each.seed} did not end; {again}", flush=True)
            raise
        print(result, flush=True)
        if result.problems:
            again = f"files in {folder}; replay: {each.command}"
            print(*result.problems, again, sep="\n", flush=True)
            return 1
        shutil.rmtree(folder)
        kills.update(result.kills)
        faults.update(result.faults)
        played += 1
        is_enough = played >= len(CYCLE) or options.minutes < MINUTES_OF_A_CYCLE or options.round
        if time.monotonic() >= end and is_enough:
            break
    if options.round is None and played >= len(CYCLE) and (spared := PROMISED - {*+kills}):
        print(f"never killed in {played} rounds: {', '.join(sorted(spared))}; more --kills do")
        return 1
    print(
        f"{kills.total()} kills ({_in_words(kills)}), {faults.total()} faults injected "
        f"({_in_words(faults)}), nothing lost, nothing twice"
    )
    return 0


def _rounds(options):
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    if options.round is None:
        return in_turn(seed, options.kills)
    ways = options.partitioning, options.results
    return (Round(options.round, each, options.kills, *ways) for each in count(seed))


def _in_words(counts):
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="start rounds for so long")
    parser.add_argument("--kills", type=int, default=10, help="in a round")
    parser.add_argument("--seed", type=int, help="of the first round; random by default")
    parser.add_argument("--round", choices=WHATS, help="of this; all in turn by default")
    parser.add_argument(
        "--partitioning",
        choices=PARTITIONING_NAMES,
        default=PARTITIONING_NAMES[0],
        help="of boolean subscriptions, where --round is given",
    )
    parser.add_argument(
        "--results",
        choices=RESULTS,
        help="have every kind of subscription, results spread like this, where --round is given",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
