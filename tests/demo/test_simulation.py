from collections import Counter
from itertools import islice

from nearcast.demo.simulation import GLOW_TICKS, Simulation
from nearcast.model import Box, Circle, Point, Subscription


def simulation(people=150, ticks=0, **options):
    made = Simulation(people=people, **options)
    made.open()
    for _ in range(ticks):
        made.tick()
    return made


def test_it_counts_what_each_subscription_would_get():
    made = simulation(people=60, ticks=2)
    messages = [
        message
        for moment in islice(made.city.moments(messages_per_tick=40), 2)
        for message in moment.messages
    ]
    expected = Counter(
        subscription_id
        for message in messages
        for subscription_id in made._wish_of
        if made.broker.explain(subscription_id, message).matches
    )
    assert made.count_of == expected
    assert made.matches == expected.total() > 0
    assert made.messages == len(messages)


def test_the_same_seed_is_the_same_day():
    one, other = simulation(ticks=20), simulation(ticks=20)
    assert one.count_of == other.count_of
    assert one.latest == other.latest
    assert simulation(ticks=20, seed=1).count_of != one.count_of


def test_opening_counts_no_message():
    made = simulation()
    assert (made.messages, made.matches, made.ticks) == (0, 0, 0)
    assert made.rates.microseconds_per_message == 0
    assert made.time_of_day == "08:00:00"


def test_everybody_is_told_of_something_sooner_or_later():
    made = simulation(people=10, ticks=300)
    assert {person.name for person in made.people} == set(made.latest)
    for person in made.people:
        delivery = made.latest[person.name]
        assert person.subscription.expression.matches(set(delivery.message.keywords))
        assert made.got(person) == made.count_of[person.name] > 0


def test_the_glow_fades():
    made = simulation(ticks=GLOW_TICKS + 5)
    assert len(made.glow) == GLOW_TICKS
    assert all(isinstance(point, Point) for point in made.glow[0])


def test_the_busiest_have_different_wishes_and_come_first():
    busiest = simulation(ticks=30).busiest(5)
    received = [count for _, count in busiest]
    assert len(busiest) == 5
    assert received == sorted(received, reverse=True)
    assert len({str(subscription.expression) for subscription, _ in busiest}) == 5


def test_places_have_names():
    made = simulation()
    blue_cup = next(venue for venue in made.city.venues if venue.name == "Blue Cup")
    lon, lat = blue_cup.at.lon, blue_cup.at.lat
    regions = {
        "1.5 km around Blue Cup": Circle(blue_cup.at, 1500),
        "some blocks around Blue Cup": Box(lon - 0.01, lat - 0.01, lon + 0.01, lat + 0.01),
        "the whole city": None,
    }
    for text, region in regions.items():
        assert made.region_of(Subscription("s", "tea", region)) == text


def test_the_clock_is_read_around_the_matching_alone():
    times = iter(range(100))
    made = simulation(clock=lambda: float(next(times)))
    made.tick()  # begin 1, end 2, noted 3: one second for the matching of 40 messages
    assert made.rates.microseconds_per_message == 1e6 / 40
    assert made.rates.messages_per_second == 40 / 3
