"""Every bad row is refused with its number, its id, the value and the rule; none is dropped."""

import json
import pickle
from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest

from nearcast.batches import BadRows, MessageBatch, SubscriptionBatch
from nearcast.model import Space

BOX = {"west": 0.0, "south": 0.0, "east": 1.0, "north": 1.0}
SUBSCRIPTION = {"id": "cafe", "keywords": "tea", **BOX}
MESSAGE = {"id": "cafe", "text": "tea", "lon": 0.0, "lat": 0.0, "time": 0.0, "expires": None}
RANGE_MESSAGE = {"id": "cafe", "keywords": ["tea"], **BOX}


def table_with(good, changes):
    """Four rows, the third of which has the changes; a column that has no type gets its own."""
    types = (
        {"keywords": pa.list_(pa.string()) if isinstance(good["keywords"], list) else pa.string()}
        if "keywords" in good
        else {}
    )
    types |= {name: pa.float64() for name in good if name not in ("id", "keywords", "text")}
    rows = [{**good, "id": f"good {number}"} for number in range(4)]
    rows[2] = {**good, **changes}
    return pa.table(
        {name: pa.array([row[name] for row in rows], types.get(name, pa.string())) for name in good}
    )


PLACES = [
    ({"west": nan}, "longitude nan is not finite"),
    ({"north": inf}, "latitude inf is not finite"),
    ({"south": -inf}, "latitude -inf is not finite"),
    ({"north": 95.2}, "latitude 95.2 is outside [-90, 90]; did you swap"),
    ({"south": -90.5}, "latitude -90.5 is outside [-90, 90]"),
    ({"east": 181.0}, "longitude 181.0 is outside [-180, 180]"),
    ({"south": 2.0}, "box south 2.0 is beyond north 1.0"),
]
BAD_SUBSCRIPTIONS = [
    *PLACES,
    ({"east": None}, "east is null; give all of west, south, east, north, or none"),
    ({"west": None, "north": None}, "west, north is null"),
    ({"keywords": ""}, "column 1: there is no word"),
    ({"keywords": "tea AND (bag OR"}, "column 16: a word is missing"),
    ({"keywords": "!!!"}, "'!!!' has no letter or digit"),
    ({"keywords": "NOT tea"}, "needs no word"),
    ({"keywords": "tea AND NOT tea"}, "no message can satisfy this"),
    ({"keywords": " AND ".join(f"(a{i} OR b{i})" for i in range(40))}, "more than 1024"),
    ({"keywords": None, "west": None, "south": None, "east": None, "north": None},
     "any keywords everywhere is every message"),
]  # fmt: skip
BAD_MESSAGES = [
    ({"lat": 95.2}, "latitude 95.2 is outside [-90, 90]; did you swap"),
    ({"lon": nan}, "longitude nan is not finite"),
    ({"lon": None}, "lon is null"),
    ({"text": None}, "text is null"),
    ({"time": nan}, "time nan is not finite"),
    ({"time": -inf}, "time -inf is not finite"),
    ({"time": None}, "time is null"),
    ({"expires": nan}, "expires is NaN"),
    ({"expires": inf}, "expires inf is not finite"),
    ({"time": 5.0, "expires": 4.0}, "expires 4.0 is before time 5.0"),
]
BAD_RANGE_MESSAGES = [
    *PLACES,
    ({"south": None}, "south is null"),
    ({"keywords": None}, "keywords is null"),
    ({"keywords": ["tea", None]}, "a keyword is null"),
]
CASES = [
    *((SubscriptionBatch, SUBSCRIPTION, *case) for case in BAD_SUBSCRIPTIONS),
    *((MessageBatch, MESSAGE, *case) for case in BAD_MESSAGES),
    *((MessageBatch, RANGE_MESSAGE, *case) for case in BAD_RANGE_MESSAGES),
]


@pytest.mark.parametrize(("batch", "good", "changes", "problem"), CASES)
def test_one_bad_row(batch, good, changes, problem):
    table = table_with(good, changes)
    with pytest.raises(BadRows) as error:
        batch.from_arrow(table)
    kind = "message" if batch is MessageBatch else "subscription"
    assert str(error.value).startswith(f"row 2, {kind} 'cafe': ")
    assert problem in str(error.value)
    [(row, reason)] = error.value.rejects
    assert row == 2
    assert problem in reason
    rest = batch.from_arrow(table.take([0, 1, 3]))
    assert rest.ids.to_pylist() == ["good 0", "good 1", "good 3"]


def everywhere(**columns):
    n = len(next(iter(columns.values())))
    return pa.table({"id": range(n), "keywords": ["tea"] * n} | columns)


def here(**columns):
    n = len(next(iter(columns.values())))
    return pa.table({"id": range(n), "text": ["tea"] * n, "lon": [0] * n, "lat": [0] * n} | columns)


LOADERS = [(SubscriptionBatch, everywhere), (MessageBatch, here)]


@pytest.mark.parametrize(("batch", "table"), LOADERS)
class TestBoth:
    def test_null_ids(self, batch, table):
        for ids in (["a", None], [1, None], pa.array([1, None], pa.uint64())):
            with pytest.raises(BadRows, match=r"row 1, .* None: id is null"):
                batch.from_arrow(table(id=ids))
        with pytest.raises(BadRows, match="2 bad rows"):
            batch.from_arrow(table(id=pa.nulls(2)))

    def test_duplicate_ids(self, batch, table):
        for ids in (["a", "b", "a", "a"], [7, 3, 7, 7], pa.array([7, 3, 7, 7], pa.uint8())):
            with pytest.raises(BadRows, match=r"row 2, .*: id .* is that of row 0 too") as error:
                batch.from_arrow(table(id=ids))
            assert [row for row, _ in error.value.rejects] == [2, 3]

    def test_duplicate_ids_beside_null_ones(self, batch, table):
        with pytest.raises(BadRows, match="3 bad rows") as error:
            batch.from_arrow(table(id=[None, 5, None, 5]))
        assert [row for row, _ in error.value.rejects] == [0, 2, 3]
        assert "id 5 is that of row 1 too" in error.value.rejects[2][1]

    def test_integers_beyond_64_bits(self, batch, table):
        with pytest.raises(BadRows, match="id 9223372036854775808 is beyond 9223372036854775807"):
            batch.from_arrow(table(id=pa.array([1, 2**63, 2], pa.uint64())))

    def test_ids_of_other_types(self, batch, table):
        for ids in ([1.0], [True], [b"a"], pa.array([1], pa.timestamp("s"))):
            with pytest.raises(TypeError, match=r"column 'id' has type .* integers or strings"):
                batch.from_arrow(table(id=ids))

    def test_unknown_columns(self, batch, table):
        with pytest.raises(
            ValueError, match=r"unknown column 'latitude', 'x'; .* the columns id, "
        ):
            batch.from_arrow(table(latitude=[1], x=[2]))

    def test_a_column_twice(self, batch, table):
        one = table(id=[1])
        with pytest.raises(ValueError, match="column 'id' is there more than once"):
            batch.from_arrow(one.append_column("id", [[2]]))

    def test_missing_columns(self, batch, table):
        one = table(id=[1])
        for name in one.column_names:
            with pytest.raises(ValueError, match=f"{name}.* (is missing|add)"):
                batch.from_arrow(one.drop_columns(name))

    def test_not_a_table(self, batch, table):
        for other in ([{"id": 1}], {"id": [1]}, table(id=[1])["id"], None):
            with pytest.raises(TypeError, match="must be a pyarrow Table or RecordBatch"):
                batch.from_arrow(other)

    def test_not_unicode(self, batch, table):
        broken = pa.Array.from_buffers(
            pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
        )
        with pytest.raises(ValueError, match="UTF8"):
            batch.from_arrow(table(id=broken))

    def test_all_bad_rows_are_told(self, batch, table):
        n = 1000
        bad = {"lat": [95.0] * n} if batch is MessageBatch else {"keywords": ["tea ("] * n}
        with pytest.raises(BadRows) as error:
            batch.from_arrow(table(**bad))
        assert [row for row, _ in error.value.rejects] == list(range(n))
        lines = str(error.value).splitlines()
        assert lines[0] == "1000 bad rows"
        assert lines[-1] == "... and 995 more, see .rejects"
        again = pickle.loads(pickle.dumps(error.value))
        assert str(again) == str(error.value)
        assert again.rejects == error.value.rejects


def test_several_reasons_of_one_row():
    table = pa.table(
        {"id": [None, "b", "b"], "keywords": ["tea (", "tea", None], "west": [0.0, 0, None],
         "south": [0.0, 0, None], "east": [1.0, 1, None], "north": [99.0, 1, None]}
    )  # fmt: skip
    with pytest.raises(BadRows, match="2 bad rows") as error:
        SubscriptionBatch.from_arrow(table)
    (first, reasons), (last, other_reasons) = error.value.rejects
    assert (first, last) == (0, 2)
    for part in ("id is null", "a word is missing", "latitude 99.0"):
        assert part in reasons
    assert "id 'b' is that of row 1 too" in other_reasons


def test_messages_with_several_bad_columns():
    table = here(id=[1, 1, 2], text=["tea", "tea", None], lat=[0.0, 91.0, nan], time=[0, 1, None])
    with pytest.raises(BadRows, match="2 bad rows") as error:
        MessageBatch.from_arrow(table)
    assert [row for row, _ in error.value.rejects] == [1, 2]
    assert "id 1 is that of row 0 too" in error.value.rejects[0][1]


def test_plane_rules():
    far = {"lon": [5000.0, 1e61], "lat": [-7000.0, 0.0]}
    with pytest.raises(BadRows, match="row 1, message 1: x 1e\\+61 is outside"):
        MessageBatch.from_arrow(here(**far), space=Space.PLANE)
    crossing = {"west": [3.0], "south": [0.0], "east": [1.0], "north": [1.0]}
    with pytest.raises(BadRows, match="in the plane west must be <= east"):
        SubscriptionBatch.from_arrow(everywhere(**crossing), space=Space.PLANE)
    assert len(SubscriptionBatch.from_arrow(everywhere(**crossing))) == 1


def test_lists_of_keywords():
    with pytest.raises(BadRows, match="4 bad rows") as error:
        SubscriptionBatch.from_arrow(
            everywhere(keywords=[["tea"], [], ["!!!"], ["tea", None], ["tea", ""]])
        )
    reasons = dict(error.value.rejects)
    assert "no keywords" in reasons[1]
    assert "keyword '!!!' has no letter or digit" in reasons[2]
    assert "keyword None is not a string" in reasons[3]
    assert "keyword '' has no letter or digit" in reasons[4]


def test_regions():
    triangle = {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [0, 3], [0, 0]]]}
    far = {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [0, 93], [0, 0]]]}
    texts = [json.dumps(triangle), "{", json.dumps(far), '{"type": "MultiPolygon"}', None]
    with pytest.raises(BadRows, match="3 bad rows") as error:
        SubscriptionBatch.from_arrow(everywhere(region=texts))
    reasons = dict(error.value.rejects)
    assert "not GeoJSON" in reasons[1]
    assert "latitude 93.0 is outside" in reasons[2]
    assert "'MultiPolygon' is not a region" in reasons[3]
    with pytest.raises(BadRows, match="row 0, subscription 0: region is not WKB"):
        SubscriptionBatch.from_arrow(everywhere(region=[b"\x01\x02", None]))


def test_columns_that_exclude_each_other():
    boxes = {name: [0] for name in ("west", "south", "east", "north")}
    with pytest.raises(ValueError, match=r"west, south, east, north or region: .* both"):
        SubscriptionBatch.from_arrow(everywhere(region=["{}"], **boxes))
    with pytest.raises(ValueError, match=r"lon, lat or west, south, east, north: .* both"):
        MessageBatch.from_arrow(here(**boxes))
    with pytest.raises(ValueError, match=r"text or keywords: .* both"):
        MessageBatch.from_arrow(here(keywords=[["tea"]]))
    with pytest.raises(ValueError, match="column 'north' is missing"):
        SubscriptionBatch.from_arrow(everywhere(**boxes).drop_columns("north"))


def test_columns_of_other_types():
    wrong = [
        (everywhere(keywords=[1]), "column 'keywords' has type int64; it must be string or list"),
        (everywhere(keywords=[[1]]), r"column 'keywords' .* it must be list<string>"),
        (everywhere(region=[1.5]), "column 'region' has type double; it must be .* GeoJSON"),
        (everywhere(west=["0"], south=[0], east=[0], north=[0]), "column 'west' .* a number"),
        (here(lat=["95"]), "column 'lat' has type string; it must be a number"),
        (here(lat=[True]), "column 'lat' has type bool; it must be a number"),
        (here(text=[7]), "column 'text' has type int64; it must be string"),
        (here(text=[b"tea"]), "column 'text' has type binary; it must be string"),
        (here(time=pa.array([0], pa.timestamp("s"))), "column 'time' has type timestamp"),
        (here(expires=["soon"]), "column 'expires' has type string; it must be a number"),
        (here(id=[1]).drop_columns("text").append_column("keywords", [["tea"]]),
         "column 'keywords' has type string; it must be list<string>"),
    ]  # fmt: skip
    for table, problem in wrong:
        batch = MessageBatch if "lon" in table.column_names else SubscriptionBatch
        with pytest.raises(TypeError, match=problem):
            batch.from_arrow(table)
