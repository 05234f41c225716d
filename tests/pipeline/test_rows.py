"""Good rows become batches, bad rows become rejects, and no row is lost."""

import json
from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.model import ANY, Box, Circle, Message, Point, Space, Subscription
from nearcast.pipeline.rows import (
    POSITION,
    PROBLEM,
    REJECTS,
    joined_messages,
    joined_subscriptions,
    read_messages,
    read_subscriptions,
)
from nearcast.space import region_to_geojson
from tests.batches.strategies import INT64, STRINGS, expression_texts, texts

EARTH = Space.EARTH
CIRCLE = json.dumps(region_to_geojson(Circle(Point(0, 0), 1000)))


def subscriptions(**columns):
    return read_subscriptions(pa.table(columns), EARTH)


def messages(**columns):
    return read_messages(pa.table(columns), EARTH)


def reasons_of(rejects):
    return dict(zip(rejects["id"].to_pylist(), rejects["reason"].to_pylist(), strict=True))


def test_bad_subscriptions_stand_aside():
    rows, rejects = subscriptions(
        id=["a", "b", None, "d", "e", "a"],
        keywords=["tea", "tea OR", "tea", None, "cake", "café"],
        west=[0.0, None, None, None, 200.0, None],
        south=[0.0, None, None, None, 0.0, None],
        east=[1.0, None, None, None, 1.0, None],
        north=[1.0, None, None, None, 1.0, None],
    )
    assert rows.labels.to_pylist() == ["a", "a"]  # each row stands for itself
    assert rows.batch.subscription(0).region == Box(0, 0, 1, 1)
    assert rows.batch.lexicon.to_pylist() == ["tea", "café"]
    assert rejects.schema == REJECTS
    assert rejects["id"].to_pylist() == ["b", None, "d", "e"]
    assert rejects["side"].unique().to_pylist() == ["subscription"]
    told = rejects["reason"].to_pylist()
    for part, reason in zip(
        ["word is missing", "id is null", "every message", "200"], told, strict=True
    ):
        assert part in reason
    assert json.loads(rejects["row"][0].as_py())["keywords"] == "tea OR"


def test_both_ways_to_tell_a_region_in_one_table():
    rows, rejects = subscriptions(
        id=[1, 2, 3, 4],
        keywords=["tea", "tea", "tea", "tea"],
        region=[None, CIRCLE, None, CIRCLE],
        **{name: [0.0, None, None, 0.0] for name in ("west", "south", "east", "north")},
    )
    assert rows.labels.to_pylist() == [1, 2, 3]
    regions = [rows.batch.regions.region(row) for row in range(3)]
    assert regions == [Box(0, 0, 0, 0), Circle(Point(0, 0), 1000), None]
    assert reasons_of(rejects) == {
        "4": "region and west, south, east, north are both given; give one"
    }


def test_both_ways_to_tell_a_place_in_one_table():
    rows, rejects = messages(
        id=[1, 2, 3, 4, 5],
        text=["tea", "tea cake", "", "x", "y"],
        lon=[5.0, None, None, 1.0, 1.0],
        lat=[6.0, None, None, None, 1.0],
        west=[None, 170.0, None, None, 1.0],
        south=[None, -1.0, None, None, None],
        east=[None, -170.0, None, None, None],
        north=[None, 1.0, None, None, None],
    )
    assert rows.labels.to_pylist() == [1, 2]
    assert [rows.batch.message(row).at for row in range(2)] == [
        Point(5, 6),
        Box(170, -1, -170, 1),
    ]
    told = reasons_of(rejects)
    assert list(told) == ["3", "4", "5"]
    assert "lon is null" in told["3"]
    assert "lat is null" in told["4"]
    assert "both given" in told["5"]


def test_a_column_of_one_group_must_fit_even_where_no_row_uses_it():
    schema = pa.schema(
        [("id", pa.int64()), ("text", pa.string()), ("lon", pa.float64()), ("lat", pa.float64())]
    )
    fine = schema.empty_table()
    assert len(read_messages(fine, EARTH)[0]) == 0
    with pytest.raises(ValueError, match="'south', 'east', 'north' is missing"):
        read_messages(schema.append(pa.field("west", pa.float64())).empty_table(), EARTH)


def test_a_row_that_could_not_be_read_has_its_own_reason():
    rows, rejects = messages(
        id=["a", None, "c"],
        text=["tea", None, "tea"],
        lon=[0.0, nan, 0.0],
        lat=[0.0, 99.0, 0.0],
        **{PROBLEM: [None, "line 7 ends in the middle", None]},
    )
    assert rows.labels.to_pylist() == ["a", "c"]
    assert rejects["reason"].to_pylist() == ["line 7 ends in the middle"]
    assert PROBLEM not in rejects["row"][0].as_py()


def test_the_row_of_a_reject_is_json():
    nowhere = {"lon": [nan, inf, 0.0], "lat": [0.0, -inf, 91.0]}
    _, rejects = messages(id=[1, 2, 3], text=["é", '"', "\n"], **nowhere)

    def refuse(constant):
        raise AssertionError(constant)

    received = [json.loads(row, parse_constant=refuse) for row in rejects["row"].to_pylist()]
    assert received[0] == {"id": 1, "text": "é", "lon": "nan", "lat": 0.0}
    assert received[1] == {"id": 2, "text": '"', "lon": "inf", "lat": "-inf"}
    _, rejects = subscriptions(id=[1], keywords=["tea"], region=[b"\x01\xff"])
    assert json.loads(rejects["row"][0].as_py())["region"] == "01ff"


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_that_is_no_utf8_is_refused_and_the_rest_is_read(kind):
    bytes_kind = pa.large_binary() if kind == pa.large_string() else pa.binary()

    def raw(*values):
        return pa.array(values, bytes_kind).view(kind)

    rows, rejects = messages(
        id=raw(b"a", b"b\xff", b"c"),
        text=raw(b"tea", b"tea", b"t\xffa"),
        lon=[0.0, 0.0, 0.0],
        lat=[0.0, 0.0, 0.0],
    )
    assert rows.labels.to_pylist() == ["a"]
    assert reasons_of(rejects) == {
        "b�": "id is not UTF-8; write it in that encoding",
        "c": "text is not UTF-8; write it in that encoding",
    }
    lists = pa.ListArray.from_arrays([0, 1, 3, 3], raw(b"tea", b"t\xff", None).cast(kind))
    rows, rejects = subscriptions(id=[1, 2, 3], keywords=lists)
    assert rows.labels.to_pylist() == [1]
    assert list(reasons_of(rejects)) == ["2", "3"]


@pytest.mark.parametrize("ids", [pa.int8(), pa.int32(), pa.int64(), pa.string(), pa.large_string()])
def test_labels_have_one_of_two_types(ids):
    rows, _ = subscriptions(id=pa.array([1, 2]).cast(ids), keywords=["tea", "tea"])
    wanted = pa.int64() if pa.types.is_integer(ids) else pa.large_string()
    assert rows.labels.type == wanted
    assert rows.labels.to_pylist() == ([1, 2] if wanted == pa.int64() else ["1", "2"])


def test_positions_stay_with_their_rows():
    rows, _ = messages(
        id=[1, 2, 3],
        text=["a", None, "c"],
        lon=[0.0, 0.0, 0.0],
        lat=[0.0, 0.0, 0.0],
        **{POSITION: [30, 20, 10]},
    )
    assert rows.position.tolist() == [30, 10]
    assert rows.take(np.array([1])).position.tolist() == [10]
    assert rows.take(np.array([1])).labels.to_pylist() == [3]


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_nothing_is_read_from_nothing(kind):
    none = pa.array([], kind)
    rows, rejects = subscriptions(id=none, keywords=pa.array([], pa.string()))
    assert len(rows) == len(rejects) == len(rows.batch) == 0
    all_bad, rejects = subscriptions(id=pa.array([None], kind), keywords=["tea"])
    assert len(all_bad) == 0
    assert rejects["reason"].to_pylist() == ["id is null; every row needs an id"]


@st.composite
def subscription_tables(draw):
    size = draw(st.integers(0, 6))

    def column(values):
        return draw(st.lists(values, min_size=size, max_size=size))

    ids = column(draw(st.sampled_from([st.none() | INT64, st.none() | STRINGS])))
    number = st.one_of(st.none(), st.sampled_from([-180.0, 0.0, 10.0, 180.0, 181.0, nan]))
    box = {name: column(number) for name in ("west", "south", "east", "north")}
    table = pa.table(
        {
            "id": pa.array(
                ids, pa.string() if any(isinstance(i, str) for i in ids) else pa.int64()
            ),
            "keywords": pa.array(column(st.none() | expression_texts()), pa.string()),
            **{name: pa.array(values, pa.float64()) for name, values in box.items()},
            "region": pa.array(column(st.sampled_from([None, CIRCLE, "{}"])), pa.string()),
        }
    )
    cut = draw(st.integers(0, size))
    return pa.concat_tables([table.slice(0, cut), table.slice(cut)])


def made(row):
    """The subscription of a row by the model alone; None where it is refused."""
    box = [row[name] for name in ("west", "south", "east", "north")]
    try:
        if row["id"] is None or (row["region"] and any(value is not None for value in box)):
            return None
        region = Circle(Point(0, 0), 1000) if row["region"] == CIRCLE else None
        if row["region"] == "{}":
            return None
        if any(value is not None for value in box):
            region = Box(*box)
        keywords = ANY if row["keywords"] is None else row["keywords"]
        return Subscription(row["id"], keywords, region)
    except (ValueError, TypeError):
        return None


@given(subscription_tables())
def test_a_row_is_read_or_refused_as_the_model_does(table):
    plain = table.to_pylist()
    rows, rejects = read_subscriptions(table, EARTH)
    expected = [made(row) for row in plain]
    good = [each for each in expected if each is not None]
    assert rows.labels.to_pylist() == [each.id for each in good]
    for row, each in enumerate(good):
        found = rows.batch.subscription(row)
        assert (found.expression, found.region) == (each.expression, each.region)
    refused = [row["id"] for row, each in zip(plain, expected, strict=True) if each is None]
    assert rejects["id"].to_pylist() == [None if id_ is None else str(id_) for id_ in refused]
    assert all(rejects["reason"].to_pylist())


@given(st.lists(st.lists(texts(), max_size=4), min_size=1, max_size=4))
def test_joined_messages_are_all_messages(parts):
    read = [
        messages(
            id=pa.array([f"{part}-{row}" for row in range(len(words))], pa.string()),
            text=pa.array(words, pa.string()),
            lon=pa.array([1.0] * len(words)),
            lat=pa.array([2.0] * len(words)),
        )[0]
        for part, words in enumerate(parts)
    ]
    joined = joined_messages(read)
    expected = [
        Message("", text=text, at=Point(1, 2)).keywords for words in parts for text in words
    ]
    assert [joined.batch.message(row).keywords for row in range(len(joined))] == expected
    assert joined.batch.ids.to_pylist() == list(range(len(joined)))
    assert len(set(joined.labels.to_pylist())) == len(joined)


def test_joined_subscriptions_number_their_rows_anew():
    one, _ = subscriptions(id=["a"], keywords=["tea"])
    two, _ = subscriptions(id=["a", "b"], keywords=["cake", "tea jam"])
    joined = joined_subscriptions([one, two])
    assert joined.labels.to_pylist() == ["a", "a", "b"]
    assert joined.batch.ids.to_pylist() == [0, 1, 2]
    assert str(joined.batch.subscription(2).expression) == "jam AND tea"
