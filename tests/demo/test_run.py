"""The command as a whole; the last two tests start Spark."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

import nearcast.demo as module
from nearcast.demo import run, show

SAFETY_SECONDS = 300
MAIN = "import sys; from nearcast.cli import main; sys.exit(main())"


@pytest.fixture
def served(service, monkeypatch):
    """The settings with which services were started; they are fakes."""
    started = []

    @contextmanager
    def serving(settings):
        started.append(settings)
        assert Path(settings.data).is_dir()
        yield SimpleNamespace(service=service, address=service.address)

    monkeypatch.setattr(module, "serving", serving)
    monkeypatch.setattr(show, "PEOPLE", 5)
    monkeypatch.setattr(show, "TICK_SECONDS", 0.04)
    return started


def test_it_says_what_it_does_and_ends_with_a_summary(served, service, capsys):
    assert run(seconds=0.2, browser=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Starting the service; its data is in ")
    assert lines[1].startswith(f"The page is at {service.address}")
    assert lines[-2] == "Stopping ..."
    assert lines[-1].startswith("In 0 s, ")
    [settings] = served
    assert (settings.host, settings.open_page) == ("127.0.0.1", True)
    assert settings.webhook_private_addresses
    assert not Path(settings.data).exists()


def test_a_folder_that_is_given_is_kept(served, tmp_path):
    assert run(seconds=0.1, port=7, browser=False, data=str(tmp_path)) == 0
    assert (served[0].data, served[0].port) == (str(tmp_path), 7)
    assert tmp_path.exists()


def test_the_summary_for_machines_is_all_of_standard_output(served, capsys):
    assert run(seconds=0.1, browser=False, as_json=True) == 0
    output = capsys.readouterr()
    summary = json.loads(output.out)
    assert min(summary[name] for name in ("messages", "matches", "deliveries")) > 0
    assert output.err.startswith("Starting the service")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_in_order(served, service, capsys, number):
    before = signal.getsignal(number)
    threading.Timer(0.5, os.kill, (os.getpid(), number)).start()
    assert run(browser=False) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(("In ", "Ended "))
    assert signal.getsignal(number) is before
    assert service.live_tokens == {}
    assert not Path(served[0].data).exists()


def test_a_port_that_is_taken_is_another_one_then(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(module, "USUAL_PORT", taken.getsockname()[1])
        assert module._free_port() == 0
    assert module._free_port() == module.USUAL_PORT


@pytest.mark.parametrize(
    ("display", "is_terminal", "is_opened"),
    [(":0", True, True), (":0", False, False), ("", True, False)],
)
def test_the_page_is_opened_where_somebody_sees_it(monkeypatch, display, is_terminal, is_opened):
    opened = []
    monkeypatch.setattr(module.webbrowser, "open", opened.append)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    module._open("http://here")
    assert opened == (["http://here"] if is_opened else [])


# ---------------------------------------------------------------- with Spark


@pytest.fixture
def demo(tmp_path):
    """Starts `nearcast demo` where it leaves traces: a folder, and a mark on every process."""
    mark = uuid.uuid4().hex
    started = []

    def start(*options):
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "demo", "--no-browser", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NEARCAST_TEST": mark, "TMPDIR": str(tmp_path)},
        )
        started.append(process)
        return process

    start.left_behind = lambda: [*marked_processes(mark), *traces(tmp_path)]
    yield start
    for process in started:
        process.kill()
        process.communicate()


def traces(folder):
    """All but what the keepers of all streams share, which is empty but for a lock."""
    shared = folder / f"nearcast-{os.getuid()}"
    return [path for path in folder.rglob("*") if path not in (shared, shared / "lock")]


def marked_processes(mark):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes()[:200])
        except OSError:
            continue  # ended, or not ours
    return found


def wait_for_line(process, words):
    deadline = time.monotonic() + SAFETY_SECONDS
    for line in process.stdout:
        if words in line:
            return
        assert time.monotonic() < deadline
    pytest.fail(f"it ended without a word of {words!r}: {process.stderr.read()}")


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_ctrl_c_while_spark_starts_leaves_nothing_behind(demo):
    process = demo()
    wait_for_line(process, "Spark is starting")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SAFETY_SECONDS)
    assert (process.returncode, err) == (0, "")
    assert out == "Stopping ...\nEnded before the first message.\n"
    assert demo.left_behind() == []


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_the_whole_thing(demo):
    process = demo("--seconds", "3", "--json")
    out, err = process.communicate(timeout=SAFETY_SECONDS)
    assert process.returncode == 0, err
    summary = json.loads(out)
    assert summary["messages"] >= 10
    assert summary["matches"] == summary["deliveries"] > 0
    assert "Traceback" not in err
    assert demo.left_behind() == []
