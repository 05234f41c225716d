"""One measurement of one index on one workload, as it is written to a JSON file."""

import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent


@cache
def versions() -> dict[str, str]:
    names = ("nearcast", "numba", "numpy", "pyarrow", "pyspark")
    packages = {name: version(name) for name in names}
    return {"python": platform.python_version(), **packages}


@cache
def cpu() -> str:
    """The processor's name and how many of it there are, as the system tells them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()


@cache
def commit() -> str:
    """The commit that was measured; `-dirty` when the code differed from it."""
    try:
        dirty = _git("status", "--porcelain", "--", "src", "benchmarks/*.py", "requirements.lock")
        return _git("rev-parse", "HEAD") + ("-dirty" if dirty else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    answer = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True)
    return answer.stdout.strip()


@dataclass(frozen=True, kw_only=True)
class Record:
    """The fields every benchmark has. None: does not apply to this index."""

    name: str  # of the benchmark: a room or a figure
    index: str  # the class, or `limit`
    data: str
    subscriptions: int
    messages: int
    matches_per_message: float
    candidates_per_message: float | None
    microseconds_per_message: float  # the median of:
    microseconds_per_message_passes: tuple[float, ...]
    build_seconds: float | None
    insert_microseconds: float | None  # one by one, into the built index
    remove_microseconds: float | None
    bytes_per_subscription: float | None
    peak_rss_bytes: int  # of the whole process, data included, since this index was begun
    answers_checked_against_oracle: int  # messages whose answers were compared
    keywords_per_message: float
    workload: dict[str, Any]  # how subscriptions and messages were drawn
    messages_per_second: float | None = None  # of a pipeline
    batch_milliseconds: float | None = None  # the median batch of a stream
    microseconds_per_move: float | None = None  # a live subscription is replaced
    arriving_microseconds: float | None = None  # of a message for top-k lists: AMP
    expiring_microseconds: float | None = None  # EMP
    matching_microseconds: float | None = None  # of a document for terms: whose lists it changes
    updating_microseconds: float | None = None  # and to change them
    buffered_per_subscription: float | None = None  # messages kept for a top-k list
    rss_bytes: int | None = None  # of the whole process at this moment, while the index changes
    details: dict[str, Any] = field(default_factory=dict)  # what only this benchmark has
    # Where the record stands in a figure.
    series: str = ""
    group: str = ""
    x: float | str | None = None
    versions: dict[str, str] = field(default_factory=versions)
    cpu: str = field(default_factory=cpu)
    commit: str = field(default_factory=commit)


def write_records(records: Sequence[Record], path: Path) -> None:
    """A JSON list; the file is replaced at once, so that it is never half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps([asdict(record) for record in records], indent=1) + "\n")
    draft.replace(path)


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The records of all result files in a folder."""
    return [row for path in sorted(folder.glob("*.json")) for row in json.loads(path.read_text())]
