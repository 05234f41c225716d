"""A term that is said so often that sums of whole numbers would have no room for it."""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from nearcast.batches import MessageBatch
from nearcast.broker import Broker
from nearcast.checks.trending.samples import Pair, terms_of
from nearcast.model import Circle, Message, Point, TrendingSubscription
from nearcast.trending import CellRows, ScanTrending
from tests.trending.indexes import INDEXES

HERE = Point(2.35, 48.86)
OF_REGIONS = [
    pytest.param(INDEXES[name], id=name)
    for name in ("CellRows", "ParallelCellRows", "TP", "DS", "RST")
]


def a_stream(count):
    """Of some terms a document says hundreds; some come late, and there are quiet times."""
    random, time = Random(5), 0.0
    for number in range(count):
        words = [random.choice("abcdefgh") + "x" for _ in range(3)]
        for _ in range(random.choice([0, 0, 1, 2])):
            words += [random.choice(["rain", "bus", "tea"])] * random.choice([1, 150, 700, 4000])
        at = Point(2.35 + random.uniform(-0.1, 0.1), 48.86)
        late = random.choice([0.0, 0.0, 0.0, 5.0, 80.0, 200.0])
        yield Message(number, keywords=words, at=at, time=time - late)
        time += random.choice([0.0, 0.3, 3.0, 30.0])


def some_circles(pair):
    for number, radius in enumerate([1e3, 4e3, 8e3, 9e6]):
        pair.subscribe(TrendingSubscription(number, Circle(HERE, radius), 1 + 3 * number))


@pytest.mark.parametrize("make_index", OF_REGIONS)
def test_what_is_older_is_forgotten_before_its_time(make_index):
    """As the oracle does, whatever the order; and later, when little is said, in its time again."""
    pair = Pair(make_index, half_life=10.0, horizon=30, lateness=float("inf"))
    some_circles(pair)
    lives = set()
    for number, message in enumerate(a_stream(120)):
        pair.publish(message)
        if number % 10 == 9:
            pair.assert_same_lists()
            lives.add(pair.oracle.decay.epoch(pair.oracle.now) - pair.oracle._base)
    assert max(lives) == 30
    assert min(lives) <= 27
    pair.advance(pair.index.now + 1000.0)
    pair.assert_same_lists()


@pytest.mark.parametrize("make_index", OF_REGIONS)
def test_together_and_after_a_restart_as_one_by_one(make_index):
    pairs = [Pair(make_index, half_life=10.0, horizon=30, lateness=1e3) for _ in range(2)]
    for pair in pairs:
        some_circles(pair)
    one, other = (pair.index for pair in pairs)
    messages = list(a_stream(90))
    for begin in range(0, 90, 30):
        some = messages[begin : begin + 30]
        counts = [len(one.publish(message)) for message in some]
        assert other.publish_batch(MessageBatch.from_messages(some)).tolist() == counts
        assert [other.top(number) for number in range(4)] == [
            one.top(number) for number in range(4)
        ]
        with TemporaryDirectory() as folder:
            other.save(Path(folder) / "index.near")
            other = type(other).load(Path(folder) / "index.near")
    other.check()


def test_the_oracle_goes_on_where_it_was_saved(tmp_path):
    oracle = ScanTrending(half_life=10.0, horizon=30, lateness=1e3, a=1.0)
    oracle.subscribe(TrendingSubscription("s", Circle(HERE, 1e4), 20))
    for message in a_stream(40):
        oracle.publish(message)
    oracle.save(tmp_path / "oracle.near")
    loaded = ScanTrending.load(tmp_path / "oracle.near")
    assert loaded.top("s") == oracle.top("s")
    assert loaded._base == oracle._base


@pytest.mark.parametrize("call", ["publish", "publish_batch", "publish_together"])
def test_posts_that_say_one_word_thousands_of_times_are_taken(call):
    """300 of 10,000 bytes are 1.5 million mentions, more than a horizon of 20 has room for."""
    posts = [Message(n, text="x " * 5_000, at=HERE, time=float(n)) for n in range(300)]
    posts.append(Message(300, text="jazz", at=HERE, time=300.0))
    broker = Broker(trending=CellRows(half_life=3600.0))
    broker.subscribe(TrendingSubscription("s", Circle(HERE, 1e3), k=2))
    if call == "publish":
        for post in posts:
            broker.publish(post)
    else:
        getattr(broker, call)(MessageBatch.from_messages(posts))
    (x, score), (jazz, one) = broker.results("s")
    assert (x, jazz, one) == ("x", "jazz", pytest.approx(1.0))
    assert score == pytest.approx(sum(5_000 * 2.0 ** ((n - 300) / 3600.0) for n in range(300)))


def test_who_comes_after_such_posts_finds_them():
    broker = Broker()
    posts = [Message(n, text="x " * 5_000, at=HERE, time=float(n)) for n in range(300)]
    broker.publish_batch(MessageBatch.from_messages(posts))
    [told] = broker.subscribe(TrendingSubscription("s", Circle(HERE, 1e3), k=2))
    assert terms_of(told.terms) == ("x",)
