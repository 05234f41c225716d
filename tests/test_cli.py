import csv
import json
import os
import subprocess
import sys
from importlib.metadata import version
from types import ModuleType

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.cli import main
from nearcast.datasets import City

COMMANDS = [
    [],
    ["demo"],
    ["explain"],
    ["generate"],
    ["generate", "messages"],
    ["generate", "subscriptions"],
    ["match"],
]
EXPLAIN = ["explain", "--subscription", "ipad AND (discount OR sale)", "--text", "New iPad"]


@pytest.fixture
def demo(monkeypatch):
    """A demo that notes what it was asked for."""
    module = ModuleType("nearcast.demo")
    module.asked = []
    module.run = lambda **options: module.asked.append(options) or 0
    module.DemoFailed = type("DemoFailed", (Exception,), {})
    monkeypatch.setitem(sys.modules, "nearcast.demo", module)
    return module


@pytest.mark.parametrize("command", COMMANDS)
def test_version_is_that_of_the_package(command, capsys):
    assert main([*command, "--version"]) == 0
    assert capsys.readouterr().out == f"nearcast {version('nearcast')}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_goes_to_stdout(command, capsys):
    assert main([*command, "--help"]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("usage: nearcast")
    assert output.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["demo", "--speed", "3"],
        ["demo", "--seconds"],
        ["demo", "--seconds", "soon"],
        ["demo", "--seconds", "0"],
        ["demo", "--seconds", "-1"],
        ["demo", "--seconds", "nan"],
        ["demo", "--seconds", "inf"],
        ["demo", "--port", "-1"],
        ["demo", "--port", "http"],
        ["demo", "--data"],
        ["explain"],
        [*EXPLAIN],
        [*EXPLAIN, "--at", "1"],
        [*EXPLAIN, "--at", "1,2,3"],
        [*EXPLAIN, "--at", "1,north"],
        [*EXPLAIN, "--at", "1,95.2"],
        [*EXPLAIN, "--at", "1,2", "--box", "1,2,3"],
        [*EXPLAIN, "--at", "1,2", "--box", "1,3,2,2"],
        [*EXPLAIN, "--at", "1,2", "--circle", "1,2,-5"],
        [*EXPLAIN, "--at", "1,2", "--circle", "1,2,5", "--box", "1,2,3,4"],
        ["generate"],
        ["generate", "cats"],
        ["generate", "messages", "-n", "-1"],
        ["generate", "messages", "-n", "many"],
        ["generate", "messages", "--seed", "x"],
        ["generate", "messages", "-o", "messages.txt"],
    ],
)
def test_wrong_usage_is_2_and_says_so_on_stderr(arguments, demo, capsys):
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "usage: nearcast" in output.err
    assert demo.asked == []


def test_a_bad_number_of_seconds_is_named(capsys):
    main(["demo", "--seconds", "soon"])
    assert "'soon' is not a number of seconds above 0" in capsys.readouterr().err


def test_demo_gets_its_options(demo):
    options = ["--seconds", "2.5", "--port", "81", "--no-browser", "--data", "here", "--json"]
    assert main(["demo", *options]) == 0
    assert demo.asked == [
        {"seconds": 2.5, "port": 81, "browser": False, "data": "here", "as_json": True}
    ]


def test_demo_without_options_runs_until_stopped(demo):
    assert main(["demo"]) == 0
    assert demo.asked == [
        {"seconds": None, "port": None, "browser": True, "data": None, "as_json": False}
    ]


def test_a_demo_that_fails_says_why(demo, capsys):
    def fail(**options):
        raise demo.DemoFailed("Spark did not start: no memory")

    demo.run = fail
    assert main(["demo"]) == 1
    assert capsys.readouterr().err == "nearcast demo: Spark did not start: no memory\n"


def test_the_code_of_a_subcommand_is_passed_on(demo):
    demo.run = lambda **options: 1
    assert main(["demo"]) == 1


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            ValueError("k is 0; it must be at least 1"),
            "nearcast demo: k is 0; it must be at least 1\n",
        ),
        (
            ValueError("column 3: a word is missing\na (\n  ^"),
            "nearcast demo: column 3: a word is missing\n",
        ),
        (OSError("disk full"), "nearcast demo: disk full\n"),
        (KeyboardInterrupt(), "nearcast demo: interrupted\n"),
    ],
)
def test_a_failure_is_1_and_one_line_on_stderr(error, line, demo, capsys):
    def fail(**options):
        raise error

    demo.run = fail
    assert main(["demo"]) == 1
    output = capsys.readouterr()
    assert output.err == line
    assert output.out == ""


def test_a_bug_keeps_its_traceback(demo):
    def fail(**options):
        raise AssertionError("cannot happen")

    demo.run = fail
    with pytest.raises(AssertionError):
        main(["demo"])


# ---------------------------------------------------------------- explain


def test_explain_says_why_not(capsys):
    assert main([*EXPLAIN, "--circle", "2.35,48.86,500", "--at", "2.35,48.87"]) == 0
    assert capsys.readouterr().out == (
        "no match: needs 'discount' or 'sale'; 612 m outside the region\n"
        "  wanted: (discount AND ipad) OR (ipad AND sale), within 500 m of 2.35, 48.86\n"
        "  said:   'New iPad', at 2.35, 48.87\n"
    )


def test_explain_for_machines(capsys):
    options = ["--subscription", "tea NOT bag", "--text", "tea bag", "--at", "1,2", "--json"]
    assert main(["explain", *options]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "matches": False,
        "words_match": False,
        "in_region": True,
        "distance_metres": 0.0,
        "clauses": [
            {"required": ["tea"], "forbidden": ["bag"], "missing": [], "unwanted": ["bag"]}
        ],
    }


@pytest.mark.parametrize(
    "region",
    [
        ["--box", "-1,-2,-0.5,-1"],
        ["--box=-1,-2,-0.5,-1"],
        ["--circle", "-.75,-1.5,1000"],
        ["--region", '{"type": "Polygon", "coordinates": [[[-1,-2],[0,-2],[0,-1],[-1,-1]]]}'],
        [],
    ],
)
def test_the_west_and_the_south_are_not_taken_for_options(region, capsys):
    options = ["--subscription", "tea", "--text", "tea", "--at", "-0.75,-1.5"]
    assert main(["explain", *options, *region]) == 0
    assert capsys.readouterr().out.startswith("match: has 'tea'")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--subscription", "tea AND (", "--text", "tea"], "column 10: a word is missing"),
        (["--subscription", "tea", "--text", "tea", "--region", "{"], "region is not GeoJSON"),
    ],
)
def test_what_cannot_be_explained_is_one_line(options, reason, capsys):
    assert main(["explain", *options, "--at", "1,2"]) == 1
    output = capsys.readouterr()
    assert reason in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


def test_a_bad_latitude_is_named(capsys):
    main([*EXPLAIN, "--at", "48.86,95.2"])
    assert "latitude 95.2 is outside [-90, 90]; did you swap" in capsys.readouterr().err


# ---------------------------------------------------------------- generate


def city_messages(count, seed=0):
    messages = [message for _, message in zip(range(count), _stream(seed), strict=False)]
    return MessageBatch.from_messages(messages)


def _stream(seed):
    for tick in City(seed=seed).ticks():
        yield from tick


def same_messages(one, other):
    return [one.message(i) for i in range(len(one))] == [
        other.message(i) for i in range(len(other))
    ]


@pytest.mark.parametrize("count", [0, 1, 45])
def test_messages_go_to_parquet_and_back(count, tmp_path, capsys):
    path = tmp_path / "messages.parquet"
    assert main(["generate", "messages", "-n", str(count), "--seed", "3", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"wrote {count} messages to {path}\n"
    table = pa.parquet.read_table(path)
    assert table.column_names == ["id", "text", "lon", "lat", "time"]
    assert same_messages(MessageBatch.from_arrow(table), city_messages(count, seed=3))


def test_subscriptions_go_to_parquet_and_back(tmp_path):
    path = tmp_path / "subscriptions.parquet"
    assert main(["generate", "subscriptions", "-n", "50", "-o", str(path)]) == 0
    batch = SubscriptionBatch.from_arrow(pa.parquet.read_table(path))
    generated = City().subscriptions(50)
    assert len(batch) == 50
    for row, expected in enumerate(generated):
        found = batch.subscription(row)
        assert (found.id, found.expression) == (expected.id, expected.expression)
        assert (found.region is None) == (expected.region is None)


def test_json_lines_go_to_stdout_or_a_file(tmp_path, capsys):
    assert main(["generate", "messages", "-n", "25"]) == 0
    printed = capsys.readouterr().out
    rows = [json.loads(line) for line in printed.splitlines()]
    assert same_messages(MessageBatch.from_arrow(pa.Table.from_pylist(rows)), city_messages(25))
    path = tmp_path / "messages.jsonl"
    assert main(["generate", "messages", "-n", "25", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == printed


def test_csv_has_a_header(tmp_path):
    path = tmp_path / "subscriptions.csv"
    assert main(["generate", "subscriptions", "-n", "12", "-o", str(path)]) == 0
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12
    assert list(rows[0]) == ["id", "keywords", "region"]
    assert [row["id"] for row in rows] == [each.id for each in City().subscriptions(12)]


def test_a_report_for_machines(tmp_path, capsys):
    path = tmp_path / "messages.jsonl"
    assert main(["generate", "messages", "-n", "2", "-o", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"rows": 2, "file": str(path)}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_folder_that_is_not_there_is_named(name, tmp_path, capsys):
    assert main(["generate", "messages", "-n", "2", "-o", str(tmp_path / "none" / name)]) == 1
    assert f"none/{name}" in capsys.readouterr().err


def test_a_reader_that_has_had_enough_is_no_failure():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody_reads:
        code = "import sys; from nearcast.cli import main; sys.exit(main())"
        ended = subprocess.run(
            [sys.executable, "-c", code, "generate", "messages", "-n", "20"],
            stdout=nobody_reads,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (0, "")
