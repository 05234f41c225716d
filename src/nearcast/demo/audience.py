"""`Audience`: everybody who listens to the city, and how messages reach them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import islice

from nearcast.datasets import City
from nearcast.demo.client import Client
from nearcast.demo.people import (
    LOOKS_FOR,
    REPORTERS,
    WALKERS,
    middle_of,
    people_of,
    talk_of,
    walks,
)
from nearcast.demo.receivers import Receiver, StreamReceiver, WebhookReceiver
from nearcast.demo.tally import Tally
from nearcast.model import Point, Subscription
from nearcast.pipeline.log.rows import AnySubscription
from nearcast.service.service import Service

CROWD = "city"
"""The subscriber that stands for the people without a name here."""
BY_WEBHOOK = "ravi"
"""Who has it posted; the others keep a stream open."""
PUBLISHER = "city-feed"
FIRST_WORDS = "the city wakes up"
"""Said before the city begins, and heard by the crowd, so that it is known that all works."""


class Audience:
    """Has subscribed, and receives.

    - `subscriptions`: how many
    """

    def __init__(self, receivers: list[Receiver], walkers: Client, subscriptions: int) -> None:
        self._receivers = receivers
        self._walkers = walkers
        self.subscriptions = subscriptions

    def walk(self, where: Mapping[str, Point]) -> None:
        """Those who walk about are here now."""
        self._walkers.move(walks(where))

    def acknowledge(self) -> None:
        """Tell the service what has arrived."""
        for receiver in self._receivers:
            receiver.acknowledge()

    def has_all(self, service: Service) -> bool:
        """Has everything arrived that is in the outbox?"""
        return not any(
            service.outbox.events(receiver.subscriber, receiver.last, 1)
            for receiver in self._receivers
        )


@contextmanager
def listening(
    service: Service, address: str, city: City, people: int, tally: Tally
) -> Iterator[Audience]:
    """Subscribe the people with a name, and so many without, and receive for all of them."""
    wishes: dict[str, list[AnySubscription]] = {
        person.subscriber: [person.subscription] for person in people_of(city)
    }
    wishes[CROWD] = [Subscription("first words", FIRST_WORDS), *_crowd(city, people)]
    wishes[REPORTERS] = [*talk_of(city)]
    wishes[WALKERS] = [*walks(dict.fromkeys(LOOKS_FOR, middle_of(city)))]
    receivers: list[Receiver] = []
    clients: dict[str, Client] = {}
    with ExitStack() as stack:
        for subscriber, subscriptions in wishes.items():
            client = stack.enter_context(client_of(service, address, subscriber, "subscriber"))
            client.subscribe(subscriptions)
            clients[subscriber] = client
            receiver: Receiver
            if subscriber == BY_WEBHOOK:
                receiver = WebhookReceiver(subscriber, client, tally)
            else:
                acknowledged = service.deliveries.cursor(subscriber)
                receiver = StreamReceiver(subscriber, client, tally, acknowledged)
            stack.callback(receiver.close)
            receivers.append(receiver)
        yield Audience(receivers, clients[WALKERS], sum(map(len, wishes.values())))


@contextmanager
def client_of(service: Service, address: str, name: str, role: str) -> Iterator[Client]:
    """Somebody with a token, which ends with the demo."""
    token, secret = service.tokens.create(name, [role])
    try:
        yield Client(address, secret)
    finally:
        service.tokens.revoke(token.id)


def _crowd(city: City, count: int) -> list[Subscription]:
    """Who listens to the whole city would drown the others, so those are left out."""
    local = (each for each in city.subscriptions(count * 3 // 2) if each.region is not None)
    return list(islice(local, count))
