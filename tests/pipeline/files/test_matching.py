"""`nearcast match`, in this process, on the session that all tests share."""

import gzip
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import ScanIndex
from nearcast.cli import main
from nearcast.pipeline.files.frames import read_messages, read_subscriptions


@pytest.fixture(autouse=True)
def session(spark):
    """The command takes the session there is."""
    return spark


@pytest.fixture(scope="module")
def city(tmp_path_factory):
    """Generated files in every format that the generator has, and the pairs that match."""
    folder = tmp_path_factory.mktemp("city")
    for suffix in ("csv", "jsonl", "parquet"):
        for kind, count in (("messages", 300), ("subscriptions", 200)):
            file = folder / f"{kind}.{suffix}"
            assert main(["generate", kind, "-n", str(count), "-o", str(file), "--json"]) == 0
    index = ScanIndex()
    index.insert_batch(
        SubscriptionBatch.from_arrow(pq.read_table(folder / "subscriptions.parquet"))
    )
    found = index.match_batch(MessageBatch.from_arrow(pq.read_table(folder / "messages.parquet")))
    return folder, as_pairs(found.to_arrow().to_pylist())


def as_pairs(rows):
    """Sorted as text, because CSV has strings as ids."""
    return sorted((row["subscription_id"], str(row["message_id"])) for row in rows)


def report(capsys, *arguments):
    capsys.readouterr()
    assert main(["match", *map(str, arguments), "--json"]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return json.loads(output.out)


def failure(capsys, *arguments):
    capsys.readouterr()
    assert main(["match", *map(str, arguments), "--json"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err


@pytest.mark.parametrize(
    ("subscriptions", "messages", "out", "partitioning"),
    [
        ("csv", "csv", "csv", "auto"),
        ("jsonl", "jsonl", "jsonl", "keyword"),
        ("parquet", "csv", "parquet", "location"),
        ("csv", "parquet", "jsonl", "hash"),
    ],
)
def test_the_matches_are_those_of_the_oracle(
    subscriptions, messages, out, partitioning, city, tmp_path, capsys
):
    folder, expected = city
    file = tmp_path / f"out.{out}"
    told = report(
        capsys,
        folder / f"subscriptions.{subscriptions}",
        folder / f"messages.{messages}",
        *("-o", file, "--partitioning", partitioning),
    )
    if out == "csv":
        rows = pa.csv.read_csv(file).to_pylist()
    elif out == "parquet":
        rows = pq.read_table(file).to_pylist()
    else:
        rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert as_pairs(rows) == expected
    assert told["matches"] == len(expected)
    assert (told["subscriptions"], told["messages"]) == (200, 300)
    assert (told["rejected_subscriptions"], told["rejected_messages"]) == (0, 0)
    counts = {}
    for id, _ in expected:
        counts[id] = counts.get(id, 0) + 1
    busiest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
    assert [(each["subscription_id"], each["matches"]) for each in told["busiest"]] == busiest
    assert told["partitioning"] in told["why"]
    assert list(tmp_path.iterdir()) == [file]


def test_parts_go_to_a_new_and_to_an_empty_folder(city, tmp_path, capsys):
    folder, expected = city
    inputs = folder / "subscriptions.parquet", folder / "messages.parquet"
    empty = tmp_path / "empty.csv"
    empty.mkdir()
    for given, out in ((f"{tmp_path}/new/", tmp_path / "new"), (empty, empty)):
        told = report(capsys, *inputs, "-o", given)
        assert told["file"] == str(out)
        assert as_pairs(pq.read_table(out).to_pylist()) == expected
    assert "has files in it; give a new or an empty one" in failure(capsys, *inputs, "-o", empty)


def test_folders_of_packed_files_and_formats_that_suffixes_do_not_tell(city, tmp_path, capsys):
    folder, expected = city
    messages = tmp_path / "messages"
    messages.mkdir()
    lines = (folder / "messages.jsonl").read_bytes().splitlines(keepends=True)
    (messages / "a.json").write_bytes(b"".join(lines[:100]))
    (messages / "b.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[100:])))
    (messages / "_SUCCESS").touch()
    told = report(
        capsys,
        folder / "subscriptions.csv",
        messages,
        *("-o", tmp_path / "out.parquet", "--format", "jsonl"),
    )
    rows = pq.read_table(tmp_path / "out.parquet")
    assert pa.types.is_int64(rows.schema.field("message_id").type)
    assert as_pairs(rows.to_pylist()) == expected
    assert told["messages"] == 300


def write_lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_geojson_in_and_out_and_every_reject_with_its_reason(tmp_path, capsys):
    subscriptions = tmp_path / "subscriptions.geojson"
    square = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}
    features = [
        {"type": "Feature", "id": "tea", "geometry": square, "properties": {"keywords": "tea"}},
        {"type": "Feature", "id": "all", "geometry": None, "properties": {"keywords": ["tea"]}},
        {"type": "Feature", "id": "odd", "geometry": None, "properties": {"keywords": "tea OR"}},
    ]
    subscriptions.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    messages = write_lines(
        tmp_path / "messages.jsonl",
        {"id": 1, "text": "hot tea", "lon": 1, "lat": 1},
        {"id": 2, "text": "tea", "west": 170, "south": 5, "east": -170, "north": 6},
        {"id": 3, "text": "tea", "lon": 1, "lat": 95.2},
        {"id": 4, "text": "tea", "lon": "1", "lat": 5},
        {"id": 4, "text": "cake", "lon": 1, "lat": 1},
    )
    out, rejects = tmp_path / "out.geojson", tmp_path / "rejects.jsonl"
    told = report(capsys, subscriptions, messages, "-o", out, "--rejects", rejects)
    found = {
        (each["properties"]["subscription_id"], each["properties"]["message_id"]): each["geometry"]
        for each in json.loads(out.read_text())["features"]
    }
    point = {"type": "Point", "coordinates": [1.0, 1.0]}
    assert set(found) == {("tea", 1), ("all", 1), ("all", 2)}
    assert found["tea", 1] == found["all", 1] == point
    assert found["all", 2]["type"] == "MultiPolygon"
    assert (told["rejected_subscriptions"], told["rejected_messages"]) == (1, 2)
    refused = [json.loads(line) for line in rejects.read_text().splitlines()]
    reasons = {(each["side"], each["id"]): each["reason"] for each in refused}
    assert set(reasons) == {("subscription", "odd"), ("message", "3"), ("message", "4")}
    assert "latitude 95.2 is outside [-90, 90]" in reasons["message", "3"]
    assert reasons["message", "4"].startswith("messages.jsonl, line 4: lon '1' is not a number")


def test_the_summary_is_for_people(tmp_path, capsys):
    subscriptions = write_lines(tmp_path / "s.jsonl", {"id": "anna", "keywords": "tea"}, {"id": 7})
    messages = write_lines(tmp_path / "m.jsonl", {"id": 1, "text": "Tea!", "lon": 1, "lat": 1})
    out = tmp_path / "out.csv"
    assert main(["match", str(subscriptions), str(messages), "-o", str(out)]) == 0
    output = capsys.readouterr()
    first, plan, *others = output.out.splitlines()
    assert first.startswith("1 matches of 2 subscriptions and 1 messages in ")
    assert first.endswith(f" s, written to {out}")
    assert plan.startswith("plan: ")
    assert others == [
        "busiest subscriptions:",
        "  1  anna",
        "rejected: 1 subscriptions and 0 messages; --rejects FILE writes them with reasons",
    ]
    assert output.err.splitlines()[:2] == ["starting Spark ...", "reading ..."]
    rejects = ["--rejects", str(tmp_path / "rejects.csv")]
    assert main(["match", str(subscriptions), str(messages), "-o", str(out), *rejects]) == 0
    assert f"; see {tmp_path / 'rejects.csv'}\n" in capsys.readouterr().out


def test_an_input_of_which_nothing_can_be_used_leaves_no_file(city, tmp_path, capsys):
    folder, _ = city
    out = tmp_path / "out.csv"
    swapped = folder / "messages.jsonl", folder / "subscriptions.jsonl"
    assert "is rejected as a subscription, one because: " in failure(capsys, *swapped, "-o", out)
    swapped = folder / "messages.parquet", folder / "subscriptions.parquet"
    line = failure(capsys, *swapped, "-o", out)
    assert "messages.parquet: column 'keywords' is missing; every subscription needs it" in line
    texts = folder / "subscriptions.parquet", folder / "subscriptions.parquet"
    assert "column 'keywords' has type string" in failure(capsys, *texts, "-o", out)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_breaks_in_the_middle_is_one_line_and_leaves_no_file(city, tmp_path, capsys):
    folder, _ = city
    broken = tmp_path / "broken.csv"
    broken.write_text('id,text,lon,lat\n1,tea,1,1\n2,"tea\n')
    out = tmp_path / "out.csv"
    out.write_text("as before")
    line = failure(capsys, folder / "subscriptions.csv", broken, "-o", out)
    assert "broken.csv, line 3: unexpected end of data" in line
    assert out.read_text() == "as before"
    assert {path.name for path in tmp_path.iterdir()} == {"broken.csv", "out.csv"}


def test_what_is_not_parquet_is_one_line(city, tmp_path, capsys):
    folder, _ = city
    broken = tmp_path / "broken.parquet"
    broken.write_text("this is no Parquet")
    inputs = folder / "subscriptions.csv", broken
    assert "broken.parquet is not Parquet, or not all of it" in failure(
        capsys, *inputs, "-o", tmp_path / "out.csv"
    )


def test_files_without_rows_match_nothing(tmp_path, capsys):
    (tmp_path / "s.csv").write_text("id,keywords\n")
    (tmp_path / "m.geojson").write_text('{"type": "FeatureCollection", "features": []}')
    out = tmp_path / "out.csv"
    told = report(capsys, tmp_path / "s.csv", tmp_path / "m.geojson", "-o", out)
    assert (told["matches"], told["busiest"]) == (0, [])
    assert out.read_text() == '"subscription_id","message_id"\n'


def test_other_columns_of_parquet_are_ignored_and_folders_may_name_columns(spark, tmp_path):
    table = pa.table({"text": ["tea"], "lon": [1.0], "lat": [2.0], "state": ["IL"]})
    (tmp_path / "id=7").mkdir()
    pq.write_table(table, tmp_path / "id=7" / "part.parquet")
    [row] = read_messages(spark, tmp_path).collect()
    assert (row["id"], row["text"]) == (7, "tea")


def test_frames_of_files_take_a_path_as_text(spark, tmp_path):
    (tmp_path / "s.csv").write_text("id,keywords,west,south,east,north\n1,tea,1,2,3,4\n")
    [row] = read_subscriptions(spark, str(tmp_path / "s.csv")).collect()
    assert (row["id"], row["keywords"], row["north"], row["_problem"]) == ("1", "tea", 4.0, None)
