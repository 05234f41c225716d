"""What a crash of everything would leave of a SQLite file, and what may happen to it on the disk.

SQLite writes by itself, so that its calls cannot fail on order. But all that a process may leave
behind at its death is in the files: a copy of them is a crash. The system itself makes disks full.
"""

import resource
import shutil
from contextlib import contextmanager

SPARED = 64 * 1024
"""The file with shared memory must fit, or SQLite is killed by the system."""


def crash_image(folder, target):
    """The files as a `kill -9` of all processes, or a power failure after the last sync, does."""
    target.mkdir()
    for path in folder.iterdir():
        if path.suffix in (".sqlite", ".sqlite-wal"):
            shutil.copyfile(path, target / path.name)
    return target


def cut_short(path, durable, draw):
    """Of what a file has beyond its first `durable` bytes only a part was written, or wrongly."""
    data = path.read_bytes()
    end = draw.randrange(durable, len(data) + 1)
    noise = draw.randbytes(draw.randrange(len(data) - end + 1)) if draw.random() < 0.5 else b""
    path.write_bytes(data[:end] + noise)


def flip_bit(path, draw):
    """One bit of a file is another one; the answer is what it held."""
    good = path.read_bytes()
    at = draw.randrange(len(good))
    bad = bytearray(good)
    bad[at] ^= 1 << draw.randrange(8)
    path.write_bytes(bad)
    return good


@contextmanager
def no_space_beyond(size):
    """The system refuses to make any file larger than so many bytes."""
    limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(size, SPARED), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
