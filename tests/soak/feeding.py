"""A random history that is appended to a log while the stream runs, and what should come of it."""

import random
from collections import Counter
from itertools import count, islice
from math import isclose

import pyarrow as pa

from nearcast.model import (
    Message,
    NearbyTrendingSubscription,
    Point,
    Subscription,
    TopKSubscription,
)
from nearcast.pipeline import Log
from tests.pipeline.histories import Oracle, append_to, random_history
from tests.pipeline.hosted_histories import OneBroker, random_events
from tests.pipeline.in_process import log_table
from tests.soak.told_lists import ToldLists

ENDLESS = 10**9
MOST_ROWS_AHEAD = 200
END = "the-end"
ROUNDED, ESTIMATED = 1e-9, 0.021
"""How far two scores may be apart, as a part of them: shards add in another order; what is said
around a point is known to 0.01 by the shard and by the broker."""


class Feeder:
    """Appends a few rows at a time and tells the oracle of each.

    - `events`: those to come
    - `rows`: appended so far
    - `expected`: how often each notification should come, as `told` has them
    - `rejected`: how often each id should be rejected
    """

    def __init__(self, folder, seed):
        self._log = Log(folder)
        self.events = random_history(seed, ENDLESS)
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
                events = list(islice(self.events, self._draw.randrange(1, 30)))
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
        self.write(events)
        self.tell(events)

    def write(self, events):
        """Into the log only."""
        append_to(self._log, events)

    def tell(self, events):
        """The oracle only."""
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

    def told(self, found):
        """A table of notifications as rows to be compared: whose, why and when."""
        names = ("position", "subscription_id", "message_id", "time")
        return Counter(zip(*(found[name].to_pylist() for name in names), strict=True))

    def problems(self, found):
        """What else is wrong with the notifications of a table, in their order."""
        return []


class ResultsFeeder(Feeder):
    """The same with every kind of subscription; a broker is what they are compared with.

    `tells_each`: is each change of a top-k list told?  If not, those that are told must lead to the
    lists that the broker has after each batch.
    """

    def __init__(self, folder, seed, window, *, tells_each=True):
        super().__init__(folder, seed)
        self.events = random_events(seed, ENDLESS)
        self.one = OneBroker(window)
        self._tells_each = tells_each
        self._lists = ToldLists(ROUNDED)
        self._scores = {}  # in each list that should be told, and how far they may be off

    def write(self, events):
        self._log.append(log_table(events).drop_columns(["offset"]))

    def tell(self, events):
        for event in events:
            refused = len(self.one.refused)
            for each in self.one.apply(event):
                self._expect(each)
            self._note_begin(event)
            self.rejected.update(self.one.refused[refused:])
            self.rows += 1

    def _expect(self, each):
        if each.kind == "top" and not self._tells_each:
            self._lists.changed(self.rows, each.subscription_id, each.results)
            return
        best = each.results if each.kind == "top" else each.terms
        about = self.rows, each.subscription_id, each.kind, each.message_id
        row = about + _lists([name for name, _ in best or ()], each.entered, each.left)
        self.expected[row] += 1
        is_estimated = self.one.kind(each.subscription_id) is NearbyTrendingSubscription
        scores = [score for _, score in best or ()]
        self._scores[row] = scores, ESTIMATED if is_estimated else ROUNDED

    def _note_begin(self, event):
        """A list may begin anew, or end."""
        is_row = isinstance(event, tuple)
        if isinstance(event, Message) or (is_row and event[0] in ("move", "advance")):
            return
        id = event[1] if is_row else event.id
        is_list = self.one.kind(id) is TopKSubscription
        self._lists.began(self.rows, id, self.one.broker.results(id) if is_list else None)

    def told(self, found):
        return Counter(row for row, _ in self._rows(found))

    def problems(self, found):
        wrong = [
            f"{row} has the scores {scores}, not {self._scores[row][0]}"
            for row, scores in self._rows(found)
            if row in self._scores and not _are_close(scores, *self._scores[row])
        ]
        return wrong if self._tells_each else wrong + self._lists.problems(found)

    def _rows(self, found):
        """With scores, in the order of the list."""
        for each in found.to_pylist():
            if each["kind"] != "top" or self._tells_each:
                about = (each[name] for name in ("position", "subscription_id", "kind"))
                items = each["items"] or ()
                names = [item["item"] for item in items]
                row = *about, each["message_id"], *_lists(names, each["entered"], each["left"])
                yield row, [item["score"] for item in items]


def _lists(names, entered, left):
    """In a list order counts; of what entered and left it, it does not."""
    return tuple(names), tuple(sorted(entered or ())), tuple(sorted(left or ()))


def _are_close(found, right, tolerance):
    pairs = zip(found, right, strict=True)
    return all(isclose(score, good, rel_tol=tolerance) for score, good in pairs)
