"""What `match_files` is asked to do, what it tells while it works, and what it has done."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nearcast.pipeline.files.formats import data_files


@dataclass(frozen=True, slots=True)
class MatchJob:
    """Which files to match, and where the result goes.

    - `subscriptions`, `messages`: files or folders, whose suffixes say the format; `format` says it
      where a suffix does not
    - `out`: one file, by its suffix; or, with `in_parts`, a new or empty folder for Parquet files
    - `rejects`: a file for the rows that break a rule
    """

    subscriptions: Path
    messages: Path
    out: Path
    in_parts: bool = False
    rejects: Path | None = None
    format: str | None = None
    partitioning: str = "auto"

    def check(self) -> None:
        """Raise what can be known to fail before anything is started."""
        inputs = (self.subscriptions, self.messages)
        for path in inputs:
            data_files(path, self.format)
        for path in filter(None, (self.out, self.rejects)):
            if not path.absolute().parent.is_dir():
                raise FileNotFoundError(
                    f"folder {path.parent} for {path.name} is not there; create it first"
                )
            if any(path.exists() and path.samefile(each) for each in inputs):
                raise ValueError(f"{path} is an input; write to another file")
        if self.rejects is not None and self.rejects.absolute() == self.out.absolute():
            raise ValueError(f"{self.out} cannot hold matches and rejects; give two files")
        if self.in_parts and self.out.exists() and any(self.out.iterdir()):
            raise ValueError(f"folder {self.out} has files in it; give a new or an empty one")


class Watcher(Protocol):
    """Is told how far a job is."""

    def phase(self, name: str) -> None:
        """Something else begins."""

    def follow(self, tracker: Any) -> None:
        """Spark runs; its `StatusTracker` knows which tasks are done."""


@dataclass(frozen=True, slots=True)
class MatchReport:
    """What `match_files` did."""

    subscriptions: int
    messages: int
    matches: int
    rejected_subscriptions: int
    rejected_messages: int
    busiest: list[tuple[str | int, int]]
    """Subscriptions with the most matches, and how many."""
    partitioning: str
    shards: int
    why: str
    """Why this partitioning and so many shards."""
    seconds: float


@contextmanager
def beside(out: Path) -> Iterator[Path]:
    """A folder for what is not finished, on the disk where it will be; gone in the end."""
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.absolute().parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
