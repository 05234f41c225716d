"""Random histories of a log and what the definitions say of them."""

import random

from nearcast.boolean import ScanIndex
from nearcast.model import ANY, Box, Circle, Message, Point, Polygon, Subscription

WORDS = ["tea", "cake", "jam", "bus", "café", "дом", "sale"]


def random_region(draw):
    west, south = draw.uniform(-180, 170), draw.uniform(-90, 80)
    kind = draw.randrange(6)
    if kind == 0:
        return None
    if kind == 1:
        return Box(170, south, -170, min(90, south + 40))
    if kind == 2:
        return Circle(Point(west, south), draw.uniform(1e5, 5e6))
    if kind == 3:
        ring = [Point(west, south), Point(west + 9, south), Point(west + 9, south + 9)]
        return Polygon([ring])
    return Box(west, south, min(180, west + 120), min(90, south + 90))


def random_keywords(draw, region):
    if region is not None and draw.random() < 0.1:
        return ANY
    first, second, third = draw.sample(WORDS, 3)
    return draw.choice(
        [
            first,
            f"{first} {second}",
            f"{first} OR {second}",
            f"{first} AND NOT {second}",
            f"{first} AND ({second} OR {third})",
        ]
    )


def random_place(draw):
    if draw.random() < 0.1:
        return Point(draw.choice([-180.0, 180.0]), draw.choice([-90.0, 0.0, 90.0]))
    lon, lat = draw.uniform(-180, 180), draw.uniform(-90, 90)
    if draw.random() < 0.2:
        return Box(lon, lat, draw.uniform(-180, 180), min(90, lat + 5))
    return Point(lon, lat)


def random_subscription(draw, id_):
    region = random_region(draw)
    return Subscription(id_, random_keywords(draw, region), region)


def random_message(draw, id_):
    words = draw.choices(WORDS, k=draw.randrange(5))
    return Message(id_, text=" ".join(words), at=random_place(draw), time=float(draw.randrange(99)))


def random_history(seed, length, ids=40):
    """Events in an order: Subscription, Message, or ("unsubscribe", id), known or not."""
    draw = random.Random(seed)
    for number in range(length):
        kind = draw.random()
        if kind < 0.35:
            yield random_subscription(draw, f"s{draw.randrange(ids)}")
        elif kind < 0.5:
            yield "unsubscribe", f"s{draw.randrange(ids)}"
        else:
            yield random_message(draw, f"m{number}")


class Oracle:
    """Applies a history event by event with the index that is the definition."""

    def __init__(self, space=None):
        self._index = ScanIndex() if space is None else ScanIndex(space=space)
        self.notifications = []
        self.unknown = []

    def apply(self, event):
        if isinstance(event, Message):
            self.notifications += [(found, event.id) for found in self._index.match(event)]
        elif isinstance(event, Subscription):
            self._index.insert(event)
        else:
            try:
                self._index.remove(event[1])
            except KeyError:
                self.unknown.append(event[1])


def append_to(log, events):
    """Write events to a log, runs of a kind together."""
    run, kind = [], None

    def flush():
        if kind == "message":
            log.publish(run)
        elif kind == "subscribe":
            log.subscribe(run)
        elif kind == "unsubscribe":
            log.unsubscribe([event[1] for event in run])

    for event in events:
        this = "unsubscribe"
        if isinstance(event, Message):
            this = "message"
        elif isinstance(event, Subscription):
            this = "subscribe"
        if this != kind:
            flush()
            run, kind = [], this
        run.append(event)
    flush()
