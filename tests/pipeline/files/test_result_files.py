import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from nearcast.pipeline.files.result_files import join_parts

ODD = ['a "quote"', "comma, line\nend", "", "Ørsted 東京", "\\ back", "\x01"]


def parts_of(tmp_path, *tables):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"part-{number:05}.parquet")
    return folder


@pytest.fixture
def pairs(tmp_path):
    first = pa.table({"subscription_id": ODD, "message_id": list(range(len(ODD)))})
    second = pa.table({"subscription_id": ["z"], "message_id": [-(2**63)]})
    return parts_of(tmp_path, first, first.slice(0, 0), second), [
        *zip(ODD, range(len(ODD)), strict=True),
        ("z", -(2**63)),
    ]


def rows(table):
    return [(row["subscription_id"], row["message_id"]) for row in table.to_pylist()]


def test_parquet_and_csv_hold_all_rows_of_all_parts(pairs, tmp_path):
    parts, expected = pairs
    join_parts(parts, tmp_path / "out.parquet")
    assert rows(pq.read_table(tmp_path / "out.parquet")) == expected
    join_parts(parts, tmp_path / "out.csv")
    read = pa.csv.read_csv(
        tmp_path / "out.csv", parse_options=pa.csv.ParseOptions(newlines_in_values=True)
    )
    assert rows(read) == expected


def test_json_lines_are_json(pairs, tmp_path):
    parts, expected = pairs
    join_parts(parts, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().split("\n")
    assert lines.pop() == ""
    found = [json.loads(line) for line in lines]
    assert [(row["subscription_id"], row["message_id"]) for row in found] == expected
    assert lines[-1] == '{"subscription_id": "z", "message_id": -9223372036854775808}'


def test_null_is_null_in_json(tmp_path):
    parts = parts_of(tmp_path, pa.table({"id": ["a", None], "reason": ["x", "y"]}))
    join_parts(parts, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == (
        '{"id": "a", "reason": "x"}\n{"id": null, "reason": "y"}\n'
    )


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".geojson", ".parquet"])
def test_no_rows_are_a_file_too(suffix, tmp_path):
    empty = pa.table(
        {"subscription_id": pa.array([], pa.string()), "message_id": pa.array([], pa.int64())}
    )
    join_parts(parts_of(tmp_path, empty), tmp_path / f"out{suffix}")
    text = (tmp_path / f"out{suffix}").read_bytes()
    if suffix == ".csv":
        assert text == b'"subscription_id","message_id"\n'
    elif suffix == ".jsonl":
        assert text == b""
    elif suffix == ".geojson":
        assert json.loads(text) == {"type": "FeatureCollection", "features": []}
    else:
        assert pq.read_table(tmp_path / "out.parquet").equals(empty)


def test_geojson_has_points_boxes_and_boxes_across_the_antimeridian(tmp_path):
    table = pa.table(
        {
            "message_id": [1, 2, 3],
            "subscription_id": ['a"', "b", "c"],
            "lon": [2.5, None, None],
            "lat": [48.0, None, None],
            "west": [None, 0.0, 170.0],
            "south": [None, 0.0, -1.0],
            "east": [None, 2.0, -170.0],
            "north": [None, 1.0, 1.0],
        }
    )
    join_parts(parts_of(tmp_path, table), tmp_path / "out.geojson")
    features = json.loads((tmp_path / "out.geojson").read_text())["features"]
    assert [each["properties"] for each in features] == [
        {"subscription_id": 'a"', "message_id": 1},
        {"subscription_id": "b", "message_id": 2},
        {"subscription_id": "c", "message_id": 3},
    ]
    assert features[0]["geometry"] == {"type": "Point", "coordinates": [2.5, 48.0]}
    assert [each["geometry"]["type"] for each in features[1:]] == ["Polygon", "MultiPolygon"]
