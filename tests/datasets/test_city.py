from itertools import islice

from nearcast.datasets import City
from nearcast.space.membership import is_in


def test_the_same_seed_gives_the_same_city():
    one, other = City(seed=5), City(seed=5)
    assert one.venues == other.venues
    assert one.subscriptions(50) == other.subscriptions(50)
    assert list(islice(one.ticks(), 20)) == list(islice(other.ticks(), 20))
    assert City(seed=6).venues != one.venues


def test_messages_are_within_the_city_and_in_time_order():
    city = City()
    messages = [message for tick in islice(city.ticks(), 50) for message in tick]
    assert all(is_in(message.at, city.bounds) for message in messages)
    assert [message.id for message in messages] == list(range(len(messages)))
    times = [message.time for message in messages]
    assert times == sorted(times)
    assert times[-1] < 50


def test_bursts_come_and_go():
    sizes = [len(tick) for tick in islice(City().ticks(messages_per_tick=10), 300)]
    assert min(sizes) == 10
    assert max(sizes) > 12


def test_moments_are_ticks_and_the_bursts_that_are_on():
    city = City()
    moments = list(islice(city.moments(messages_per_tick=10), 300))
    assert [moment.messages for moment in moments] == list(
        islice(city.ticks(messages_per_tick=10), 300)
    )
    for tick, moment in enumerate(moments):
        assert all(burst.start <= tick < burst.end for burst in moment.bursts)
        assert bool(moment.bursts) == (len(moment.messages) > 10)


def test_every_wish_comes_true_now_and_then():
    city = City()
    words = [
        set(message.keywords)
        for tick in islice(city.ticks(messages_per_tick=30), 300)
        for message in tick
    ]
    for subscription in city.subscriptions(300):
        assert any(subscription.expression.matches(each) for each in words), subscription
