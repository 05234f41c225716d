"""A random history that is appended to a log while the stream runs, and what should come of it."""

import random
from collections import Counter
from itertools import count, islice

import pyarrow as pa

from nearcast.model import Message, Point, Subscription
from nearcast.pipeline import Log
from tests.pipeline.histories import Oracle, append_to, random_history
from tests.pipeline.hosted_histories import OneBroker, random_events
from tests.pipeline.in_process import log_table

ENDLESS = 10**9
MOST_ROWS_AHEAD = 200
END = "the-end"


class Feeder:
    """Appends a few rows at a time and tells the oracle of each.

    - `columns`: of notifications, by which they are compared
    - `rows`: appended so far
    - `expected`: how often each notification (position, subscription, message, time) should come
    - `rejected`: how often each id should be rejected
    """

    columns = ("position", "subscription_id", "message_id", "time")

    def __init__(self, folder, seed):
        self._log = Log(folder)
        self._events = random_history(seed, ENDLESS)
        self._draw = random.Random(seed)
        self._oracle = Oracle()
        self._bad_ids = (f"bad{number}" for number in count())
        self._is_finished = False
        self.rows = 0
        self.expected = Counter()
        self.rejected = Counter()

    def feed(self, position):
        """Append some rows, unless the stream, which has come to `position`, has enough to do."""
        if self.rows - position < MOST_ROWS_AHEAD and not self._is_finished:
            if self._draw.random() < 0.05:
                self.append_bad_row()
            else:
                events = list(islice(self._events, self._draw.randrange(1, 30)))
                if self._draw.random() < 0.3:
                    # Once more, or late: times are in no order anyway.
                    events += self._draw.sample(events, 1)
                self.append(events)

    def finish(self):
        """Append a last message, which gives the last notification."""
        self.append([Subscription(END, END), Message(END, text=END, at=Point(0, 0))])
        self._is_finished = True
        self._log.close()

    @property
    def log(self):
        """Where the rows are."""
        return self._log

    def append(self, events):
        """Append events, known to the oracle."""
        append_to(self._log, events)
        for event in events:
            known, refused = len(self._oracle.notifications), len(self._oracle.unknown)
            self._oracle.apply(event)
            for subscription, message in self._oracle.notifications[known:]:
                self.expected[self.rows, subscription, message, event.time] += 1
            self.rejected.update(self._oracle.unknown[refused:])
            self.rows += 1

    def append_bad_row(self):
        """Append a message that lies nowhere on the Earth."""
        row = {"kind": "message", "id": next(self._bad_ids), "text": "tea", "lon": 0.0, "lat": 95.0}
        self._log.append(pa.Table.from_pylist([row]))
        self.rejected[row["id"]] += 1
        self.rows += 1


class ResultsFeeder(Feeder):
    """The same with every kind of subscription; a broker is what they are compared with."""

    columns = ("position", "subscription_id", "kind", "message_id")

    def __init__(self, folder, seed, window):
        super().__init__(folder, seed)
        self._events = random_events(seed, ENDLESS)
        self._one = OneBroker(window)

    def append(self, events):
        self._log.append(log_table(events).drop_columns(["offset"]))
        for event in events:
            refused = len(self._one.refused)
            for each in self._one.apply(event):
                self.expected[self.rows, each.subscription_id, each.kind, each.message_id] += 1
            self.rejected.update(self._one.refused[refused:])
            self.rows += 1
