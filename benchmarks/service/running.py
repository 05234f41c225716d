"""A real service in a process of its own, as `nearcast serve` starts it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

NEARCAST = Path(sys.executable).with_name("nearcast")
SECONDS_TO_START = 180.0
PAUSE = 0.05


class RunningService:
    """`nearcast serve` over a data folder, on a free port; it can be killed and started again.

    `settings` are fields of `nearcast.service.settings.Settings`, `environment` has variables more.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Any],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._environment = dict(environment or {})
        self._settings = dict(settings)
        self._process: subprocess.Popen[bytes] | None = None
        self.address = ""

    def token(self, name: str, *roles: str) -> str:
        """A new token, made as an operator makes one."""
        command = [str(NEARCAST), "token", "create", name, "--data", str(self.folder), "--json"]
        for role in roles:
            command += ["--role", role]
        answer = subprocess.run(command, capture_output=True, check=True)
        secret: str = json.loads(answer.stdout)["token"]
        return secret

    def start(self) -> None:
        """Start it and wait until it answers."""
        address = self.folder / "address"
        address.unlink(missing_ok=True)
        command = [str(NEARCAST), "serve", "--data", str(self.folder), "--port", "0"]
        settings = {
            f"NEARCAST_SERVICE_{name.upper()}": str(value) for name, value in self._settings.items()
        }
        with open(self.folder.parent / f"{self.folder.name}.log", "ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, **self._environment, **settings}
            )
        self._wait_for(address.exists)
        self.address = address.read_text().strip()
        self._wait_for(lambda: self._answers("/healthz"))

    def wait_until_ready(self) -> None:
        """Wait until the pipeline runs."""
        self._wait_for(lambda: self._answers("/readyz"))

    @property
    def pid(self) -> int:
        """Of the process of the service."""
        assert self._process is not None
        return self._process.pid

    def pipeline_pid(self) -> int | None:
        """Of the pipeline's own process, its child."""
        return child_of(self.pid)

    def kill(self) -> None:
        """As a power cut would, this process alone."""
        os.kill(self.pid, signal.SIGKILL)
        assert self._process is not None
        self._process.wait()

    def stop(self) -> int:
        """As an operator does; the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(SECONDS_TO_START)

    def _answers(self, path: str) -> bool:
        try:
            return httpx.get(self.address + path, timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    def _wait_for(self, is_true: Any) -> None:
        deadline = time.monotonic() + SECONDS_TO_START
        while not is_true():
            assert self._process is not None
            if self._process.poll() is not None:
                raise RuntimeError(f"the service ended with {self._process.returncode}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"the service did not start in {SECONDS_TO_START:g} s")
            time.sleep(PAUSE)


def child_of(pid: int) -> int | None:
    """The first process that a process has started and that lives."""
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:  # it has ended meanwhile
            continue
        if int(parent) == pid:
            return int(folder.name)
    return None
