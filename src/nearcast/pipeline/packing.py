"""Rows as bytes and back: what travels between Spark's tasks, and what a changelog holds.

A packed batch has its words numbered and its text split already, so that this is done once for each
row, however many shards it goes to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.batches.expression_column import ExpressionColumn
from nearcast.model import Space
from nearcast.pipeline.rows import Rows
from nearcast.space import RegionColumn
from nearcast.storage import Buffer, pack_arrays, part, unpack_arrays

Arrays = dict[str, NDArray[Any]]

SUBSCRIPTIONS, MESSAGES = "subscriptions", "messages"

_EXPRESSION_ARRAYS = (
    "clause_start", "required_start", "required", "forbidden_start", "forbidden",
)  # fmt: skip
_MESSAGE_ARRAYS = ("word_start", "words", "at", "is_box", "time", "expires")


def pack_subscriptions(rows: Rows[SubscriptionBatch]) -> bytes:
    """Subscriptions as bytes.  O(size)."""
    return pack_arrays(SUBSCRIPTIONS, {"space": rows.batch.space.name}, subscription_arrays(rows))


def unpack_subscriptions(data: Buffer) -> Rows[SubscriptionBatch]:
    """The subscriptions that were packed.  O(size)."""
    meta, arrays = unpack_arrays(data, SUBSCRIPTIONS)
    return subscriptions_of_arrays(arrays, Space[meta["space"]])


def pack_messages(rows: Rows[MessageBatch]) -> bytes:
    """Messages as bytes.  O(size)."""
    return pack_arrays(MESSAGES, {"space": rows.batch.space.name}, message_arrays(rows))


def unpack_messages(data: Buffer) -> Rows[MessageBatch]:
    """The messages that were packed.  O(size)."""
    meta, arrays = unpack_arrays(data, MESSAGES)
    return messages_of_arrays(arrays, meta["space"])


def message_arrays(rows: Rows[MessageBatch]) -> Arrays:
    """Messages as named arrays, for bytes or a file."""
    batch = rows.batch
    arrays: Arrays = {name: getattr(batch, name) for name in _MESSAGE_ARRAYS}
    arrays |= text_arrays("lexicon", batch.lexicon) | id_arrays("labels", rows.labels)
    arrays["position"] = rows.position
    return arrays


def messages_of_arrays(arrays: Arrays, space: str) -> Rows[MessageBatch]:
    """The messages whose `message_arrays` these are."""
    labels = ids_of_arrays("labels", arrays)
    batch = MessageBatch(
        ids=pa.array(np.arange(len(labels))),
        lexicon=texts_of_arrays("lexicon", arrays),
        **{name: arrays[name] for name in _MESSAGE_ARRAYS},
        space=Space[space],
    )
    return Rows(labels, batch, arrays["position"])


def subscription_arrays(rows: Rows[SubscriptionBatch]) -> Arrays:
    """Subscriptions as named arrays, for bytes or a file."""
    batch = rows.batch
    arrays: Arrays = {name: getattr(batch, name) for name in _EXPRESSION_ARRAYS}
    arrays |= text_arrays("lexicon", batch.lexicon) | id_arrays("labels", rows.labels)
    arrays |= {f"region/{name}": array for name, array in batch.regions.arrays().items()}
    arrays["position"] = rows.position
    return arrays


def subscriptions_of_arrays(arrays: Arrays, space: Space) -> Rows[SubscriptionBatch]:
    """The subscriptions whose `subscription_arrays` these are."""
    labels = ids_of_arrays("labels", arrays)
    expressions = ExpressionColumn(
        texts_of_arrays("lexicon", arrays), *(arrays[name] for name in _EXPRESSION_ARRAYS)
    )
    regions = RegionColumn.from_arrays(part(arrays, "region/"), space)
    batch = SubscriptionBatch(pa.array(np.arange(len(labels))), expressions, regions)
    return Rows(labels, batch, arrays["position"])


def id_arrays(name: str, ids: pa.Array) -> Arrays:
    """Ids, integers or strings, as named arrays."""
    if pa.types.is_integer(ids.type):
        return {name: np.array(ids, np.int64)}
    return text_arrays(name, ids)


def ids_of_arrays(name: str, arrays: Arrays) -> pa.Array:
    """The ids whose `id_arrays` these are."""
    return pa.array(arrays[name]) if name in arrays else texts_of_arrays(name, arrays)


def text_arrays(name: str, texts: pa.LargeStringArray) -> Arrays:
    """Strings as two arrays: where each begins, and the UTF-8 bytes."""
    if len(texts) == 0:
        return {f"{name}/start": np.zeros(1, np.int64), f"{name}/utf8": np.empty(0, np.uint8)}
    _, offsets, data = texts.buffers()
    start = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    utf8 = np.frombuffer(data or b"", np.uint8)[start[0] : start[-1]]
    return {f"{name}/start": start - start[0], f"{name}/utf8": utf8}


def texts_of_arrays(name: str, arrays: Arrays) -> pa.LargeStringArray:
    """The strings whose `text_arrays` these are; they share the memory."""
    start, utf8 = arrays[f"{name}/start"], arrays[f"{name}/utf8"]
    return pa.LargeStringArray.from_buffers(len(start) - 1, pa.py_buffer(start), pa.py_buffer(utf8))
