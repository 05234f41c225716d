"""Compiles kernels once, before many processes would each do it at once.

Without an argument those of the default index, about half a minute; with `--all` those of every
index, in two processes, for the tests.
"""

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

import nearcast.boolean
from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import BooleanIndex
from nearcast.datasets import City
from nearcast.model import Box, Message, Point, Polygon, Subscription

DEFAULT = "RarestWordTree"
# Those that share kernels follow each other in one process.
OTHERS = (
    ("RtTree", "IRTree", "MBRTrie"),
    ("PTQuadtree",),
    ("APTree", "TrieQuadtree"),
    ("IQTree", "RQTree"),
)


def compile_index(name: str) -> None:
    """Use an index in every way; numba keeps what it compiles beside the source."""
    make: type[BooleanIndex] = getattr(nearcast.boolean, name)
    city = City()
    subscriptions = city.subscriptions(200)
    messages = [message for tick in islice(city.ticks(), 5) for message in tick]
    index = make()
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
        make.load(Path(folder) / "index.near").match(messages[1])


def compile_several(names: tuple[str, ...]) -> None:
    """One after the other."""
    for name in names:
        compile_index(name)


def main() -> None:
    """Compile what is asked for."""
    if "--all" in sys.argv[1:]:
        print("compiling the kernels of every index, once, for about two minutes ...", flush=True)
        with ProcessPoolExecutor(2) as pool:
            list(pool.map(compile_several, OTHERS))
        compile_index("LFilter")  # what the trie and the quadtree have not compiled
    else:
        print("compiling kernels, once, for about half a minute ...", flush=True)
        compile_index(DEFAULT)


if __name__ == "__main__":
    main()
