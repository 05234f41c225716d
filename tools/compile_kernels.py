"""Compiles the kernels once, about a minute, before many processes would each do it at once."""

import tempfile
from itertools import islice
from pathlib import Path

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import RarestWordTree
from nearcast.datasets import City
from nearcast.model import Polygon, Subscription


def main() -> None:
    """Use the default index in every way; numba keeps what it compiles beside the source."""
    print("compiling kernels, once, for about a minute ...", flush=True)
    city = City()
    subscriptions = city.subscriptions(200)
    messages = [message for tick in islice(city.ticks(), 5) for message in tick]
    index = RarestWordTree()
    index.insert_batch(SubscriptionBatch.from_subscriptions(subscriptions[:100]))
    for subscription in subscriptions[100:]:
        index.insert(subscription)
    index.insert(
        Subscription("polygon", "tea", Polygon([[(14.2, 40.8), (14.3, 40.8), (14.2, 40.9)]]))
    )
    index.match_batch(MessageBatch.from_messages(messages))
    index.remove(subscriptions[0].id)
    index.match(messages[0])
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder) / "index.near")
        RarestWordTree.load(Path(folder) / "index.near").match(messages[1])


if __name__ == "__main__":
    main()
