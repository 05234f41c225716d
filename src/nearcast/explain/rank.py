"""What is a message worth to a top-k subscription, and why?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nearcast.explain._wording import length_text, said_text
from nearcast.model import Message, TopKSubscription
from nearcast.space import distance
from nearcast.topk.index import Scoring
from nearcast.topk.list_change import Ranked


@dataclass(frozen=True, slots=True)
class SharedWord:
    """A word that both have, with its weight in the vector of unit length of each."""

    word: str
    wanted: float
    said: float

    @property
    def likeness(self) -> float:
        """What the word adds to the cosine."""
        return self.wanted * self.said


@dataclass(frozen=True, slots=True)
class RankExplanation:
    """The parts of the score of a message; `str` says it in words.

    - `distance`: from the subscription to the (middle of the) message; metres, or units of the
      plane
    - `nearness`: 1 here, 0 at `max_dist` and beyond
    - `words`: those that both have, the most telling first; without any, a message does not count
    - `above`: how many messages of the present list have a better score; of equal ones the newer is
      the better, so those stay below
    - `place`: its place in the present list, from 1 on; None where it is not in it
    """

    subscription: TopKSubscription
    message: Message
    distance: float
    nearness: float
    words: tuple[SharedWord, ...]
    above: int
    place: int | None

    @property
    def cosine(self) -> float:
        """How alike the words are, from 0 to 1."""
        return sum(word.likeness for word in self.words)

    @property
    def score(self) -> float:
        """What the message is worth."""
        alpha = self.subscription.alpha
        return alpha * self.nearness + (1.0 - alpha) * self.cosine

    @property
    def enters(self) -> bool:
        """Would it be in the list if it were published now, and none of those above it left?"""
        return bool(self.words) and self.above < self.subscription.k

    @property
    def rank(self) -> int | None:
        """The place that it would have then, from 1 on; None where it would have none."""
        return self.above + 1 if self.enters else None

    def __str__(self) -> str:
        subscription, alpha = self.subscription, self.subscription.alpha
        shared = " + ".join(
            f"{each.wanted:.3g} x {each.said:.3g} ({each.word!r})" for each in self.words
        )
        far = length_text(self.distance, self.message.at.space)
        return (
            f"{self._verdict()}\n"
            f"  score:  {self.score:.4g} = {alpha:g} x nearness {self.nearness:.4g}"
            f" + {1 - alpha:g} x words {self.cosine:.4g}\n"
            f"  near:   {far} away\n"
            f"  words:  {shared or 'none in common'}\n"
            f"  wanted: the {subscription.k} best for {' '.join(subscription.keywords)!r},"
            f" at {subscription.at.lon:g}, {subscription.at.lat:g}\n"
            f"  said:   {said_text(self.message)}"
        )

    def _verdict(self) -> str:
        if not self.words:
            return f"not listed: has none of {', '.join(map(repr, self._wanted()))}"
        if self.place is not None:
            return f"listed: place {self.place} of {self.subscription.k}"
        if self.enters:
            return f"would be listed: place {self.rank} of {self.subscription.k}"
        return f"not listed: {self.above} are better"

    def _wanted(self) -> list[str]:
        return sorted(set(self.subscription.keywords))


def explain_rank(
    subscription: TopKSubscription, message: Message, scoring: Scoring, results: Ranked = ()
) -> RankExplanation:
    """Look at every part of the score, in plain Python, as its definition reads.

    `results` is the present list of the subscription.

    >>> from nearcast.model import Point, Space
    >>> scoring = Scoring.of(Space.EARTH, 10_000, None)
    >>> lunch = TopKSubscription("lunch", "ramen noodles", Point(139.7, 35.7), k=3)
    >>> print(explain_rank(lunch, Message(7, text="Ramen!", at=Point(139.7, 35.71)), scoring))
    would be listed: place 1 of 3
      score:  0.798 = 0.5 x nearness 0.8888 + 0.5 x words 0.7071
      near:   1.1 km away
      words:  0.707 x 1 ('ramen')
      wanted: the 3 best for 'ramen noodles', at 139.7, 35.7
      said:   'Ramen!', at 139.7, 35.71
    """
    wanted = scoring.statistics.weights(subscription.keywords)
    said = scoring.statistics.weights(message.keywords) if message.keywords else {}
    words = [SharedWord(word, wanted[word], said[word]) for word in wanted.keys() & said.keys()]
    far = distance(subscription.at, message.middle)
    ids = [id for id, _ in results]
    found = RankExplanation(
        subscription,
        message,
        far,
        1.0 - min(1.0, far / scoring.max_dist),
        tuple(sorted(words, key=lambda each: (-each.likeness, each.word))),
        0,
        ids.index(message.id) + 1 if message.id in ids else None,
    )
    above = sum(score > found.score for id, score in results if id != message.id)
    return replace(found, above=above)
