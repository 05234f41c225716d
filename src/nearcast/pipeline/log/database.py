"""A SQLite file that threads and processes write in turn, read at any time, and no crash breaks.

The file is in write-ahead mode and every commit is synced to the disk before it returns. Writers
take turns through a lock file, for two reasons: waiting on it is woken by the kernel, where SQLite
would poll; and SQLite before 3.51.3 can damage a write-ahead file that two connections write and
reset at the same instant. Who opens the file while nobody else has it open looks at what a crash
may have left, which SQLite would take as it is (`write_ahead_check`).
"""

from __future__ import annotations

import errno
import fcntl
import os
import queue
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from nearcast.durable_files import make_folder, sync
from nearcast.pipeline.log.write_ahead_check import is_damaged
from nearcast.storage import BadFile

VERSION = "1"
SECONDS_TO_WAIT = 60.0
"""For a lock of SQLite's own, which nobody holds longer than one step of a statement."""
READERS = 4
"""So many threads read at a time: one that reads much does not keep the others waiting."""


class Database:
    """The file `<folder>/<kind>.sqlite`, made by `statements` when it is missing.

    `about` has facts that are fixed when it is made. Opening it costs about a millisecond.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        kind: str,
        statements: tuple[str, ...],
        about: Mapping[str, str],
        *,
        must_exist: bool = False,
    ) -> None:
        self.path = Path(folder) / f"{kind}.sqlite"
        self._turn = threading.Lock()
        # Connections that nobody reads by; None is one that is opened when it is needed.
        self._readers: queue.LifoQueue[sqlite3.Connection | None] = queue.LifoQueue()
        if must_exist and not self.path.exists():
            raise FileNotFoundError(
                errno.ENOENT, f"there is no {kind} here; check the path, or make it", str(folder)
            )
        for _ in range(READERS):
            self._readers.put(None)
        make_folder(self.path.parent)
        self._users_file = self._lock_file = -1
        try:
            self._users_file = _open_lock(self.path.with_suffix(".users"))
            self._lock_file = _open_lock(self.path.with_suffix(".lock"))
            self._check_leftovers()
            with self._clear_errors():
                self._writer = _connect(self.path)
                if not _is_made(self._writer):
                    self._make(statements, {"kind": kind, "version": VERSION, **about})
                self.about = dict(self._writer.execute("SELECT name, value FROM about"))
        except BaseException:
            self.close()
            raise
        for name, value in (("kind", kind), ("version", VERSION)):
            if self.about.get(name) != value:
                self.close()
                raise BadFile(
                    f"{self.path} has {name} {self.about.get(name)!r}, this Nearcast reads "
                    f"{value!r}; give another folder or use a matching release"
                )

    def close(self) -> None:
        """Let go of the file; nothing is lost without it. Any number of times."""
        if "_writer" in self.__dict__:
            self._writer.close()
        if self._lock_file >= 0:
            os.close(self._lock_file)
            self._lock_file = -1
        self._close_readers()
        if self._users_file >= 0:
            os.close(self._users_file)
            self._users_file = -1

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: on the disk when the block ends, undone when it raises."""
        with self._turn, self._among_processes(), self._clear_errors():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:  # SQLite undoes some failures by itself
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One view of everything committed so far, whatever others write in the meantime."""
        with self._clear_errors(), self._reader() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        connection = self._readers.get()
        try:
            if self._lock_file < 0:
                raise ValueError(f"{self.path} is closed; open it again")
            connection = connection or _connect(self.path)
            yield connection
        finally:
            self._readers.put(connection)
            if self._lock_file < 0:
                self._close_readers()

    def _close_readers(self) -> None:
        """Those that are in use are closed when they come back."""
        idle = []
        with suppress(queue.Empty):
            while True:
                idle.append(self._readers.get_nowait())
        for connection in idle:
            if connection is not None:
                connection.close()
            self._readers.put(None)

    def _check_leftovers(self) -> None:
        """Count among the users; the first one refuses a damaged write-ahead file."""
        try:
            fcntl.flock(self._users_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left = Path(f"{self.path}-wal")
            if left.exists() and is_damaged(left):
                raise BadFile(
                    f"{left} is damaged: a part before its end does not fit its checksum; use "
                    "another copy, with the file beside it"
                )
        except BlockingIOError:
            pass  # somebody has it open, and has looked
        fcntl.flock(self._users_file, fcntl.LOCK_SH)

    def _make(self, statements: tuple[str, ...], about: Mapping[str, str]) -> None:
        with self._among_processes():
            mode = self._writer.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise OSError(
                f"{self.path}: this file system has no shared memory for SQLite's write-ahead "
                "mode; use a local disk"
            )
        with self.writing() as connection:
            if not _is_made(connection):  # another process may have been quicker
                for statement in statements:
                    connection.execute(statement)
                connection.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT)")
                connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        sync(self.path.parent)

    @contextmanager
    def _among_processes(self) -> Iterator[None]:
        if self._lock_file < 0:
            raise ValueError(f"{self.path} is closed; open it again")
        fcntl.flock(self._lock_file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            raise ValueError(f"{self.path} is closed; open it again") from None
        except sqlite3.DatabaseError as error:
            raise _clear_error(self.path, error) from error


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _connect(path: Path) -> sqlite3.Connection:
    # Each connection has a lock of its own here, so any thread may use it.
    connection = sqlite3.connect(
        path, timeout=SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = OFF")  # dropped rows need not be wiped
    return connection


def _is_made(connection: sqlite3.Connection) -> bool:
    found = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'about'"
    return connection.execute(found).fetchone() is not None


def _clear_error(path: Path, error: sqlite3.DatabaseError) -> Exception:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return BadFile(f"{path} is damaged: {error}; use another copy")
    if code == sqlite3.SQLITE_FULL:
        return OSError(
            errno.ENOSPC, f"disk full, nothing was written ({error}); free space", str(path)
        )
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return OSError(
            errno.EIO, f"{error}, nothing was written; check the disk and its rights", str(path)
        )
    if code == sqlite3.SQLITE_BUSY:
        return TimeoutError(
            f"{path} stayed locked for {SECONDS_TO_WAIT:g} s; stop the program that holds it"
        )
    return error
