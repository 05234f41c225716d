"""Named arrays in one file that is checked when it is read, and mapped rather than copied.

    8 bytes   b"NEARCAST"
    4 bytes   format version, little endian
    4 bytes   length of the header
    8 bytes   xxh3 of the header
    header    JSON: kind, what the writer wants to remember, and for each array its name, dtype,
              shape, place in the file and xxh3
    arrays    each at a multiple of 64 bytes

A file is written beside its place, synced and renamed, so that a crash leaves the old one.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

MAGIC = b"NEARCAST"
VERSION = 1
ALIGNMENT = 64
_PREFIX = struct.Struct("<8sIIQ")
# It can only be read by setting it, which is better done once than while other threads work.
_UMASK = os.umask(0o077)
os.umask(_UMASK)


class BadFile(ValueError):
    """The file is not what it should be: foreign, truncated, damaged, or of another kind."""


def write_arrays(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write arrays and a JSON-able `meta` to `path`, all or nothing.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(folder + "/a.near", "example", {"answer": 42}, {"x": np.arange(3)})
    ...     meta, arrays = read_arrays(folder + "/a.near", "example")
    >>> meta, arrays["x"]
    ({'answer': 42}, array([0, 1, 2]))
    """
    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries: list[dict[str, Any]] = []
    offset = 0
    for name, array in contents.items():
        entries.append(
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": array.shape,
                "offset": offset,
                "xxh3": xxhash.xxh3_64_hexdigest(_bytes_of(array)),
            }
        )
        offset = _aligned(offset + array.nbytes)
    header = json.dumps({"kind": kind, "meta": dict(meta), "arrays": entries}).encode()
    prefix = _PREFIX.pack(MAGIC, VERSION, len(header), xxhash.xxh3_64_intdigest(header))
    base = _aligned(len(prefix) + len(header))

    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(prefix + header)
            for entry, array in zip(entries, contents.values(), strict=True):
                file.seek(base + entry["offset"])
                file.write(_bytes_of(array))
            # A hole at the end is part of the file: its length tells a truncated one.
            file.truncate(base + offset)
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~_UMASK)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def read_arrays(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The meta and the arrays of a file, checked against their checksums.

    Arrays are copy-on-write memory maps: reading shares the page cache with other processes,
    writing changes this process's copy and never the file.

    >>> read_arrays("/dev/null", "example")
    Traceback (most recent call last):
    nearcast.storage.BadFile: /dev/null is no Nearcast file: it is only 0 bytes long...
    """
    name = os.fspath(path)
    content, base, length = _read_header(path)
    if content["kind"] != kind:
        raise BadFile(
            f"{name} holds a {content['kind']}, not a {kind}; load it with {content['kind']}.load"
        )
    arrays: dict[str, NDArray[Any]] = {}
    for entry in content["arrays"]:
        array = _mapped(name, entry, base, length)
        if xxhash.xxh3_64_hexdigest(_bytes_of(array)) != entry["xxh3"]:
            raise BadFile(
                f"{name} is damaged: its part {entry['name']!r} does not fit its checksum; "
                "use another copy"
            )
        arrays[entry["name"]] = array
    return content["meta"], arrays


def read_kind(path: str | os.PathLike[str]) -> str:
    """What a file holds: the `kind` it was written with.  O(header), the arrays are not read.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(folder + "/a.near", "example", {}, {})
    ...     read_kind(folder + "/a.near")
    'example'
    """
    kind: str = _read_header(path)[0]["kind"]
    return kind


def _read_header(path: str | os.PathLike[str]) -> tuple[dict[str, Any], int, int]:
    """The header, checked; where the arrays begin; how long the file is."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        length = os.fstat(file.fileno()).st_size
        prefix = file.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size:
            raise BadFile(
                f"{name} is no Nearcast file: it is only {len(prefix)} bytes long; "
                "give a file that save() wrote"
            )
        magic, version, header_length, header_sum = _PREFIX.unpack(prefix)
        if magic != MAGIC:
            raise BadFile(
                f"{name} is no Nearcast file: it begins with {magic!r}; give a file that "
                "save() wrote"
            )
        if version != VERSION:
            raise BadFile(
                f"{name} has format version {version}, this Nearcast reads version {VERSION}; "
                "save it again with a matching release"
            )
        header = file.read(header_length)
    if xxhash.xxh3_64_intdigest(header) != header_sum:
        raise BadFile(f"{name} is damaged: its header does not fit its checksum; use another copy")
    return json.loads(header), _aligned(_PREFIX.size + header_length), length


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with `prefix`, without it.

    >>> part({"a/x": np.arange(2), "b/x": np.arange(3)}, "a/")
    {'x': array([0, 1])}
    """
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def _mapped(name: str, entry: dict[str, Any], base: int, length: int) -> NDArray[Any]:
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    begin = base + entry["offset"]
    end = begin + dtype.itemsize * int(np.prod(shape))
    if end > length:
        raise BadFile(
            f"{name} is truncated: part {entry['name']!r} should end at byte {end}, the file "
            f"at {length}; use another copy"
        )
    if begin == end:
        return np.empty(shape, dtype)
    # A plain array over the map: kernels are compiled for arrays, not for their subclasses.
    return np.asarray(np.memmap(name, dtype, "c", begin, shape))


def _bytes_of(array: NDArray[Any]) -> memoryview | bytes:
    return array.reshape(-1).view(np.uint8).data if array.nbytes else b""


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
