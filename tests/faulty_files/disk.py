"""A disk that fails on order, and after a power failure has only what was synced.

It stands in for `nearcast.durable_files.disk`. Files are real ones, below one folder; beside them
it remembers what of them is durable:

- what a file held when it was last synced; of what came later nothing, a part or all may be there
- which names a folder had when it was last synced; of what was made, renamed or removed later
  anything may have happened, each apart from the others
"""

import errno
import os
import shutil
from collections import Counter
from contextlib import contextmanager

from nearcast import durable_files
from nearcast.durable_files import Disk

FAILED_RENAME, FAILED_SYNC, FULL_DISK = "failed rename", "failed sync", "full disk"
"""The call fails, and the process goes on."""
TORN_WRITE, KILL, POWER_LOSS = "torn write", "sudden death", "power loss"
"""The process is gone: after a part of a write, or anywhere; or with the power, and what was not
synced too."""
FAULTS = (FAILED_RENAME, FAILED_SYNC, FULL_DISK, TORN_WRITE, KILL, POWER_LOSS)

CREATE, WRITE, SYNC, RENAME, MAKE_FOLDER, SYNC_FOLDER, REMOVE = CALLS = (
    "create",
    "write",
    "sync",
    "rename",
    "make folder",
    "sync folder",
    "remove",
)
_HITS = {
    FAILED_RENAME: {RENAME},
    FAILED_SYNC: {SYNC, SYNC_FOLDER},
    FULL_DISK: {CREATE, WRITE, MAKE_FOLDER},
    TORN_WRITE: {WRITE},
    KILL: set(CALLS),
    POWER_LOSS: set(CALLS),
}
_ERRORS = {FAILED_RENAME: errno.EIO, FAILED_SYNC: errno.EIO, FULL_DISK: errno.ENOSPC}


class ProcessDied(BaseException):
    """Nothing that the process still tries to do happens; go on with `restart`."""


class FaultyDisk(Disk):
    """Everything below `root` is its own; `draw` is a seeded `random.Random`.

    - `faults`: how many of each kind have happened
    """

    def __init__(self, root, draw):
        self.root = root
        self.faults = Counter()
        self._draw = draw
        self._order = None
        self._is_dead = False
        self._tree = _Folder()
        self._learn(root, self._tree)

    @contextmanager
    def installed(self):
        """All durable files of this process go through it."""
        honest, durable_files.disk = durable_files.disk, self
        try:
            yield self
        finally:
            durable_files.disk = honest

    def order(self, fault, calls):
        """The fault happens at a call that it can hit, when `calls` others have gone well."""
        self._order = fault, calls

    def be_good(self):
        """What was ordered and has not happened does not happen."""
        self._order = None

    def restart(self):
        """As when the process is started again, after the machine if need be."""
        if self._is_dead == POWER_LOSS:
            survivors = self._tree.after_power_loss(self._draw)
            shutil.rmtree(self.root)
            survivors.write_to(self.root)
            self._tree = survivors
        self._is_dead, self._order = False, None

    def lose_power(self):
        """Now, and start again."""
        self._is_dead = POWER_LOSS
        self.restart()

    # ------------------------------------------------------------ what the product calls

    def create(self, path):
        self._meet(CREATE)
        file = _FaultyFile(self, super().create(path))
        self._parent(path).put(path.name, file.node)
        return file

    def sync(self, file):
        self._meet(SYNC)
        file.flush()
        file.node.durable = file.content()

    def rename(self, source, target):
        with self._meeting(RENAME):
            super().rename(source, target)
            node = self._parent(source).names[source.name]
            self._parent(target).put(target.name, node)
            self._parent(source).put(source.name, None)

    def link(self, path, target):
        with self._meeting(CREATE):
            super().link(path, target)
            self._parent(target).put(target.name, self._parent(path).names[path.name])

    def make_folder(self, path):
        if not path.is_relative_to(self.root):
            super().make_folder(path)
            return
        with self._meeting(MAKE_FOLDER):
            if not path.is_dir():
                super().make_folder(path)
                self._parent(path).put(path.name, _Folder())

    def sync_path(self, path):
        if not path.is_relative_to(self.root):
            return  # that of a database, say
        with self._meeting(SYNC_FOLDER):
            self._folder(path).sync()

    def remove(self, path):
        with self._meeting(REMOVE):
            is_there = path.exists()
            super().remove(path)
            if is_there:
                self._parent(path).put(path.name, None)

    def write(self, file, data):
        """Write for a file of this disk."""
        fault = self._meet(WRITE, does_more=True)
        view = memoryview(data).cast("B")
        if fault is None:
            return file.write(view)
        file.write(view[: self._draw.randrange(len(view) + 1)])
        file.flush()
        self._happen(fault)

    # ------------------------------------------------------------ what goes wrong

    @contextmanager
    def _meeting(self, call):
        """A death comes before the call, or after it."""
        fault = self._due(call)
        is_late = fault in (KILL, POWER_LOSS) and self._draw.random() < 0.5
        if fault and not is_late:
            self._happen(fault)
        yield
        if is_late:
            self._happen(fault)

    def _meet(self, call, does_more=False):
        fault = self._due(call)
        if fault and not does_more:
            self._happen(fault)
        return fault

    def _due(self, call):
        if self._is_dead:
            raise ProcessDied
        if self._order is None:
            return None
        fault, calls = self._order
        if calls > 0:
            self._order = fault, calls - 1
            return None
        return fault if call in _HITS[fault] else None

    def _happen(self, fault):
        self.faults[fault] += 1
        self._order = None
        if fault in _ERRORS:
            raise OSError(_ERRORS[fault], f"{os.strerror(_ERRORS[fault])} (injected)")
        self._is_dead = fault
        raise ProcessDied

    # ------------------------------------------------------------ what is where

    def _folder(self, path):
        found = self._tree
        for name in path.relative_to(self.root).parts:
            found = found.names[name]
        return found

    def _parent(self, path):
        return self._folder(path.parent)

    def _learn(self, path, folder):
        for each in path.iterdir():
            if each.is_dir():
                node = _Folder()
                self._learn(each, node)
            else:
                node = _File(each.read_bytes())
            folder.put(each.name, node)
        folder.sync()


class _FaultyFile:
    """A file that asks its disk before it writes."""

    def __init__(self, disk, file):
        self.node = _File()
        self._disk = disk
        self._file = file

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        return self._disk.write(self._file, data)

    def content(self):
        """All that was written, wherever the file stands now."""
        handle = self._file.fileno()
        return os.pread(handle, os.fstat(handle).st_size, 0)

    def close(self):
        if not self._file.closed:
            self._file.flush()
            self.node.written = self.content()
            self._file.close()


class _File:
    def __init__(self, content=b""):
        self.durable = self.written = content

    def sync(self):
        self.durable = self.written

    def after_power_loss(self, draw):
        if self.written == self.durable:
            return _File(self.durable)
        part = self.written[: draw.randrange(len(self.written) + 1)]
        return _File(draw.choice([self.durable, part, self.written]))

    def write_to(self, path):
        path.write_bytes(self.durable)


class _Folder:
    def __init__(self):
        self.names = {}
        self._durable = {}
        self._since = []  # names and nodes, in their order; None for a name that is gone

    def put(self, name, node):
        self._since.append((name, node))
        if node is None:
            del self.names[name]
        else:
            self.names[name] = node

    def sync(self):
        self._durable, self._since = dict(self.names), []

    def after_power_loss(self, draw):
        found = dict(self._durable)
        for name, node in self._since:
            if draw.random() < 0.5:
                found.pop(name, None)
                if node is not None:
                    found[name] = node
        left = _Folder()
        for name, node in found.items():
            left.put(name, node.after_power_loss(draw))
        left.sync()
        return left

    def write_to(self, path):
        path.mkdir()
        for name, node in self._durable.items():
            node.write_to(path / name)
