"""Every example runs, and prints what its docstring says."""

import ast
import doctest
import runpy
from pathlib import Path
from textwrap import dedent

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
# tests/pipeline/kafka has a broker for it.
NEEDS_KAFKA = "kafka_stream"


# A service of its own, with a Spark of its own.
LONG = "follow_events"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.thorough] * (path.stem == LONG))
        for path in EXAMPLES
        if path.stem != NEEDS_KAFKA
    ],
)
def test_an_example_prints_what_it_says(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    check_printed(path, capsys.readouterr().out)


def check_printed(path, printed):
    """Is this what the docstring of the example promises?"""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    _, _, promised = docstring.partition("Prints:\n")
    assert promised, "an example says in its docstring what it prints"
    expected = dedent(promised) + "\n"
    assert doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS), printed
