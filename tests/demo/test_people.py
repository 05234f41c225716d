from itertools import islice

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.broker import Broker
from nearcast.datasets import City
from nearcast.datasets._city_phrases import BURSTS
from nearcast.demo.people import people_of
from nearcast.demo.show import BEGIN, MESSAGES_PER_TICK, SEED


def test_there_is_something_of_everything_soon():
    city = City(seed=SEED)
    people = people_of(city)
    broker = Broker()
    broker.subscribe_batch(
        SubscriptionBatch.from_subscriptions([person.subscription for person in people])
    )
    moments = list(islice(city.moments(messages_per_tick=MESSAGES_PER_TICK, begin=BEGIN), 90))
    assert {burst.kind for moment in moments for burst in moment.bursts} == set(BURSTS)
    batch = MessageBatch.from_messages([each for moment in moments for each in moment.messages])
    told = broker.publish_batch(batch).to_arrow()["subscription_id"].to_pylist()
    assert set(told) == {person.subscription.id for person in people}
