"""Many neighbours: cells are divided, documents far off come as fields, terms come and fade."""

from random import Random

import numpy as np
import pytest

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.checks.trending.samples import terms_of
from nearcast.model import Message, NearbyTrendingSubscription, Point, Space
from nearcast.trending import ParallelTermFields, ScanTrending, TermFields
from nearcast.trending.term_fields import _cells

LEFT_OUT = 1e-9


def place(random, space, spread):
    """Around a town: degrees on the Earth, the same in kilometres in a plane."""
    x, y = random.gauss(2.35, spread), random.gauss(48.86, spread)
    if space is Space.EARTH:
        return Point(x, y)
    return Point(x * 110.0, y * 110.0, space=space)


def a_stream(space, count):
    """Half of the documents are of the town, and words differ in how frequent they are."""
    random = Random(5)
    words = [f"w{n}" for n in range(60)]
    for number in range(count):
        spread = random.choice([0.1, 3.0])
        said = random.choices(words, [1.0 / (n + 1) for n in range(60)], k=5)
        if spread == 0.1 and number % 40 > 30:
            said.append(f"news{number // 40}")
        at = place(random, space, spread)
        yield Message(number, keywords=said, at=at, time=float(number))


def make(space, max_error):
    """`a` is 10 km in both spaces."""
    a = 10_000.0 if space is Space.EARTH else 10.0
    return TermFields(half_life=60.0, a=a, max_error=max_error, space=space)


def assert_about_right(index, oracle, subscription):
    """As the contract: scores within the error, nothing missing that is better by more than it."""
    found = index.top(subscription.id)
    oracle.subscribe(NearbyTrendingSubscription("all", subscription.at, k=10_000))
    exact = dict(oracle.top("all"))
    oracle.unsubscribe("all")
    error = index.max_error + LEFT_OUT
    assert len(found) == min(subscription.k, len(exact))
    for term, score in found:
        assert abs(score - exact[term]) <= error * exact[term]
    for term in exact.keys() - set(terms_of(found)):
        assert exact[term] * (1.0 - error) <= found[-1][1] * (1.0 + error)


@pytest.mark.parametrize("space", Space)
@pytest.mark.parametrize("max_error", [0.0, 0.01, 0.1])
def test_a_town_of_subscriptions(space, max_error):
    random = Random(3)
    index = make(space, max_error)
    oracle = ScanTrending.from_settings(index.settings())
    subscriptions = [
        NearbyTrendingSubscription(n, place(random, space, 0.05), k=random.choice([1, 5, 10]))
        for n in range(2000)
    ]
    index.subscribe_many(subscriptions[:1800])
    sample = subscriptions[::80]
    for number, message in enumerate(a_stream(space, 240)):
        before = {each.id: terms_of(index.top(each.id)) for each in sample if each.id in index}
        told = {change.subscription_id: change for change in index.publish(message)}
        oracle.publish(message)
        for id, terms in before.items():
            assert (terms != terms_of(index.top(id))) == (id in told)
        if number == 100:
            index.subscribe_many(subscriptions[1800:])
        if number == 150:
            for each in subscriptions[1::3]:
                index.unsubscribe(each.id)
        if number % 60 == 59:
            index.check()
            for each in sample:
                if each.id in index:
                    assert_about_right(index, oracle, each)
    cells = index._cells
    count, rows = cells.ends[[_cells.CELLS, _cells.ROWS_END]].tolist()
    assert count > 4
    assert max_error == 0.0 or (cells.field[:rows, 0] > 0.0).any()


def test_terms_that_fade_are_forgotten():
    """New words all the time, for long: neither terms nor documents nor memory grow without end."""
    random = Random(7)
    index = TermFields(half_life=10.0, max_error=0.1)
    for n in range(50):
        index.subscribe(NearbyTrendingSubscription(n, place(random, Space.EARTH, 0.05), k=5))
    sizes = []
    for number in range(6000):
        words = [f"new{number}_{i}" for i in range(6)] + [f"old{random.randint(0, 30)}"]
        at = place(random, Space.EARTH, 1.0)
        index.publish(Message(number, keywords=words, at=at, time=number / 10.0))
        if number % 1000 == 999:
            sizes.append((index.stats().terms, index.stats().documents))
    assert max(sizes[3:]) <= (2 * sizes[2][0], 2 * sizes[2][1])
    index.check()


@pytest.mark.parametrize("make_index", [TermFields, ParallelTermFields])
def test_who_is_at_the_same_place_shares_a_list_and_is_told_of_it(make_index):
    index = make_index(half_life=60.0)
    houses = [place(Random(n), Space.EARTH, 0.05) for n in range(5)]
    index.subscribe_many(
        [NearbyTrendingSubscription(n, houses[n % 5], k=1 + n // 5 % 2) for n in range(100)]
    )
    halves = [index] if make_index is TermFields else index._halves
    assert sum(int(half._cells.head[:, _cells.WIDTH].sum()) for half in halves) == 10
    told = index.publish(Message("m", text="Rain and more rain", at=houses[0], time=0.0))
    assert sorted(change.subscription_id for change in told) == list(range(100))
    for n in range(0, 100, 2):
        index.unsubscribe(n)
    index.check()
    assert index.subscribe(NearbyTrendingSubscription(1, houses[3], k=1)) == []
    assert index.top(1) == index.top(3)
    batch = MessageBatch.from_messages(
        [Message("n", text="Bus bus bus bus", at=houses[0], time=1.0)], space=Space.EARTH
    )
    assert index.publish_batch(batch).tolist() == [50]
    index.check()
    for n in range(1, 100, 2):
        index.unsubscribe(n)
    index.check()
    assert len(index) == 0


def test_newcomers_where_others_are_make_no_cell_anew():
    index = make(Space.EARTH, 0.01)
    homes = [place(Random(n), Space.EARTH, 0.05) for n in range(20)]
    index.subscribe_many([NearbyTrendingSubscription(n, at, k=3) for n, at in enumerate(homes)])
    for message in a_stream(Space.EARTH, 30):
        index.publish(message)
    before = index.stats().refilled
    index.subscribe_many(
        [NearbyTrendingSubscription(f"too {n}", at, k=3) for n, at in enumerate(homes)]
    )
    assert index.stats().refilled == before
    assert all(index.top(f"too {n}") == index.top(n) for n in range(20))
    assert len(index) == 40


@pytest.mark.parametrize("max_error", [pytest.param(0.0, marks=pytest.mark.thorough), 0.05])
def test_two_people_far_apart_and_more_words_than_16_bits_can_number(max_error):
    """They are in one cell, of which each word that matters to either is a row."""
    index = make(Space.EARTH, max_error)
    oracle = ScanTrending.from_settings(index.settings())
    paris, sydney = Point(2.35, 48.86), Point(151.2, -33.87)
    people = [
        NearbyTrendingSubscription(name, at, k=k)
        for name, at, k in (("paris", paris, 5), ("p", paris, 300), ("sydney", sydney, 5))
    ]
    index.subscribe_many(people)
    random = Random(11)
    messages = [
        Message(
            n,
            keywords=[f"w{100 * n + i}" for i in range(100)] + [f"often{n % 7}"] * 3,
            at=place(random, Space.EARTH, 0.05),
            time=n / 10.0,
        )
        for n in range(420)
    ]
    index.publish_batch(MessageBatch.from_messages(messages[:400]))
    for message in messages:
        oracle.publish(message)
    for message in messages[400:]:
        before = {each.id: terms_of(index.top(each.id)) for each in people}
        told = {change.subscription_id for change in index.publish(message)}
        assert told == {id for id, terms in before.items() if terms != terms_of(index.top(id))}
    assert index._cells.head[:, _cells.HEIGHT].max() > 40_000
    for each in people:
        assert_about_right(index, oracle, each)
    index.check()


def test_a_file_that_numbers_rows_with_16_bits_is_read(tmp_path):
    """As files of earlier ones do, which do not say either what was forgotten with terms."""
    index = make(Space.EARTH, 0.01)
    homes = [place(Random(n), Space.EARTH, 0.05) for n in range(40)]
    index.subscribe_many([NearbyTrendingSubscription(n, at, k=3) for n, at in enumerate(homes)])
    messages = list(a_stream(Space.EARTH, 60))
    index.publish_batch(MessageBatch.from_messages(messages[:30]))
    index.save(tmp_path / "new.near")
    meta, arrays = storage.read_arrays(tmp_path / "new.near", "TermFields")
    del meta["forgotten"]
    order = arrays["cells/order"].astype(np.int16)
    storage.write_arrays(tmp_path / "old.near", "TermFields", meta, arrays | {"cells/order": order})
    loaded = TermFields.load(tmp_path / "old.near")
    for message in messages[30:]:
        assert loaded.publish(message) == index.publish(message)
    loaded.subscribe(NearbyTrendingSubscription("new", homes[0], k=20))
    loaded.check()
