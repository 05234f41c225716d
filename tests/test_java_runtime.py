import importlib.util
import subprocess
from pathlib import Path

import pytest

FILE = Path(__file__).parent.parent / "tools" / "java_runtime.py"


@pytest.fixture(scope="module")
def java_runtime():
    spec = importlib.util.spec_from_file_location("java_runtime", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_shim_drops_one_argument_and_keeps_the_others_as_they_are(java_runtime, tmp_path):
    real = tmp_path / "it's real" / "java"
    real.parent.mkdir()
    real.write_text('#!/bin/sh\nprintf "<%s>" "$@"\nexit 3\n')
    real.chmod(0o755)
    shim = java_runtime.write_shim(tmp_path / "home", real)
    arguments = ["-Da=b c", "--add-modules=jdk.incubator.vector", "*", "", "$HOME", "Main"]
    answer = subprocess.run([shim, *arguments], capture_output=True, text=True, check=False)
    assert answer.stdout == "<-Da=b c><*><><$HOME><Main>"
    assert answer.returncode == 3
    assert len(shim.read_text().splitlines()) == 3


def test_wrong_usage_is_2(java_runtime, capsys):
    assert java_runtime.main([]) == 2
    assert "usage:" in capsys.readouterr().err
