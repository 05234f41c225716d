"""`Communication`: what goes from the router to shards, and back."""

from dataclasses import dataclass


@dataclass(slots=True)
class Communication:
    """How many things have been sent, each counted once for each shard that got it.

    - `messages`: copies of messages
    - `subscriptions`: copies of subscriptions that came
    - `reallocated`: copies sent later, because a list needs another shard
    - `released`: copies that a shard was told to forget, because the list no longer needs it
    - `results`: lists, or parts of lists, that shards sent back

    What leaves the window, or is replaced in it, is told to all shards with each step, and not
    counted.

    >>> sent = Communication(messages=8, reallocated=1, released=1, results=5)
    >>> sent.to_shards
    10
    """

    messages: int = 0
    subscriptions: int = 0
    reallocated: int = 0
    released: int = 0
    results: int = 0

    @property
    def to_shards(self) -> int:
        """What messages cause the router to send: the communication cost of DSkype."""
        return self.messages + self.reallocated + self.released
