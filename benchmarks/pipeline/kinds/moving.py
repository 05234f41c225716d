"""Moving subscriptions in a stream."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.moving.workload import LIFE, PART_OF_EARTH, Settings, Workload
from benchmarks.pipeline.kinds.kind import TOGETHER, Step
from benchmarks.pipeline.kinds.with_results import KindWithResults, in_parts
from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.model import Box, MovingSubscription, Space
from nearcast.pipeline import ResultSettings
from nearcast.space import RegionColumn


class Moving(KindWithResults):
    """Expressions over squares that move, about a move for each message unless more are asked for.

    The roads are a plane, on which people and messages are where they are in one process; here the
    plane is laid over a part of the Earth, since streams keep results there.
    """

    name, index = "moving", "WordQuadtrees"

    def __init__(
        self,
        subscriptions: int,
        messages: int,
        steps: int,
        *,
        moves_a_message: float = 1.0,
        wider: float = 1.0,
    ) -> None:
        self.subscriptions, self.messages = subscriptions, messages
        self._workload = Workload(
            Settings(
                subscriptions=subscriptions,
                live=messages * LIFE,
                mobility=min(0.4, moves_a_message * messages / subscriptions),
                area=wider * Settings.area,
            )
        )
        self.settings = ResultSettings()
        people = self._workload.travellers()
        self._subscribed = self._workload.subscriptions(people)
        self._boxes = self._on_earth(self._subscribed.regions)
        self._steps = [
            Step(
                self._messages_on_earth(step.messages),
                list(zip(step.ids.to_pylist(), self._on_earth(step.regions), strict=True)),
            )
            for step in islice(self._workload.steps(people, steps), steps)
        ]

    def past(self) -> Iterator[MessageBatch]:
        return in_parts(self._messages_on_earth(self._workload.first_messages()), TOGETHER)

    def subscribed(self) -> Iterator[Sequence[MovingSubscription]]:
        ids, expressions = self._subscribed.ids.to_pylist(), self._subscribed.expressions
        for first in range(0, len(ids), TOGETHER):
            end = min(len(ids), first + TOGETHER)
            yield [
                MovingSubscription(ids[n], expressions.expression(n), self._boxes[n])
                for n in range(first, end)
            ]

    def new_broker(self) -> Broker:
        return Broker()

    def step(self, number: int) -> Step:
        return self._steps[number]

    @property
    def data(self) -> str:  # type: ignore[override]
        return self._workload.data

    @property
    def description(self) -> dict[str, Any]:
        return self._workload.description

    def _messages_on_earth(self, messages: MessageBatch) -> MessageBatch:
        at = self._placed(messages.at.reshape(-1, 2)).reshape(-1, 4)
        return replace(messages, at=at, space=Space.EARTH)

    def _on_earth(self, regions: RegionColumn) -> list[Box]:
        boxes = regions.kernel_arrays()[1]
        placed = self._placed(boxes.reshape(-1, 2)).reshape(-1, 4)
        return [Box(*each) for each in placed.tolist()]

    def _placed(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = np.array(PART_OF_EARTH).reshape(2, 2)
        west, south, east, north = self._workload.roads.bounds
        share = (places - (west, south)) / (east - west, north - south)
        placed: NDArray[np.float64] = low + share * (high - low)
        return placed
