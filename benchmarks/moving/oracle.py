"""The results that some subscriptions must have at the end, by the definition."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.moving.workload import PASSES, Workload
from benchmarks.oracle import WrongAnswerError
from nearcast.batches import MessageBatch
from nearcast.model import Box, Space
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
    regions = workload.squares(people.places())
    expected: Results = {}
    for row in range(0, len(subscriptions), max(1, len(subscriptions) // SAMPLE)):
        region = regions.region(row)
        assert isinstance(region, Box)
        wanted = subscriptions.subscription(row).expression
        found: set[int | str] = set()
        for batch in batches:
            for at in _near(batch, region, now):
                message = batch.message(int(at))
                if wanted.matches(set(message.keywords)) and is_in(message.at, region):
                    found.add(message.id)
        expected[row] = found
    return expected


def _near(batch: MessageBatch, box: Box, now: float) -> NDArray[np.int64]:
    """The live messages in a box of a plane."""
    assert box.space is Space.PLANE
    x, y = batch.at[:, 0], batch.at[:, 1]
    inside = (x >= box.west) & (x <= box.east) & (y >= box.south) & (y <= box.north)
    return np.flatnonzero(inside & (batch.expires > now))


def check_results(name: str, index: MovingIndex, expected: Results) -> int:
    """How many results were compared, all of them right."""
    for id, right in expected.items():
        if (found := index.results(id)) != right:
            raise WrongAnswerError(f"{name}: the result of {id} is {found}, not {right}")
    return len(expected)
