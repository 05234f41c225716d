"""`nearcast match` around Spark: what it asks for, what it refuses, how it ends."""

import json
import signal
import subprocess
import sys
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from nearcast.cli import main
from nearcast.cli.progress import BarProgress
from nearcast.pipeline import java
from nearcast.pipeline.files import matching

COMMAND = [sys.executable, "-c", "import sys; from nearcast.cli import main; sys.exit(main())"]


@pytest.fixture
def inputs(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    subscriptions, messages = folder / "s.csv", folder / "m.csv"
    subscriptions.write_text("id,keywords\nanna,tea\n")
    messages.write_text("id,text,lon,lat\n1,hot tea,1,2\n2,cake,1,2\n")
    return [str(subscriptions), str(messages)]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-o", "out.txt"],
        ["-o", "out"],
        ["-o", "out.csv.gz"],
        ["-o", "out.csv", "--format", "xml"],
        ["-o", "out.csv", "--partitioning", "prefix"],
        ["-o", "out.csv", "--rejects", "rejects.geojson"],
        ["-o", "out.csv", "more.csv"],
    ],
)
def test_wrong_usage_is_2(options, inputs, capsys):
    assert main(["match", *inputs, *options]) == 2
    assert "usage: nearcast" in capsys.readouterr().err


def test_help_says_what_files_hold(capsys):
    assert main(["match", "--help"]) == 0
    text = capsys.readouterr().out
    for word in (".ndjson", ".gz", "first line names the columns", "ids are strings"):
        assert word in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none.csv", "{m}", "-o", "{out}.csv"], "none.csv is not there"),
        (["{s}", "{empty}", "-o", "{out}.csv"], "has no files"),
        (["{s}", "{m}", "-o", "{out}/none/out.csv"], "/none for out.csv is not there; create it"),
        (["{s}", "{m}", "-o", "{out}.csv", "--rejects", "{out}/none/r.csv"], "is not there"),
        (["{s}", "{m}", "-o", "{m}"], "m.csv is an input; write to another file"),
        (["{s}", "{m}", "-o", "{out}.csv", "--rejects", "{s}"], "s.csv is an input"),
        (["{s}", "{m}", "-o", "{out}.csv", "--rejects", "{out}.csv"], "matches and rejects"),
    ],
)
def test_what_can_be_known_before_spark_starts_is_told_then(
    arguments, reason, inputs, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("nearcast.cli.match._match", None)  # whoever gets there fails
    empty = tmp_path / "empty"
    empty.mkdir()
    names = {"s": inputs[0], "m": inputs[1], "empty": empty, "out": tmp_path / "out"}
    assert main(["match", *(text.format(**names) for text in arguments)]) == 1
    output = capsys.readouterr()
    assert reason in output.err
    assert output.err.count("\n") == 1


def test_without_spark_it_says_what_to_install(inputs, tmp_path):
    code = COMMAND[-1].replace("import sys;", "import sys; sys.modules['pyspark'] = None;")
    ended = subprocess.run(
        [sys.executable, "-c", code, "match", *inputs, "-o", str(tmp_path / "out.csv")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("nearcast match: nearcast.pipeline needs pyspark")
    assert ended.stderr.endswith("install it with: pip install 'nearcast[spark]'\n")
    assert ended.stderr.count("\n") == 1


def test_without_java_it_says_so(inputs, tmp_path, capsys, monkeypatch):
    def no_java(job, progress):
        raise java.NoJava("Spark needs Java 17 or newer, and there is none")

    monkeypatch.setattr(matching, "match_files", no_java)
    assert main(["match", *inputs, "-o", str(tmp_path / "out.csv")]) == 1
    assert "nearcast match: Spark needs Java 17 or newer" in capsys.readouterr().err


def test_a_terminal_shows_the_tasks_of_the_stages_that_run():
    stages = {
        3: SimpleNamespace(numTasks=10, numCompletedTasks=4),
        4: SimpleNamespace(numTasks=2, numCompletedTasks=1),
        5: None,  # it ended meanwhile
    }
    tracker = SimpleNamespace(getActiveStageIds=lambda: list(stages), getStageInfo=stages.get)
    screen = StringIO()
    bar = BarProgress(Console(file=screen, force_terminal=True, width=80))
    bar.phase("matching")
    bar.look(tracker)
    bar.look(SimpleNamespace(getActiveStageIds=lambda: [], getStageInfo=None))
    bar.follow(tracker)
    bar.stop()
    assert "matching" in screen.getvalue()
    assert "5 of 12 tasks" in screen.getvalue()


@pytest.mark.thorough
def test_a_process_of_its_own_matches_and_an_interrupted_one_leaves_nothing(inputs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    ended = subprocess.run(
        [*COMMAND, "match", *inputs, "-o", str(out / "pairs.jsonl"), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["matches"] == 1
    assert (out / "pairs.jsonl").read_text() == '{"subscription_id": "anna", "message_id": "1"}\n'

    running = subprocess.Popen(
        [*COMMAND, "match", *inputs, "-o", str(out / "again.csv")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests in the background of a shell ignore Ctrl-C, and so would whom they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with running:
        said = [running.stderr.readline()]
        running.send_signal(signal.SIGINT)  # while Spark starts, the worst moment
        said += running.stderr.readlines()
    assert running.returncode == 1
    assert said == ["starting Spark ...\n", "nearcast match: interrupted\n"]
    assert [path.name for path in out.iterdir()] == ["pairs.jsonl"]
