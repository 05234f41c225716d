import json
import os
import queue
import signal
import sys

import pytest

from nearcast.service.matching import supervisor as module
from nearcast.service.matching.process import MatchingSettings
from nearcast.service.matching.supervisor import Supervisor

SETTINGS = MatchingSettings("nowhere", "local[2]", 10, 1.0, 10, "10", 1000.0, 60.0)
SAYS_AND_WAITS = """
import os, sys
print('{"state": "running"}', flush=True)
print("a library prints", flush=True)
print('{"committed": 7}', flush=True)
print('{"progress": {"offset": %d}}' % os.getpid(), flush=True)
sys.stdin.read()
"""
FAILS = """print('{"state": "failed", "problem": "no Java"}'); raise SystemExit(1)"""


class Watched(Supervisor):
    """Runs a script in place of the pipeline and tells of every change of its status."""

    def __init__(self, *scripts):
        self.commits = queue.Queue()
        self.seen = queue.Queue()
        self._scripts = iter(scripts)
        super().__init__(SETTINGS, lambda: self.commits.put("committed"))

    def _note(self, **words):
        super()._note(**words)
        self.seen.put(self.status)

    def until(self, is_it):
        while True:
            status = self.seen.get(timeout=60)
            if is_it(status):
                return status


@pytest.fixture
def watch(monkeypatch):
    watched = []
    popen = module.subprocess.Popen
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)

    def start(*scripts):
        supervisor = Watched(*scripts)

        def run_script(command, **more):
            assert json.loads(command[-1])["master"] == "local[2]"
            return popen([sys.executable, "-c", next(supervisor._scripts)], **more)

        monkeypatch.setattr(module.subprocess, "Popen", run_script)
        supervisor.start()
        watched.append(supervisor)
        return supervisor

    yield start
    for supervisor in watched:
        supervisor.stop()
        assert supervisor.status.state == "stopped"


def test_it_hears_what_the_pipeline_says(watch):
    supervisor = watch(SAYS_AND_WAITS)
    status = supervisor.until(lambda status: status.progress)
    assert (status.state, status.starts, status.problem) == ("running", 1, None)
    assert supervisor.commits.get(timeout=60) == "committed"


def test_a_pipeline_that_is_killed_is_started_again(watch):
    supervisor = watch(SAYS_AND_WAITS, SAYS_AND_WAITS)
    first = supervisor.until(lambda status: status.progress).progress["offset"]
    os.kill(first, signal.SIGKILL)
    assert supervisor.until(lambda status: status.state == "failed").problem == "the process died"
    status = supervisor.until(lambda status: status.progress.get("offset") != first)
    assert (status.state, status.starts, status.problem) == ("running", 2, None)


def test_a_process_that_cannot_be_started_is_tried_again(watch, monkeypatch):
    failures = iter([OSError("no memory")])
    run_once = Supervisor._run_once

    def unlucky(self):
        for failure in failures:
            raise failure
        run_once(self)

    monkeypatch.setattr(Supervisor, "_run_once", unlucky)
    supervisor = watch(SAYS_AND_WAITS)
    assert supervisor.until(lambda status: status.state == "failed").problem == "no memory"
    supervisor.until(lambda status: status.state == "running")


def test_what_ended_it_is_known(watch):
    supervisor = watch(FAILS, SAYS_AND_WAITS)
    assert supervisor.until(lambda status: status.state == "failed").problem == "no Java"
    supervisor.until(lambda status: status.state == "running")


def test_a_pipeline_that_does_not_end_is_killed(watch, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_TO_STOP", 0.1)
    stubborn = 'import time\nprint(\'{"state": "running"}\', flush=True)\ntime.sleep(600)'
    supervisor = watch(stubborn)
    supervisor.until(lambda status: status.state == "running")
    supervisor.stop()
    assert supervisor._process.returncode == -signal.SIGKILL


def test_what_java_and_spark_say_goes_into_the_log(watch, caplog):
    caplog.set_level("INFO")
    supervisor = watch(f"import sys; print('WARN slow', file=sys.stderr)\n{SAYS_AND_WAITS}")
    supervisor.until(lambda status: status.progress)
    supervisor.stop()
    assert "the pipeline says: WARN slow" in caplog.messages
