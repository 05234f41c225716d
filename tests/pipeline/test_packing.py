"""What is packed is unpacked as it was."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.model import Space
from nearcast.pipeline.packing import (
    id_arrays,
    ids_of_arrays,
    pack_messages,
    pack_subscriptions,
    text_arrays,
    texts_of_arrays,
    unpack_messages,
    unpack_subscriptions,
)
from nearcast.pipeline.rows import Rows
from nearcast.storage import BadFile
from tests.batches.strategies import INT64, STRINGS, id_lists
from tests.boolean.strategies import messages as message_strategy
from tests.boolean.strategies import subscriptions as subscription_strategy

SPACES = st.sampled_from(list(Space))


def labels_of(ids):
    kind = pa.int64() if all(isinstance(each, int) for each in ids) else pa.large_string()
    return pa.array(ids, kind)


@st.composite
def subscription_rows(draw):
    space = draw(SPACES)
    found = draw(st.lists(subscription_strategy(space, INT64), max_size=6, unique_by=id_of))
    batch = SubscriptionBatch.from_subscriptions(found, space=space)
    labels = labels_of(draw(id_lists(len(found))))
    return Rows(labels, batch, np.array(draw(positions(len(found))), np.int64))


@st.composite
def message_rows(draw):
    space = draw(SPACES)
    size = draw(st.integers(0, 6))
    found = [draw(message_strategy(space, [])) for _ in range(size)]
    batch = MessageBatch.from_messages(
        [type(m)(i, keywords=m.keywords, at=m.at, time=m.time) for i, m in enumerate(found)],
        space=space,
    )
    labels = labels_of(draw(id_lists(size)))
    return Rows(labels, batch, np.array(draw(positions(size)), np.int64))


def id_of(subscription):
    return subscription.id


def positions(size):
    return st.lists(st.integers(0, 2**63 - 1), min_size=size, max_size=size)


def assert_same(found, expected, one):
    assert found.labels.type == expected.labels.type
    assert found.labels.to_pylist() == expected.labels.to_pylist()
    np.testing.assert_array_equal(found.position, expected.position)
    assert found.batch.space is expected.batch.space
    assert found.batch.ids.to_pylist() == list(range(len(expected)))
    for row in range(len(expected)):
        assert one(found.batch, row) == one(expected.batch, row)


def subscription_of(batch, row):
    subscription = batch.subscription(row)
    return subscription.expression, subscription.region


def message_of(batch, row):
    message = batch.message(row)
    return message.keywords, message.at, message.time, message.expires


@given(subscription_rows(), st.data())
def test_subscriptions(rows, data):
    assert_same(unpack_subscriptions(pack_subscriptions(rows)), rows, subscription_of)
    if len(rows):
        chosen = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True)), np.int64)
        part = rows.take(chosen)
        assert_same(unpack_subscriptions(pack_subscriptions(part)), part, subscription_of)


@given(message_rows(), st.data())
def test_messages(rows, data):
    assert_same(unpack_messages(pack_messages(rows)), rows, message_of)
    if len(rows):
        chosen = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True)), np.int64)
        part = rows.take(chosen)
        assert_same(unpack_messages(pack_messages(part)), part, message_of)


@given(st.lists(STRINGS), st.data())
def test_texts_may_be_a_slice_of_others(texts, data):
    first = data.draw(st.integers(0, len(texts)))
    last = data.draw(st.integers(first, len(texts)))
    array = pa.array(texts, pa.large_string())[first:last]
    assert texts_of_arrays("x", text_arrays("x", array)).to_pylist() == texts[first:last]
    assert ids_of_arrays("x", id_arrays("x", array)).to_pylist() == texts[first:last]


@given(st.lists(INT64))
def test_integers_stay_integers(ids):
    found = ids_of_arrays("x", id_arrays("x", pa.array(ids, pa.int64())))
    assert found.type == pa.int64()
    assert found.to_pylist() == ids


def test_what_travels_is_checked():
    batch = MessageBatch.from_messages([])
    data = bytearray(pack_messages(Rows(pa.array([], pa.int64()), batch, np.empty(0, np.int64))))
    with pytest.raises(BadFile, match="holds a messages, not a subscriptions"):
        unpack_subscriptions(bytes(data))
    data[40] ^= 1
    with pytest.raises(BadFile, match="damaged"):
        unpack_messages(bytes(data))
