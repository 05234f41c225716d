"""Files and folders that appear whole or not at all, and are still there after a power failure.

Whatever Nearcast writes by itself and must not lose goes through `disk`: written beside its place,
synced, renamed, and then the folder is synced, without which the new name may be lost. What SQLite
writes is SQLite's affair.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


class Disk:
    """The few things that are asked of the file system; tests put one in its place that fails."""

    def create(self, path: Path) -> BinaryIO:
        """A new file, to be written and read again."""
        return open(path, "x+b")

    def sync(self, file: BinaryIO) -> None:
        """Wait until what was written to a file is on the disk."""
        file.flush()
        os.fsync(file.fileno())

    def rename(self, source: Path, target: Path) -> None:
        """Give a file or folder another name; a file that has it is replaced."""
        os.replace(source, target)

    def link(self, path: Path, target: Path) -> None:
        """Give a durable file a second name; a copy where that is on another disk."""
        try:
            os.link(path, target)
        except OSError:
            shutil.copy2(path, target)
            with open(target, "rb") as file:
                os.fsync(file.fileno())

    def make_folder(self, path: Path) -> None:
        """A new folder, unless it is there."""
        path.mkdir(exist_ok=True)

    def sync_path(self, path: Path) -> None:
        """Wait until it is on the disk which files a folder has, or what a file holds."""
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def remove(self, path: Path) -> None:
        """Delete a file, or a folder with all that is in it, if it is there."""
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


disk = Disk()


_unfinished: set[Path] = set()
"""Folders that are being filled: their files become durable with them."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file, all or nothing: it has its name, durably, when the block ends.

    >>> file = getfixture("tmp_path") / "greeting"
    >>> with whole_file(file) as new:
    ...     _ = new.write(b"hello")
    >>> file.read_bytes()
    b'hello'
    """
    if path.parent in _unfinished:
        with disk.create(path) as file:
            yield file
        return
    temporary = _beside(path)
    try:
        with disk.create(temporary) as file:
            yield file
            disk.sync(file)
        disk.rename(temporary, path)
    except BaseException:
        _give_up(temporary)
        raise
    disk.sync_path(path.parent)


class UnfinishedFolder:
    """A folder that appears whole, filled now and finished later, by another thread if need be.

    The name must be new. Who fills it has changing data at hand and does not wait for the disk; who
    finishes it does.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = _beside(path)

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """Gives the place to fill, with files alone; nothing is left of it if that fails."""
        disk.make_folder(self._place)
        _unfinished.add(self._place)
        try:
            yield self._place
        except BaseException:
            _give_up(self._place)
            raise
        finally:
            _unfinished.discard(self._place)

    def finish(self) -> None:
        """Wait until all of it is on the disk and give it its name."""
        try:
            for file in self._place.iterdir():
                disk.sync_path(file)
            disk.sync_path(self._place)
            disk.rename(self._place, self._path)
        except BaseException:
            _give_up(self._place)
            raise
        disk.sync_path(self._path.parent)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Fill a folder with files, all or nothing; the name must be new."""
    folder = UnfinishedFolder(path)
    with folder.filling() as place:
        yield place
    folder.finish()


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless they are there; durable on return."""
    if not path.is_dir():
        make_folder(path.parent)
        disk.make_folder(path)
        disk.sync_path(path.parent)


def sync(path: Path) -> None:
    """Make durable what a file holds, or which files a folder has, whoever made them."""
    disk.sync_path(path)


def link(path: Path, target: Path) -> None:
    """Give a durable file a second name, in a folder that is yet to be synced."""
    disk.link(path, target)


def remove(path: Path) -> None:
    """Delete a file or a folder, if it is there; a power failure may bring it back."""
    disk.remove(path)


def remove_unfinished(folder: Path, names: str = "*") -> None:
    """Delete from a folder what a crash kept from getting its name, one of `names`, a pattern."""
    for path in folder.glob(f".{names}.*"):
        disk.remove(path)


def _beside(path: Path) -> Path:
    """A hidden name that nobody else has, in the same folder."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}")


def _give_up(temporary: Path) -> None:
    with suppress(OSError):  # the failure that led here says more
        disk.remove(temporary)
