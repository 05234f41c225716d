"""Compiles kernels once, before many processes would each do it.

python tools/compile_kernels.py RarestWordTree
"""

import gc
import sys
import tempfile
from itertools import islice
from pathlib import Path

import pyarrow as pa

from nearcast import boolean
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.datasets import City
from nearcast.model import Box, Message, Point, Polygon, Subscription


def main() -> None:
    """Compile for the classes of `nearcast.boolean` that the command line names."""
    names = sys.argv[1:]
    gc.disable()  # it would take a sixth of the time, and the process ends soon
    print(f"compiling kernels of {' and '.join(names)}, once, for half a minute ...", flush=True)
    for name in names:
        use(getattr(boolean, name))
        use_columns(getattr(boolean, name))


def use(index_class: type[boolean.BooleanIndex]) -> None:
    """Use an index in every way; numba keeps what it compiles beside the source."""
    city = City()
    subscriptions = city.subscriptions(200)
    messages = [message for tick in islice(city.ticks(), 5) for message in tick]
    index = index_class()
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
        index_class.load(Path(folder) / "index.near").match(messages[1])


def use_columns(index_class: type[boolean.BooleanIndex]) -> None:
    """Use it as Spark and the command line do: columns come, most rows go again."""
    count = 1200  # so many that what they leave behind is packed away
    words = ["tea OR cake", "tea cake", "tea NOT cake"]
    corner = [index % 10 / 10 for index in range(count)]
    subscriptions = {
        "id": range(count),
        "keywords": [words[index % 3] for index in range(count)],
        "west": corner,
        "south": corner,
        "east": [1.0] * count,
        "north": [1.0] * count,
    }
    messages = {"id": [1, 2], "text": ["tea", "green tea"], "lon": [0.5, 0.6], "lat": [0.5, 0.6]}
    index = index_class()
    index.insert_batch(SubscriptionBatch.from_arrow(pa.table(subscriptions)))
    index.match_batch(MessageBatch.from_arrow(pa.table(messages)))
    for number in range(count - 10):
        index.remove(number)
    index.match_batch(MessageBatch.from_arrow(pa.table(messages)))


if __name__ == "__main__":
    main()
