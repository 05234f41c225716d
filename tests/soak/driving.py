"""Starting the driver's process, killing parts of it, starting it again."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from nearcast.pipeline import NotificationStore
from tests.soak.driver import FAULTS
from tests.soak.memory import megabytes
from tests.soak.processes import DRIVER, READER, kill, of_session

REPOSITORY = Path(__file__).parents[2]
FAILING_KEEPERS = Path(__file__).with_name("failing_keepers")
SECONDS_BETWEEN_LOOKS = 0.02
# Far beyond any pause of a busy machine: a stream that does nothing for so long hangs.
SECONDS_OF_PATIENCE = 600.0


class Driving:
    """A driver that is started again whenever it is gone, and fed while it runs.

    - `kills`: how many of each kind; `starts`: of the driver
    - `deaths`: what it said when it ended though nobody had killed it, or something it cannot
      live without
    """

    def __init__(self, folder, master, feeder, seed):
        self.kills = Counter()
        self.starts = 0
        self.deaths = []
        self._folder = folder
        self._master = master
        self._seed = seed
        self._feeder = feeder
        self._sessions = []
        self._store = NotificationStore(folder / "store")

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_):
        for session in self._sessions:
            kill(of_session(session))
        self._process.wait()
        self._store.close()

    @property
    def batches(self):
        """How many are in the store."""
        last = self._store.last_batch
        return 0 if last is None else last + 1

    @property
    def position(self):
        """That of the newest notification, or -1: the stream has come so far at least."""
        newest = self._store.read(after=max(0, self._store.count - 1))
        return newest["position"][-1].as_py() if len(newest) else -1

    def kill(self, kind, draw):
        """Kill a process of a kind, as soon as there is one; a driver is started again."""
        self.wait_until(lambda: self._live(kind))
        victims = self._live(kind)
        if kind != DRIVER:
            victims = draw.sample(victims, min(1, len(victims)))
        kill(victims)
        self.kills[kind] += 1
        self._may_end |= kind == READER
        if kind == DRIVER:
            self._process.wait()
            self._start()

    @property
    def faults(self):
        """How many of each kind workers and keepers have had."""
        noted = self._folder / FAULTS
        return Counter(noted.read_text().splitlines() if noted.exists() else ())

    def megabytes(self):
        """What all its processes have in memory."""
        return megabytes(each.pid for each in of_session(self._process.pid))

    def wait_for_batches(self, number):
        """Wait until so many more batches are in the store."""
        wanted = self.batches + number
        self.wait_until(lambda: self.batches >= wanted)

    def wait_until(self, is_so):
        """Feed the stream and keep it running until something is so."""
        batches, since = self.batches, time.monotonic()
        while not is_so():
            self._feeder.feed(self.position)
            if self._process.poll() is not None:
                self._note_end()
                self._start()
            if self.batches > batches:
                batches, since = self.batches, time.monotonic()
            elif time.monotonic() - since > SECONDS_OF_PATIENCE:
                raise TimeoutError(f"the stream stands still at batch {batches}: {self._said()}")
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def stop(self):
        """Let it end by itself."""
        (self._folder / "stop").touch()
        if self._process.wait() != 0:
            self._note_end()

    def _live(self, kind):
        return [each for each in of_session(self._process.pid) if each.kind == kind]

    def _start(self):
        self.starts += 1
        self._may_end = False
        # Each start has faults of its own.
        seed = f"{self._seed}-{self.starts}"
        command = [sys.executable, "-m", "tests.soak.driver", self._folder, self._master, seed]
        # All that it starts inherits this, keepers too.
        environment = {
            "NEARCAST_SOAK_FAULTS": str(self._folder / FAULTS),
            "NEARCAST_SOAK_SEED": seed,
            "PYTHONPATH": os.pathsep.join([str(FAILING_KEEPERS), str(REPOSITORY)]),
        }
        with open(self._said_in, "wb") as log:
            # In a session of its own, by which all its descendants are found.
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=REPOSITORY,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        self._sessions.append(self._process.pid)

    def _note_end(self):
        said = self._said()
        # A task may fail on each of its tries, a keeper may die on each of those of a task.
        by_order = ("(injected)", "Python worker exited unexpectedly", "died 3 times in the middle")
        is_ours = any(each in said for each in by_order)
        if not self._may_end and not is_ours:
            self.deaths.append(said)

    def _said(self):
        return self._said_in.read_text(errors="replace")[-6000:]

    @property
    def _said_in(self):
        return self._folder / f"driver-{self.starts}.log"
