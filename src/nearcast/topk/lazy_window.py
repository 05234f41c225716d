"""`LazyWindow`: while nobody has a list, messages wait, and go into the window together."""

from __future__ import annotations

from itertools import groupby

from nearcast.batches import MessageBatch
from nearcast.model import Id, Message
from nearcast.topk.index import TopKIndex
from nearcast.topk.list_change import ListChange

MOST_WAITING = 1_024


class LazyWindow:
    """An index of top-k lists and the messages that it has yet to hear of.

    A message alone costs an index a hundred microseconds, among a thousand others twenty. As long
    as there is no subscription nobody can tell the difference; `index` is always up to date.

    >>> from nearcast.model import Point, TopKSubscription
    >>> from nearcast.topk import CountWindow, ScanTopK
    >>> window = LazyWindow(ScanTopK(CountWindow(100)))
    >>> window.publish(Message(1, text="tea", at=Point(0, 0)))
    []
    >>> window.index.subscribe(TopKSubscription("s", "tea", Point(0, 0)))[0].entered
    (1,)
    """

    def __init__(self, index: TopKIndex) -> None:
        self._index = index
        self._waiting: dict[Id, Message] = {}
        self._now = index.now  # of those that wait too

    @property
    def index(self) -> TopKIndex:
        """The index, which has heard of everything."""
        self._catch_up()
        return self._index

    @property
    def subscriptions(self) -> TopKIndex:
        """The index, for who asks for subscriptions only: messages may still wait."""
        return self._index

    def publish(self, message: Message) -> list[ListChange]:
        """A message arrives; the lists that changed.  Refused at once if it is too late."""
        if len(self._index):
            changes = self._index.publish(message)
            self._now = self._index.now
            return changes
        self._index.check_time(message, self._now)
        if message.id in self._waiting or len(self._waiting) == MOST_WAITING:
            self._catch_up()
        self._now = max(self._now, message.time)
        self._waiting[message.id] = message
        return []

    def publish_batch(self, messages: MessageBatch) -> None:
        """Many messages in their order, all or none; look lists up afterwards."""
        if len(messages):
            self._catch_up()
            self._feed(messages)
            self._now = self._index.now

    def advance(self, now: float) -> list[ListChange]:
        """Time passes; the lists that changed."""
        changes = self.index.advance(now)
        self._now = self._index.now
        return changes

    def _catch_up(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for _, run in groupby(
            waiting.values(), key=lambda message: type(message.id)
        ):  # a column has one
            self._feed(MessageBatch.from_messages(list(run), space=self._index.space))

    def _feed(self, messages: MessageBatch) -> None:
        try:
            self._index.publish_batch(messages)
        except ValueError:  # perhaps because an id is in the window, whose message is replaced
            TopKIndex.publish_batch(self._index, messages)
