"""Workloads as the tables a data engineer has: words as text, places as columns."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch

_FILES = 4  # so that every core has something to read


def message_table(messages: MessageBatch) -> pa.Table:
    return pa.table(
        {
            "id": messages.ids,
            "text": _texts(messages.lexicon, messages.word_start, messages.words),
            "lon": messages.at[:, 0].copy(),
            "lat": messages.at[:, 1].copy(),
            "time": messages.time,
        }
    )


def subscription_table(subscriptions: SubscriptionBatch) -> pa.Table:
    """Subscriptions with one clause and a box each, as `subscriptions_from` makes them."""
    boxes = subscriptions.regions.kernel_arrays()[1]
    places = {name: boxes[:, i].copy() for i, name in enumerate(("west", "south", "east", "north"))}
    words = _texts(subscriptions.lexicon, subscriptions.required_start, subscriptions.required)
    return pa.table({"id": subscriptions.ids, "keywords": words, **places})


def write_parquet(table: pa.Table, folder: Path) -> str:
    """Several files, in the order of the rows."""
    folder.mkdir(parents=True)
    size = -(-len(table) // _FILES)
    for number in range(_FILES):
        pq.write_table(table.slice(number * size, size), folder / f"part-{number}.parquet")
    return str(folder)


def _texts(
    lexicon: pa.LargeStringArray, start: NDArray[np.int64], codes: NDArray[np.int32]
) -> pa.StringArray:
    words = lexicon.take(pa.array(codes)).cast(pa.string())
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), words), " ")
