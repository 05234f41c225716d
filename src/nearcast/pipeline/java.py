"""Find the Java that Spark runs on: version 17 or newer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

OLDEST_VERSION = 17


class NoJava(RuntimeError):
    """There is no Java that Spark could run on."""


def java_home(environment: Mapping[str, str], python_home: Path) -> Path:
    """The home of the Java to use; `NoJava` tells what was found instead."""
    java = find_java(environment, python_home)
    if java is not None:
        # A link such as /usr/bin/java says nothing of the home, which has to be named.
        return java.resolve().parent.parent
    found = [
        f"{old} is version {java_version(old) or 'unknown'}"
        for old in _candidates(environment, python_home)
    ]
    raise NoJava(
        f"Spark needs Java {OLDEST_VERSION} or newer, and there is none"
        + (f" ({'; '.join(found)})" if found else "")
        + "; install one and point JAVA_HOME at it, or run `make setup`, which brings one along"
    )


def find_java(environment: Mapping[str, str], python_home: Path) -> Path | None:
    """The first `java` that is new enough: by JAVA_HOME, by PATH, then the one of `make setup`.

    `python_home` is the root of the virtual environment, `sys.prefix`.
    """
    for java in _candidates(environment, python_home):
        version = java_version(java)
        if version is not None and version >= OLDEST_VERSION:
            return java
    return None


def java_version(java: Path) -> int | None:
    """Ask a `java` for its feature version; None when it does not run or does not say."""
    try:
        # Java prints its version on stderr. A stub that waits for an answer must not stop us.
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(answer.stderr) if answer.returncode == 0 else None


def parse_version(text: str) -> int | None:
    """Read the feature version out of what Java prints.

    >>> parse_version('openjdk version "17.0.15" 2025-04-15'), parse_version('version "1.8.0_392"')
    (17, 8)
    """
    if found := re.search(r'version "(?:1\.)?(\d+)', text):
        return int(found[1])
    return None


def provided_home(python_home: Path) -> Path:
    """Where `make setup` puts a Java, when the machine has none."""
    return python_home / "java"


def _candidates(environment: Mapping[str, str], python_home: Path) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    # Every directory of PATH, because an old Java may stand before a new one.
    for directory in environment.get("PATH", "").split(os.pathsep):
        if found := shutil.which("java", path=directory or os.curdir):
            yield Path(found)
    if (provided := provided_home(python_home) / "bin" / "java").exists():
        yield provided
