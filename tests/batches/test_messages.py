import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import BadRows, MessageBatch
from nearcast.model import Box, Message, Point, Space
from tests.batches.strategies import STRINGS, arrow_forms, id_lists, texts
from tests.space.strategies import SPACES, boxes, places, points

TIMES = st.floats(-1e9, 1e9) | st.integers(-10, 10)


@st.composite
def arguments(draw, at):
    """The arguments of some messages, all with a text or all with keywords."""
    words = draw(st.sampled_from([{"text": texts()}, {"keywords": st.lists(texts(), max_size=4)}]))
    rows = []
    for id in draw(st.integers(0, 5).flatmap(id_lists)):
        row = {"id": id, "at": draw(at), "time": draw(TIMES)}
        more = draw(st.none() | st.floats(0, 1e6))
        row["expires"] = None if more is None else row["time"] + more
        rows.append(row | {name: draw(values) for name, values in words.items()})
    return rows


def table_of(rows):
    """The table a user would make of the arguments of at least one message."""
    types = {"text": pa.string(), "keywords": pa.list_(pa.string())}
    columns = {}
    for name in rows[0]:
        if name == "at":
            is_box = isinstance(rows[0]["at"], Box)
            for part in ("west", "south", "east", "north") if is_box else ("lon", "lat"):
                columns[part] = [getattr(row["at"], part) for row in rows]
        else:
            columns[name] = pa.array([row[name] for row in rows], types.get(name))
    return pa.table(columns)


@st.composite
def tables_and_messages(draw):
    space = draw(st.sampled_from(SPACES))
    rows = draw(arguments(draw(st.sampled_from([boxes(space), points(space)]))).filter(len))
    return space, draw(arrow_forms(table_of(rows))), [Message(**row) for row in rows]


@given(tables_and_messages())
def test_from_arrow_like_objects(case):
    space, table, messages = case
    batch = MessageBatch.from_arrow(table, space=space)
    assert len(batch) == len(messages)
    assert [batch.message(row) for row in range(len(batch))] == messages


@st.composite
def mixed_batches(draw):
    space = draw(st.sampled_from(SPACES))
    return space, [Message(**row) for row in draw(arguments(places(space)))]


@given(mixed_batches())
def test_from_messages_and_back(case):
    space, messages = case
    batch = MessageBatch.from_messages(messages, space=space)
    assert [batch.message(row) for row in range(len(batch))] == messages
    assert batch.is_box.tolist() == [isinstance(message.at, Box) for message in messages]


@given(mixed_batches(), st.data())
def test_take_and_concat(case, data):
    space, messages = case
    batch = MessageBatch.from_messages(messages, space=space)
    rows = data.draw(st.permutations(range(len(messages))))
    cut = data.draw(st.integers(0, len(rows)))
    some, others = batch.take(rows[:cut]), batch.take(rows[cut:])
    assert [some.message(i) for i in range(len(some))] == [messages[row] for row in rows[:cut]]
    assert set(some.lexicon.to_pylist()) == {
        w for row in rows[:cut] for w in messages[row].keywords
    }
    both = MessageBatch.concat([some, others])
    assert [both.message(i) for i in range(len(both))] == [messages[row] for row in rows]


@given(st.lists(STRINGS | texts(), max_size=6))
def test_words_are_those_of_the_tokenizer(all_texts):
    n = len(all_texts)
    columns = {"id": pa.array(range(n), pa.int8()), "text": pa.array(all_texts, pa.string())}
    columns |= {name: pa.array([0] * n, pa.int16()) for name in ("lon", "lat")}
    batch = MessageBatch.from_arrow(pa.table(columns))
    at = Point(0, 0)
    for row, text in enumerate(all_texts):
        assert batch.message(row).keywords == Message(0, text=text, at=at).keywords


def points_table(**columns):
    n = len(next(iter(columns.values())))
    defaults = {"id": list(range(n)), "text": ["tea"] * n, "lon": [0.0] * n, "lat": [0.0] * n}
    return pa.table({**defaults, **columns})


def test_time_is_zero_and_nothing_expires_by_default():
    batch = MessageBatch.from_arrow(points_table(id=[1]))
    assert batch.message(0) == Message(1, text="tea", at=Point(0, 0))


def test_arrays_are_writable_and_of_the_promised_types():
    batch = MessageBatch.from_arrow(points_table(id=[1, 2]))
    expected = {
        "word_start": np.int64, "words": np.int32, "at": np.float64, "is_box": np.bool_,
        "time": np.float64, "expires": np.float64, "rect_start": np.int32, "rects": np.float64,
    }  # fmt: skip
    for name, dtype in expected.items():
        array = getattr(batch, name)
        assert array.dtype == dtype, name
        # A read-only one would have every kernel compiled a second time.
        assert array.flags.writeable, name
        assert array.flags.c_contiguous, name
    assert batch.lexicon.type == pa.large_string()


def test_tiny_coordinates_are_zero_as_in_the_model():
    batch = MessageBatch.from_arrow(points_table(lon=[1e-61, -0.0], lat=[-1e-80, 2.0]))
    assert batch.message(0).at == Point(1e-61, -1e-80)
    assert np.copysign(1.0, batch.at[1, 0]) == 1.0


def test_large_ids_and_every_integer_type():
    ids = pa.array([2**63 - 1, 0], pa.uint64())
    batch = MessageBatch.from_arrow(points_table(id=ids))
    assert batch.ids.to_pylist() == [2**63 - 1, 0]
    for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64()):
        assert MessageBatch.from_arrow(points_table(id=pa.array([5], kind))).ids.to_pylist() == [5]


def test_empty_tables():
    typed = points_table(id=[1]).slice(0, 0)
    untyped = pa.table({name: pa.array([], pa.null()) for name in ("id", "text", "lon", "lat")})
    lists = pa.table({name: pa.array([], pa.null()) for name in ("id", "keywords", "lon", "lat")})
    for table in (typed, untyped, lists, pa.Table.from_batches([], typed.schema)):
        batch = MessageBatch.from_arrow(table)
        assert len(batch) == 0
        assert len(batch.take([])) == 0
    assert len(MessageBatch.from_messages([])) == 0


def test_concat_of_nothing_and_of_different_kinds():
    numbers = MessageBatch.from_arrow(points_table(id=[1]))
    strings = MessageBatch.from_arrow(points_table(id=["1"]))
    plane = MessageBatch.from_arrow(points_table(id=[2]), space=Space.PLANE)
    with pytest.raises(ValueError, match="at least one"):
        MessageBatch.concat([])
    with pytest.raises(ValueError, match="integer ids and batches with string ids"):
        MessageBatch.concat([numbers, strings])
    with pytest.raises(ValueError, match="use one space"):
        MessageBatch.concat([numbers, plane])
    with pytest.raises(BadRows, match="id 1 is that of row 0 too"):
        MessageBatch.concat([numbers, numbers])
    assert len(MessageBatch.concat([strings.take([]), numbers])) == 1


def test_rows_that_are_not_there():
    batch = MessageBatch.from_arrow(points_table(id=[1]))
    for row in (-1, 1):
        with pytest.raises(IndexError, match=f"row {row} is outside a batch of 1"):
            batch.message(row)
        with pytest.raises(IndexError, match=f"row {row} is outside a batch of 1"):
            batch.take([row])
    with pytest.raises(TypeError, match="flatnonzero"):
        batch.take(np.array([True]))
    with pytest.raises(BadRows, match="id 1 is that of row 0 too"):
        batch.take([0, 0])


def test_objects_of_another_space_and_mixed_ids():
    here = Message(1, keywords=(), at=Point(0, 0))
    with pytest.raises(BadRows, match=r"row 1, message 2: .*Space.PLANE.* is not in Space.EARTH"):
        MessageBatch.from_messages(
            [here, Message(2, keywords=(), at=Point(0, 0, space=Space.PLANE))]
        )
    with pytest.raises(
        BadRows, match=r"row 1, message 'b': .* integers or strings as ids, not both"
    ):
        MessageBatch.from_messages([here, Message("b", keywords=(), at=Point(0, 0))])


def test_arrays_given_directly_are_checked():
    good = MessageBatch.from_arrow(points_table(id=[1]))
    fields = ("ids", "lexicon", "word_start", "words", "at", "is_box", "time", "expires")
    arrays = {name: getattr(good, name) for name in fields}
    bad = {
        "lexicon": (pa.array(["tea"]), "lexicon must be large_string"),
        "word_start": (np.array([0, 2]), "word_start must rise from 0 to 1"),
        "words": (np.array([7], np.int32), "words must be numbers of the 1 words"),
        "at": (np.zeros((1, 2)), r"at must be float64\[1, 4\], not float64\[1, 2\]"),
        "is_box": (np.zeros(1), r"is_box must be bool\[1\]"),
        "time": (np.array([np.nan]), "time nan is not finite"),
        "expires": (np.array([-1.0]), "expires -1.0 is before time 0.0"),
        "ids": (pa.array([1.5]), "ids must be int64 or large_string, not double"),
    }
    for name, (value, problem) in bad.items():
        with pytest.raises((ValueError, TypeError), match=problem):
            MessageBatch(**{**arrays, name: value})
    with pytest.raises(ValueError, match="longitude and latitude twice"):
        MessageBatch(**{**arrays, "at": np.array([[0.0, 0, 1, 1]])})
