"""CSV, JSON Lines and GeoJSON as rows, without Spark."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearcast.model import Space
from nearcast.pipeline import rows
from nearcast.pipeline.files import feature_records, json_records
from nearcast.pipeline.files.formats import DataFile, UnreadableFile, data_files
from nearcast.pipeline.files.json_records import json_parts
from nearcast.pipeline.files.tables import id_type_of, parts_of, read_part


def read(path, side):
    """All rows of a file, as dictionaries of what is not null."""
    parts = parts_of(data_files(path), side)
    id_type = id_type_of(parts, side)
    batches = [batch for part in parts for batch in read_part(part, side, id_type)]
    return [
        {name: value for name, value in row.items() if value is not None}
        for batch in batches
        for row in batch.to_pylist()
    ]


def problems(path, side):
    return [(row.get("id"), row["_problem"]) for row in read(path, side) if "_problem" in row]


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


# ---------------------------------------------------------------- CSV


def test_csv_cells_may_hold_commas_quotes_and_line_ends(file):
    path = file(
        "a.csv", 'id,text,lon,lat\r\n007,"tea, ""hot""\nand cake",2.5,48\r\n8,café,-.5,1e1\r\n'
    )
    assert read(path, "message") == [
        {"id": "007", "text": 'tea, "hot"\nand cake', "lon": 2.5, "lat": 48.0, "time": 0.0},
        {"id": "8", "text": "café", "lon": -0.5, "lat": 10.0, "time": 0.0},
    ]


def test_csv_with_a_byte_order_mark_other_columns_and_spaces_in_the_header(file):
    path = file("a.csv", b"\xef\xbb\xbfid, keywords ,note\n1,tea OR cake,x\n\n2,,\n")
    assert read(path, "subscription") == [{"id": "1", "keywords": "tea OR cake"}, {"id": "2"}]


def test_an_empty_text_is_a_message_without_words_and_other_empty_cells_are_null(file):
    path = file("a.csv", "id,text,lon,lat,time,expires\n1,,2,3,,\n,tea,2,3,5,9\n")
    assert read(path, "message") == [
        {"id": "1", "text": "", "lon": 2.0, "lat": 3.0, "time": 0.0},
        {"text": "tea", "lon": 2.0, "lat": 3.0, "time": 5.0, "expires": 9.0},
    ]


def test_words_of_a_csv_message_may_be_in_the_column_keywords(file):
    path = file("a.csv", "id,keywords,west,south,east,north\n1,hot tea,1,2,3,4\n")
    assert read(path, "message") == [
        {
            "id": "1",
            "text": "hot tea",
            "west": 1.0,
            "south": 2.0,
            "east": 3.0,
            "north": 4.0,
            "time": 0.0,
        }
    ]


@pytest.mark.parametrize("cell", ["north", "1_000", "0x10", "1,5", "--1", "1e", "1 2", "١"])
def test_a_cell_that_is_no_number_is_a_problem_with_its_line_and_value(cell, file):
    path = file("a.csv", f'id,text,lon,lat\n1,"two\nlines",2,3\n7,tea,2,"{cell}"\n')
    reason = f"a.csv, line 4: lat {cell!r} is not a number; write one such as 2.35"
    assert problems(path, "message") == [("7", reason)]


@pytest.mark.parametrize("cell", ["nan", "inf", "-Inf", "1e999"])
def test_a_number_that_is_not_finite_is_refused_by_the_rules_for_all_rows(cell, file):
    path = file("a.csv", f"id,text,lon,lat\n1,tea,2,{cell}\n")
    parts = parts_of(data_files(path), "message")
    [batch] = read_part(parts[0], "message", pa.string())
    _, rejects = rows.read_messages(pa.Table.from_batches([batch]), Space.EARTH)
    assert "is not finite" in rejects["reason"][0].as_py()


def test_a_row_with_too_few_or_too_many_cells_is_a_problem(file):
    path = file("a.csv", "id,text,lon,lat\n1,tea,2\n2,tea, hot,2,3\n3,tea,2,3\n")
    assert problems(path, "message") == [
        (
            None,
            "a.csv, line 2: 3 cells, but the header has 4; put quotes around a cell with a comma",
        ),
        (
            None,
            "a.csv, line 3: 5 cells, but the header has 4; put quotes around a cell with a comma",
        ),
    ]
    assert len(read(path, "message")) == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("id,lon,lat\n1,2,3\n", "has no column text or keywords, only id, lon, lat"),
        ("name,text\n1,tea\n", "has no column id, only name, text"),
        ("\n", "has no column id"),
        (b"\xef\xbb\xbf", "has no column id"),
        ("id,text,keywords,lon,lat\n", "has both columns text and keywords; remove one"),
        ("id,text,lon,lon\n", "has the column lon twice"),
        ('id,text\n1,"tea\n2,cake\n', "line 2: unexpected end of data"),
        ('id,text\n1,"tea"s\n', "line 2: ',' expected after '\"'"),
        (b"id,text\n1,caf\xe9\n", "is not UTF-8"),
    ],
)
def test_a_csv_file_that_cannot_be_read_says_why(content, reason, file):
    path = file("a.csv", content)
    with pytest.raises(UnreadableFile, match=r"a\.csv") as raised:
        read(path, "message")
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_region_may_be_longer_than_the_csv_module_expects(file):
    region = json.dumps({"type": "Polygon", "coordinates": [[[i / 7, 1.0] for i in range(20_000)]]})
    out = io.StringIO()
    csv.writer(out).writerows([["id", "keywords", "region"], ["a", "tea", region]])
    [row] = read(file("a.csv", out.getvalue()), "subscription")
    assert row["region"] == region


unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(table=st.lists(st.tuples(unicode, unicode), max_size=8), packed=st.booleans())
def test_csv_gives_back_what_was_written(table, packed, tmp_path_factory):
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "text", "lon", "lat"])
    writer.writerows([id, text, "1", "2"] for id, text in table)
    data = out.getvalue().encode()
    path = tmp_path_factory.mktemp("csv") / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert [(row.get("id", ""), row["text"]) for row in read(path, "message")] == table


# ---------------------------------------------------------------- JSON Lines


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_json_lines_with_expressions_lists_and_regions_of_both_kinds(file):
    box = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}
    path = file(
        "a.jsonl",
        lines(
            {"id": 1, "keywords": "tea OR cake", "region": box, "other": [1]},
            {"id": 2, "keywords": ["Wi-Fi", "or"], "region": json.dumps(box)},
            {"id": 3, "west": 1, "south": 2.5, "east": 3, "north": 4},
            {"id": 4, "keywords": None, "region": None},
        ),
    )
    assert read(path, "subscription") == [
        {"id": 1, "keywords": "tea OR cake", "region": json.dumps(box)},
        {"id": 2, "keywords": 'fi AND "or" AND wi', "region": json.dumps(box)},
        {"id": 3, "west": 1.0, "south": 2.5, "east": 3.0, "north": 4.0},
        {"id": 4},
    ]


def test_messages_with_text_or_words_at_points_or_boxes(file):
    box = {"west": 170, "south": -1, "east": -170, "north": 1}
    path = file(
        "a.ndjson",
        lines(
            {"id": "a", "text": "hot tea", "lon": 1, "lat": 2, "time": 5, "expires": 6.5},
            {"id": "b", "keywords": ["hot tea", "new-york"], **box},
            {"id": "c", "keywords": [], "lon": None, "lat": 2},
        ),
    )
    assert read(path, "message") == [
        {"id": "a", "text": "hot tea", "lon": 1.0, "lat": 2.0, "time": 5.0, "expires": 6.5},
        {
            "id": "b",
            "text": "hot tea new-york",
            "time": 0.0,
            **{k: float(v) for k, v in box.items()},
        },
        {"id": "c", "text": "", "lat": 2.0, "time": 0.0},
    ]


@pytest.mark.parametrize(
    ("line", "id", "reason"),
    [
        ("{", None, "not JSON: Expecting property name"),
        ('"tea"', None, "not a JSON object, but '\"tea\"'; write one object a line"),
        ("[" * 100_000, None, "not JSON: maximum recursion depth"),
        (b'{"id": "caf\xe9"}', None, "not JSON: 'utf-8' codec"),
        ('{"id": true}', None, "message id True is neither a string nor an integer"),
        ('{"id": 1.5}', None, "message id 1.5 is neither"),
        ('{"id": [1]}', None, "message id [1] is neither"),
        ('{"id": 9}', None, "id 9 is not a string like the first one"),
        ('{"id": "\\ud800"}', None, "remove the lone surrogate"),
        ('{"id": "x", "text": "\\ud800"}', "x", "remove the lone surrogate"),
        ('{"id": "x", "text": 7}', "x", "text 7 is not a string"),
        ('{"id": "x", "keywords": ["a", null]}', "x", "keyword None is not a string"),
        ('{"id": "x", "text": "a", "keywords": ["a"]}', "x", "are both given"),
        ('{"id": "x", "text": "a", "lon": "2.5"}', "x", "lon '2.5' is not a number"),
        ('{"id": "x", "text": "a", "lon": true}', "x", "lon True is not a number"),
        ('{"id": "x", "text": "a", "time": {}}', "x", "time {} is not a number"),
        (f'{{"id": "x", "text": "a", "lat": 1{"0" * 400}}}', "x", "is not finite"),
    ],
)
def test_a_line_that_is_no_message_is_a_problem(line, id, reason, file):
    line = line if isinstance(line, bytes) else line.encode()
    good = b'{"id": "good", "text": "tea", "lon": 1, "lat": 2}\r\n\n'
    path = file("a.jsonl", good + line + b"\n" + good)
    [(found_id, problem)] = problems(path, "message")
    assert found_id == id
    assert problem.startswith("a.jsonl, line 3: ")
    assert reason in problem
    assert len(read(path, "message")) == 3


@pytest.mark.parametrize(
    ("keywords", "reason"),
    [
        ([], "there are no keywords"),
        (["!!!"], "keyword '!!!' has no letter or digit"),
        ([3], "keyword 3 is not a string"),
        (3, "keywords 3 is not a string"),
    ],
)
def test_keywords_that_are_no_words_are_a_problem(keywords, reason, file):
    path = file("a.jsonl", lines({"id": 1, "keywords": keywords}))
    [(id, problem)] = problems(path, "subscription")
    assert id == 1
    assert reason in problem


def test_a_region_that_is_neither_object_nor_text_is_a_problem(file):
    path = file("a.jsonl", lines({"id": 1, "keywords": "tea", "region": [1, 2]}))
    assert "region [1, 2] is not a string" in problems(path, "subscription")[0][1]


def test_ids_have_the_type_of_the_first_one(file):
    path = file(
        "a.jsonl", lines({"id": None}, {"text": "x"}, {"id": 7}, {"id": "8"}, {"id": 2**63})
    )
    parts = parts_of(data_files(path), "message")
    assert id_type_of(parts, "message") == pa.int64()
    [one, two] = problems(path, "message")
    assert "id '8' is not an integer like the first one" in one[1]
    assert "does not fit into 64 bits" in two[1]


@given(
    records=st.lists(st.dictionaries(st.just("text"), unicode, min_size=1), max_size=30),
    part_bytes=st.integers(1, 200),
    ending=st.sampled_from(["", "\n", "\r\n\r\n"]),
)
def test_parts_of_a_file_hold_all_lines_once_and_know_their_numbers(
    records, part_bytes, ending, tmp_path_factory
):
    texts = [json.dumps(record) for record in records]
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_text("\n".join(texts) + ending)
    parts = list(json_parts(DataFile(path, "jsonl"), part_bytes))
    found = [each for part in parts for each in json_records.json_records(part)]
    assert [each.record for each in found] == records
    assert [each.number for each in found] == list(range(1, len(records) + 1))


def test_a_packed_file_and_one_with_a_byte_order_mark(file):
    data = lines({"id": 1, "text": "tea"}, {"id": 2, "text": "cake"}).encode()
    expected = [{"id": 1, "text": "tea", "time": 0.0}, {"id": 2, "text": "cake", "time": 0.0}]
    assert read(file("a.jsonl.gz", gzip.compress(data)), "message") == expected
    assert read(file("b.jsonl", b"\xef\xbb\xbf" + data), "message") == expected


@pytest.mark.parametrize(
    "broken", [b"no gzip", gzip.compress(b'{"id": 1}\n' * 1000)[:-20]], ids=["other", "cut off"]
)
def test_a_broken_packed_file_cannot_be_read(broken, file):
    with pytest.raises(UnreadableFile, match=r"a\.jsonl\.gz cannot be read: "):
        read(file("a.jsonl.gz", broken), "message")


# ---------------------------------------------------------------- GeoJSON

SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]]]}


def feature(geometry, id=None, **properties):
    made = {"type": "Feature", "geometry": geometry, "properties": properties}
    return made if id is None else {**made, "id": id}


def collection(*features, **others):
    return json.dumps({"type": "FeatureCollection", "features": features, **others}, indent=1)


def test_features_are_subscriptions(file):
    point = {"type": "Point", "coordinates": [2, 48]}
    path = file(
        "a.geojson",
        collection(
            feature(SQUARE, id=1, keywords="tea OR cake", colour="red"),
            feature(None, id=2, keywords=["tea", "hot"]),
            feature(point, radius=500, keywords="tea", **{"id": 3}),
            {"type": "Feature", "geometry": SQUARE, "properties": None, "id": 4},
            {**feature(None, id=5), "bbox": [170, 0, -170, 1]},
        ),
    )
    circle = {"type": "Feature", "geometry": point, "properties": {"radius": 500}}
    assert read(path, "subscription") == [
        {"id": 1, "keywords": "tea OR cake", "region": json.dumps(SQUARE)},
        {"id": 2, "keywords": "hot AND tea"},
        {"id": 3, "keywords": "tea", "region": json.dumps(circle)},
        {"id": 4, "region": json.dumps(SQUARE)},
        {"id": 5, "west": 170.0, "south": 0.0, "east": -170.0, "north": 1.0},
    ]


def test_features_are_messages_at_points_and_boxes(file):
    around = [[2, 1], [2, 0], [0, 0], [0, 1]]  # the other way round, from another corner, open
    box = {"west": 0.0, "south": 0.0, "east": 2.0, "north": 1.0}
    path = file(
        "a.geojson",
        collection(
            feature({"type": "Point", "coordinates": [2.5, 48, 130]}, id="a", text="tea", time=7),
            feature(SQUARE, id="b", text="tea", expires=9),
            feature({"type": "Polygon", "coordinates": [around]}, id="c", keywords=["tea"]),
            {**feature(None, id="d", text=""), "bbox": [170, 0, -170, 1]},
        ),
    )
    assert read(path, "message") == [
        {"id": "a", "text": "tea", "lon": 2.5, "lat": 48.0, "time": 7.0},
        {"id": "b", "text": "tea", "time": 0.0, "expires": 9.0, **box},
        {"id": "c", "text": "tea", "time": 0.0, **box},
        {"id": "d", "text": "", "time": 0.0, "west": 170, "south": 0, "east": -170, "north": 1},
    ]


TRIANGLE = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [0, 1], [0, 0]]]}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (feature(TRIANGLE, id="x"), "not at a Polygon like this; give a Point with 2 coordinates"),
        (feature({"type": "LineString", "coordinates": []}, id="x"), "not at a LineString"),
        (feature({"type": "Polygon", "coordinates": []}, id="x"), "not at a Polygon"),
        (feature({"type": "Polygon", "coordinates": [[]]}, id="x"), "not at a Polygon"),
        (feature({"type": "Polygon", "coordinates": [[["a", 1]]]}, id="x"), "not at a Polygon"),
        (feature({"type": "Polygon"}, id="x"), "not at a Polygon"),
        (feature({"type": "Point", "coordinates": [1]}, id="x"), "not at a Point"),
        (feature({"type": "Point", "coordinates": "12"}, id="x"), "not at a Point"),
        (feature(None, id="x"), "not at a missing geometry"),
        (feature("Point", id="x"), "geometry 'Point' is not a GeoJSON geometry"),
        ({**feature(None, id="x"), "bbox": [1, 2, 3]}, "bbox [1, 2, 3] is not west, south, east"),
        (feature({"type": "Point", "coordinates": ["a", 1]}, id="x"), "lon 'a' is not a number"),
    ],
)
def test_a_feature_that_is_at_no_place_is_a_problem(made, reason, file):
    path = file("a.geojson", collection(feature(SQUARE, id="good", text="tea"), made))
    [(id, problem)] = problems(path, "message")
    assert id == "x"
    assert problem.startswith("a.geojson, feature 2: ")
    assert reason in problem


@pytest.mark.parametrize("made", [SQUARE, 7, None, [feature(SQUARE)]])
def test_what_is_no_feature_is_a_problem(made, file):
    [(id, problem)] = problems(file("a.geojson", collection(made)), "message")
    assert id is None
    assert "is not a Feature; a FeatureCollection is a list of Features" in problem


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[]", "expected '{', found '['"),
        ("{}", "it has no list 'features'"),
        (json.dumps(feature(SQUARE)), "it has no list 'features'; wrap a single feature in one"),
        ('{"features": {}}', "expected '[', found '{'"),
        ('{"features": [1 2]}', "expected ',', found '2'"),
        ('{"features": [1,]}', "Expecting value at ']}'"),
        ('{"features": [{"a": tea}]}', "Expecting value at 'tea}]}'"),
        ('{"features": [{"a": 1}', "expected ',', found 'the end'"),
        ('{"features": [{"a": 1', "at 'the end'"),
        ('{"features": []} x', "there is more after its end, 'x'"),
        (b'{"features": ["caf\xe9"]}', "'utf-8' codec can't decode"),
    ],
)
def test_a_broken_collection_cannot_be_read_and_says_why(content, reason, file):
    path = file("a.geojson", content)
    with pytest.raises(UnreadableFile, match=r"a\.geojson is not a GeoJSON FeatureColl") as raised:
        read(path, "message")
    assert reason in str(raised.value)


def test_a_collection_without_features_has_no_rows(file):
    assert read(file("a.geojson", collection(name="none", crs={"a": [1, {}]})), "message") == []


@given(
    values=st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | unicode,
            lambda inner: st.lists(inner) | st.dictionaries(unicode, inner),
            max_leaves=5,
        ),
        max_size=6,
    ),
    before=unicode,
    chunk=st.integers(1, 9),
    indent=st.sampled_from([None, 1]),
)
def test_features_are_the_same_however_the_text_is_cut(values, before, chunk, indent):
    document = {f"_{before}": [before, {"features": 1}], "features": values, "after": 12}
    text = io.BytesIO(json.dumps(document, indent=indent, ensure_ascii=False).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feature_records, "_CHUNK", chunk)
        found = feature_records._Document(io.TextIOWrapper(text, encoding="utf-8"))
        assert list(found.features()) == values
