"""Every example runs, and prints what its docstring says."""

import ast
import doctest
import runpy
from pathlib import Path
from textwrap import dedent

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(path, capsys):
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    _, _, promised = docstring.partition("Prints:\n")
    assert promised, "an example says in its docstring what it prints"
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    expected = dedent(promised) + "\n"
    assert doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS), printed
