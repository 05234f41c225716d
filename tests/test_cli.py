import sys
from importlib.metadata import version
from types import ModuleType

import pytest

from nearcast.cli import main


@pytest.fixture
def demo(monkeypatch):
    """A demo that notes how long it was asked to run."""
    module = ModuleType("nearcast.demo")
    module.asked = []
    module.run = lambda seconds: module.asked.append(seconds) or 0
    monkeypatch.setitem(sys.modules, "nearcast.demo", module)
    return module


@pytest.mark.parametrize("arguments", [["--version"], ["demo", "--version"]])
def test_version_is_that_of_the_package(arguments, capsys):
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"nearcast {version('nearcast')}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_goes_to_stdout(arguments, capsys):
    assert main(arguments) == 0
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


def test_demo_gets_its_seconds(demo):
    assert main(["demo", "--seconds", "2.5"]) == 0
    assert demo.asked == [2.5]


def test_demo_without_seconds_runs_until_stopped(demo):
    assert main(["demo"]) == 0
    assert demo.asked == [None]


def test_the_code_of_a_subcommand_is_passed_on(demo):
    demo.run = lambda seconds: 1
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
    def fail(seconds):
        raise error

    demo.run = fail
    assert main(["demo"]) == 1
    output = capsys.readouterr()
    assert output.err == line
    assert output.out == ""


def test_a_bug_keeps_its_traceback(demo):
    def fail(seconds):
        raise AssertionError("cannot happen")

    demo.run = fail
    with pytest.raises(AssertionError):
        main(["demo"])
