"""The results that some subscriptions must have at the end, by the definition."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.moving.workload import PASSES, Workload
from benchmarks.oracle import WrongAnswerError
from nearcast.batches import MessageBatch
from nearcast.moving import MovingIndex
from nearcast.space import is_in

SAMPLE = 40
Results = dict[int, set[int | str]]


def expected_results(workload: Workload) -> Results:
    """Every live message is looked at for a sample of subscriptions, where they are in the end."""
    people = workload.travellers()
    subscriptions = workload.subscriptions(people)
    batches = [workload.first_messages()]
    batches += [step.messages for step in workload.steps(people, PASSES + 1)]
    now = float(batches[-1].time[-1])
    regions = workload.around(people.places())
    _, bounds = regions.covers()  # one rectangle each, for regions of a plane
    expected: Results = {}
    for row in range(0, len(subscriptions), max(1, len(subscriptions) // SAMPLE)):
        region = regions.region(row)
        wanted = subscriptions.subscription(row).expression
        found: set[int | str] = set()
        for batch in batches:
            for at in _near(batch, bounds[row], now):
                message = batch.message(int(at))
                if wanted.matches(set(message.keywords)) and is_in(message.at, region):
                    found.add(message.id)
        expected[row] = found
    return expected


def _near(batch: MessageBatch, bounds: NDArray[np.float32], now: float) -> NDArray[np.int64]:
    """The live messages in a rectangle."""
    inside = ((batch.at[:, :2] >= bounds[:2]) & (batch.at[:, :2] <= bounds[2:])).all(axis=1)
    return np.flatnonzero(inside & (batch.expires > now))


def check_results(name: str, index: MovingIndex, expected: Results) -> int:
    """How many results were compared, all of them right."""
    for id, right in expected.items():
        if (found := index.results(id)) != right:
            raise WrongAnswerError(f"{name}: the result of {id} is {found}, not {right}")
    return len(expected)
