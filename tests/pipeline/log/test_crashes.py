"""Writers that are killed, and disks that are full: what was acknowledged is there, whole."""

import itertools
import os
import random
import signal
import subprocess
import sys

from nearcast.pipeline.log import Log

# Appends number n of a writer has n % 7 + 1 rows, sometimes many; every row says which it is.
WRITER = """
import sys
import pyarrow as pa
from nearcast.pipeline.log import Log

folder, writer = sys.argv[1:]
log, number = Log(folder), 0
while True:
    if number == 20:  # wait until another one works too
        sys.stdin.readline()
    size = 3000 if number % 20 == 19 else number % 7 + 1
    ids = [f"{writer}/{number}/{row}/{size}" for row in range(size)]
    offsets = log.append(pa.table({"kind": ["message"] * size, "id": ids}))
    print(f"{writer}/{number} {offsets.start} {offsets.stop}", flush=True)
    number += 1
"""


def start(script, *arguments):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def go_on(writer):
    writer.stdin.write("\n")
    writer.stdin.flush()


def kill(process):
    """What it still had acknowledged, in whole lines."""
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    return [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]


def appends_in(ids):
    """Offsets of each append, after a check that none is torn."""
    found, at = {}, 0
    while at < len(ids):
        writer, number, row, size = ids[at].split("/")
        assert row == "0"
        stop = at + int(size)
        assert ids[at:stop] == [f"{writer}/{number}/{n}/{size}" for n in range(int(size))]
        assert (writer, number) not in found
        found[writer, number] = (at, stop)
        at = stop
    return found


def test_kill_minus_9_loses_nothing_and_tears_nothing(tmp_path):
    moments = random.Random(3)
    acknowledged = []
    older = start(WRITER, tmp_path, 0)
    for kills in range(1, 11):
        newer = start(WRITER, tmp_path, kills)  # two processes append while one is killed
        acknowledged.append(newer.stdout.readline())
        go_on(older)
        acknowledged += itertools.islice(newer.stdout, moments.randrange(1, 19))
        acknowledged += kill(older)
        older = newer
    go_on(older)
    acknowledged += itertools.islice(older.stdout, 30)
    acknowledged += kill(older)

    log = Log(tmp_path)
    found = appends_in(log.read(0, log.end)["id"].to_pylist())
    assert len(acknowledged) > 100
    for line in acknowledged:
        name, first, last = line.split()
        assert found[tuple(name.split("/"))] == (int(first), int(last))
    # Of each writer at most the append it was killed in can be there without a word.
    assert len(acknowledged) <= len(found) <= len(acknowledged) + 11


FULL_DISK = """
import resource, sys
import pyarrow as pa
from nearcast.pipeline.log import Log

def rows(prefix, count):
    ids = [f"{prefix}-{n * 7919 % 99991}" for n in range(count)]
    return pa.table({"kind": ["message"] * count, "id": ids})

log = Log(sys.argv[1])
log.append(rows("before", 10))
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
end = failures = 0
for attempt in range(200):
    end = log.end
    try:
        log.append(rows(attempt, 500))
    except OSError as error:
        assert "nothing was written" in str(error), error
        failures += 1
        assert log.end == end, (log.end, end)
        if failures == 3:
            break
assert failures == 3
assert log.read(0, end).num_rows == end
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert log.append(rows("after", 500)).start == end
print(log.end)
"""


def test_a_full_disk_is_an_error_and_the_log_goes_on_when_there_is_space(tmp_path):
    process = start(FULL_DISK, tmp_path)
    printed, _ = process.communicate()
    assert process.returncode == 0
    log = Log(tmp_path)
    assert log.end == int(printed)
    ids = log.read(0, log.end)["id"].to_pylist()
    assert ids[0] == "before-0"
    assert ids[-500] == "after-0"
