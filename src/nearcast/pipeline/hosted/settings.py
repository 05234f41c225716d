"""`ResultSettings`: what results are made of."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from nearcast.broker import Broker
from nearcast.broker.broker import HALF_LIFE, RECENT
from nearcast.model import Space
from nearcast.pipeline.hosted.spread.distribution import NO_STATISTICS, ResultDistribution
from nearcast.topk import WordLists
from nearcast.topk.index import Scoring
from nearcast.topk.windows import CountWindow, Window, window_of, window_row
from nearcast.topk.word_statistics import WordStatistics

FORMAT = 1
"""Of what shards write for such subscriptions; another one is refused."""


_USUAL_WINDOW = CountWindow(RECENT)


@dataclass(frozen=True, slots=True)
class ResultSettings:
    """How a stream keeps the results of top-k, trending and moving subscriptions.

    - `window`: the messages that top-k lists are made of
    - `max_dist`: a message so many metres away, or farther, has nothing for its place; by default
      half the circumference of the Earth
    - `statistics`: how much words weigh in top-k lists; without them all weigh the same, and a
      message is compared with many more lists
    - `half_life`: seconds after which what was said counts half for trending terms
    - `distribution`: how subscriptions are spread over shards, as `plan_results` gives it. None:
      as in the checkpoint; in a new one by the hashes of their ids, so that every shard hears every
      message

    >>> ResultSettings.of(ResultSettings(half_life=60.0).to_json()).half_life
    60.0
    """

    window: Window = _USUAL_WINDOW
    max_dist: float | None = None
    half_life: float = HALF_LIFE
    distribution: ResultDistribution | None = None
    statistics: WordStatistics = NO_STATISTICS

    def __post_init__(self) -> None:
        self.new_broker()  # which refuses what makes no sense
        way = self.distribution
        if way is not None and way.top is not None and way.statistics != self.statistics:
            raise ValueError(
                "the distribution is planned for other word statistics than those of the results; "
                "give plan_results the same"
            )

    def new_broker(self, *, with_lists: bool = True) -> Broker:
        """Without subscriptions, and without a past; without top-k lists where others keep them."""
        if not with_lists:
            return Broker(half_life=self.half_life)
        top = WordLists(
            self.window, max_dist=self.max_dist, statistics=self.statistics, lateness=inf
        )
        return Broker(top=top, half_life=self.half_life)

    @property
    def scoring(self) -> Scoring:
        """Of top-k lists."""
        return Scoring.of(Space.EARTH, self.max_dist, self.statistics)

    def to_json(self) -> dict[str, Any]:
        """Fit for JSON, with the format of what is written."""
        row = self.facts()
        return row if self.distribution is None else row | {"distribution": self.distribution.row()}

    def facts(self) -> dict[str, Any]:
        """What must be the same for the life of a checkpoint."""
        facts = {
            "format": FORMAT,
            "window": window_row(self.window),
            "max_dist": self.max_dist,
            "half_life": self.half_life,
        }
        if self.statistics != NO_STATISTICS:
            facts["statistics"] = self.statistics.row()
        if self.distribution is not None:
            way = self.distribution
            facts["distribution"] = {"name": way.name, "fingerprint": way.fingerprint()}
        return facts

    @classmethod
    def of(cls, row: dict[str, Any]) -> ResultSettings:
        """What `to_json` gave."""
        way = ResultDistribution.of_row(row["distribution"]) if "distribution" in row else None
        words = row.get("statistics")
        statistics = WordStatistics.of_row(words) if words else NO_STATISTICS
        return cls(window_of(row["window"]), row["max_dist"], row["half_life"], way, statistics)
