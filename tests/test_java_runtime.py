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


def fake_java(home, version, code=0):
    """A script that answers as the Java of that version does; returns the folder it lies in."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\nexit {code}\n"
    )
    java.chmod(0o755)
    return java.parent


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.9"', 17),
        ("no Java is installed", None),
        ("", None),
    ],
)
def test_the_version_is_read_from_what_java_prints(java_runtime, text, version):
    assert java_runtime.parse_version(text) == version


def test_java_home_comes_before_path(java_runtime, tmp_path):
    at_home = fake_java(tmp_path / "home", "21.0.1")
    on_path = fake_java(tmp_path / "path", "17.0.15")
    both = {"JAVA_HOME": str(at_home.parent), "PATH": str(on_path)}
    assert java_runtime.find_java(both) == at_home / "java"
    assert java_runtime.find_java({"PATH": str(on_path)}) == on_path / "java"


def test_an_old_java_before_a_new_one_does_not_hide_it(java_runtime, tmp_path):
    old_home = fake_java(tmp_path / "home", "11.0.2")
    old = fake_java(tmp_path / "old", "1.8.0_392")
    new = fake_java(tmp_path / "new", "17.0.15")
    environment = {"JAVA_HOME": str(old_home.parent), "PATH": f"{old}:{new}"}
    assert java_runtime.find_java(environment) == new / "java"


def test_no_java_is_none(java_runtime, tmp_path):
    old = fake_java(tmp_path / "old", "16.0.2")
    broken = fake_java(tmp_path / "broken", "17.0.15", code=1)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert java_runtime.find_java({}) is None
    assert (
        java_runtime.find_java({"JAVA_HOME": str(empty), "PATH": f"{empty}:{old}:{broken}"}) is None
    )


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
