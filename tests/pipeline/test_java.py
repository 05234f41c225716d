import pytest

from nearcast.pipeline.java import NoJava, find_java, java_home, parse_version


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
def test_the_version_is_read_from_what_java_prints(text, version):
    assert parse_version(text) == version


def test_java_home_comes_before_path(tmp_path):
    at_home = fake_java(tmp_path / "home", "21.0.1")
    on_path = fake_java(tmp_path / "path", "17.0.15")
    both = {"JAVA_HOME": str(at_home.parent), "PATH": str(on_path)}
    assert find_java(both, tmp_path) == at_home / "java"
    assert find_java({"PATH": str(on_path)}, tmp_path) == on_path / "java"


def test_an_old_java_before_a_new_one_does_not_hide_it(tmp_path):
    old_home = fake_java(tmp_path / "home", "11.0.2")
    old = fake_java(tmp_path / "old", "1.8.0_392")
    new = fake_java(tmp_path / "new", "17.0.15")
    environment = {"JAVA_HOME": str(old_home.parent), "PATH": f"{old}:{new}"}
    assert find_java(environment, tmp_path) == new / "java"


def test_no_java_is_none(tmp_path):
    old = fake_java(tmp_path / "old", "16.0.2")
    broken = fake_java(tmp_path / "broken", "17.0.15", code=1)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert find_java({}, tmp_path) is None
    assert find_java({"JAVA_HOME": str(empty), "PATH": f"{empty}:{old}:{broken}"}, tmp_path) is None


def test_the_java_of_the_setup_comes_last(tmp_path):
    provided = fake_java(tmp_path / "venv" / "java", "17.0.9")
    on_path = fake_java(tmp_path / "path", "21.0.1")
    assert find_java({}, tmp_path / "venv") == provided / "java"
    assert find_java({"PATH": str(on_path)}, tmp_path / "venv") == on_path / "java"
    assert java_home({}, tmp_path / "venv") == tmp_path / "venv" / "java"


def test_too_old_a_java_is_named_with_the_way_out(tmp_path):
    old = fake_java(tmp_path / "old", "11.0.2")
    with pytest.raises(NoJava, match=r"needs Java 17.*old/bin/java is version 11.*JAVA_HOME"):
        java_home({"PATH": str(old)}, tmp_path)
