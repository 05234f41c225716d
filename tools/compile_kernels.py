"""Compiles the kernels of the default index once, before many processes would each do it."""

import tempfile
from itertools import islice
from pathlib import Path

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import RarestWordTree
from nearcast.datasets import City
from nearcast.model import Box, Message, Point, Polygon, Subscription


def main() -> None:
    """Use the index in every way; numba keeps what it compiles beside the source."""
    print("compiling kernels, once, for about half a minute ...", flush=True)
    city = City()
    subscriptions = city.subscriptions(200)
    messages = [message for tick in islice(city.ticks(), 5) for message in tick]
    index = RarestWordTree()
    # So few that they are made one by one: many would have everything built again.
    index.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions[:180]))
    for subscription in subscriptions[180:]:
        index.insert(subscription)
    index.insert(
        Subscription("polygon", "tea", Polygon([[(14.2, 40.8), (14.3, 40.8), (14.2, 40.9)]]))
    )
    index.match_batch(MessageBatch.from_messages(messages))
    for subscription in subscriptions[:20]:
        index.remove(subscription.id)
    index.match(messages[0])
    index.match(Message("range", text="tea", at=Box(14.2, 40.8, 14.3, 40.9)))
    index.match(Message("point", text="tea", at=Point(14.2, 40.8)))
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder) / "index.near")
        RarestWordTree.load(Path(folder) / "index.near").match(messages[1])


if __name__ == "__main__":
    main()
