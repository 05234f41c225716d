import re
from collections import defaultdict
from itertools import islice, pairwise

import pytest

from nearcast.datasets import City
from nearcast.datasets._city_districts import DISTRICTS
from nearcast.datasets._city_phrases import BURSTS, PEOPLE, PLACES
from nearcast.datasets._city_time import DAY, is_within
from nearcast.datasets._city_walker import STEP_METRES
from nearcast.space import distance
from nearcast.space.membership import is_in


@pytest.fixture(scope="module")
def day():
    """Every minute of a day, from midnight on."""
    return list(islice(City().moments(messages_per_tick=12, begin=0), DAY))


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


def test_a_prefix_makes_other_ids_of_the_same_messages():
    plain, named = next(City().moments()), next(City().moments(prefix="run7-"))
    assert [message.id for message in named.messages[:2]] == ["run7-0", "run7-1"]
    assert [each.text for each in named.messages] == [each.text for each in plain.messages]


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


def test_every_wish_comes_true_now_and_then(day):
    words = [set(message.keywords) for moment in day for message in moment.messages]
    for subscription in City().subscriptions(300):
        assert any(subscription.expression.matches(each) for each in words), subscription


def test_a_tick_is_a_minute_and_days_go_round(day):
    assert [moment.clock for moment in day[:2]] == ["00:00", "00:01"]
    assert next(islice(City().moments(begin=DAY - 1), 1, None)).clock == "00:00"
    assert next(City().moments()).clock == "08:00"


@pytest.mark.parametrize("kind", PLACES)
def test_there_is_something_to_say_in_every_opening_hour(kind):
    place = PLACES[kind]
    for hour in range(*place.open):
        assert any(is_within(60 * (hour % 24), hours) for hours in place.said), hour


def test_a_place_that_is_closed_is_silent(day):
    names = {venue.name: venue for venue in City().venues}
    someone_walks = re.compile(f"({'|'.join(PEOPLE)})\\b")
    for moment in day:
        for message in moment.messages:
            if not someone_walks.match(message.text):
                said = [venue for name, venue in names.items() if name in message.text]
                assert all(venue.is_open(moment.minute) for venue in said), message


def test_the_time_of_day_is_heard(day):
    minutes = defaultdict(set)
    for moment in day:
        for message in moment.messages:
            for word in ("breakfast", "morning", "evening", "night"):
                if word in message.keywords:
                    minutes[word].add(moment.minute // 60)
    assert minutes["breakfast"] == {7, 8, 9, 10, 11}
    assert max(minutes["morning"]) < 12
    assert min(minutes["evening"]) >= 17
    assert {0, 23} <= minutes["night"]


def test_bursts_begin_at_their_hours(day):
    kinds = set()
    for minute, moment in enumerate(day):
        for burst in moment.bursts:
            assert is_within(burst.start, BURSTS[burst.kind].hours), minute
            kinds.add(burst.kind)
    assert kinds == set(BURSTS)


def test_people_write_where_they_walk(day):
    seen = defaultdict(list)
    for moment in day[:600]:
        for message in moment.messages:
            who = re.match(f"({'|'.join(PEOPLE)})\\b", message.text)
            if who:
                seen[who[1]].append((moment.minute, message.at))
    assert set(seen) == set(PEOPLE)
    for steps in seen.values():
        for (earlier, here), (later, there) in pairwise(steps):
            assert distance(here, there) <= STEP_METRES * (later - earlier) * 1.01
        assert len({at for _, at in steps}) > 10


def test_a_district_has_words_of_its_own(day):
    city = City()
    for word, district in {"ferry": "Harbour", "library": "University"}.items():
        places = [
            message.at
            for moment in day
            for message in moment.messages
            if word in message.keywords and message.text.split(":")[0] in PEOPLE
        ]
        assert places
        for at in places:
            nearest = min(DISTRICTS, key=lambda name: distance(at, city.districts[name]))
            assert nearest == district
