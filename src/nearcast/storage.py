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

import io
import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from nearcast.durable_files import whole_file

Buffer = bytes | bytearray | memoryview

MAGIC = b"NEARCAST"
VERSION = 5
ALIGNMENT = 64
_PREFIX = struct.Struct("<8sIIQ")
_CHECK = "xxh3"


class BadFile(ValueError):
    """The file is not what it should be: foreign, truncated, damaged, or of another kind."""


def write_arrays(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write arrays and a JSON-able `meta` to `path`, all or nothing.

    >>> path = getfixture("tmp_path") / "a.near"
    >>> write_arrays(path, "example", {"answer": 42}, {"x": np.arange(3)})
    >>> meta, arrays = read_arrays(path, "example")
    >>> meta, arrays["x"]
    ({'answer': 42}, array([0, 1, 2]))
    """
    if isinstance(path, PartPath):
        assert path.written is not None
        path.written[path.name] = (kind, dict(meta), dict(arrays))
        return
    with whole_file(Path(path)) as file:
        _write(file, kind, meta, arrays)


class PartPath:
    """A part of a file that holds several things; what saves to a path, or loads, takes it too.

    A part may have parts itself. `written` is where those of a file that is being made are
    gathered.
    """

    def __init__(
        self, path: str | os.PathLike[str], name: str, written: dict[str, Any] | None = None
    ) -> None:
        self._path = os.fspath(path)
        self.name = name
        self.names: tuple[str, ...] = (*_names_in(path), name)
        self.written = written

    def __fspath__(self) -> str:
        return self._path


@contextmanager
def writing_parts(
    path: str | os.PathLike[str], kind: str
) -> Iterator[Callable[[str], os.PathLike[str]]]:
    """Several things in one file, all or nothing: gives a path for the name of each.

    >>> path = getfixture("tmp_path") / "ab.near"
    >>> with writing_parts(path, "pair") as part_path:
    ...     write_arrays(part_path("a"), "example", {"answer": 42}, {"x": np.arange(3)})
    ...     write_arrays(part_path("b"), "example", {"answer": 7}, {})
    >>> part_kinds(path)
    {'a': 'example', 'b': 'example'}
    >>> read_arrays(PartPath(path, "a"), "example")
    ({'answer': 42}, {'x': array([0, 1, 2])})
    """
    gathered: dict[str, Any] = {}
    yield lambda name: PartPath(path, name, gathered)
    parts: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, (part_kind, meta, own) in gathered.items():
        parts[name] = {"kind": part_kind, "meta": meta}
        arrays |= {f"{name}/{field}": array for field, array in own.items()}
    write_arrays(path, kind, {"parts": parts}, arrays)


def part_kinds(path: str | os.PathLike[str]) -> dict[str, str]:
    """Which parts a file has that `writing_parts` wrote, and what each holds.  O(header)."""
    parts = _content(path)["meta"]["parts"]
    return {name: about["kind"] for name, about in parts.items()}


def _names_in(path: object) -> tuple[str, ...]:
    """Which part of a file a path leads to, and of which part that is one."""
    return path.names if isinstance(path, PartPath) else ()


def _content(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Kind and meta of what a path leads to."""
    content = _header(os.fspath(path), _mapped(path))[0]
    for name in _names_in(path):
        content = content["meta"]["parts"][name]
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a small JSON object with a checksum, for people to read too, all or nothing.

    >>> path = getfixture("tmp_path") / "about.json"
    >>> write_json(path, {"answer": 42})
    >>> read_json(path)
    {'answer': 42}
    """
    checked = {**content, _CHECK: _json_check(content)}
    with whole_file(path) as file:
        file.write(json.dumps(checked, indent=1).encode())


def read_json(path: Path, *, unchecked: Callable[[dict[str, Any]], bool] | None = None) -> Any:
    """The object that `write_json` wrote; `BadFile` when it is damaged.

    `unchecked` tells of an object without a checksum whether an earlier release wrote it so.
    """
    try:
        content = json.loads(path.read_bytes())
        check = content.pop(_CHECK, None)
    except (ValueError, AttributeError) as error:  # no JSON, or no object
        raise BadFile(f"{path} is damaged: {error}; use another copy") from None
    was_unchecked = check is None and unchecked is not None and unchecked(content)
    if check != _json_check(content) and not was_unchecked:
        raise BadFile(f"{path} is damaged: it does not fit its checksum; use another copy")
    return content


def _json_check(content: Mapping[str, Any]) -> str:
    return xxhash.xxh3_64_hexdigest(json.dumps(content, sort_keys=True).encode())


def pack_arrays(kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """What `write_arrays` writes, as bytes that travel to another process.

    >>> unpack_arrays(pack_arrays("example", {"answer": 42}, {"x": np.arange(3)}), "example")
    ({'answer': 42}, {'x': array([0, 1, 2])})
    """
    file = io.BytesIO()
    _write(file, kind, meta, arrays)
    return file.getvalue()


def unpack_arrays(data: Buffer, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The meta and the arrays of what `pack_arrays` made: copies that can be written, checked."""
    # Kernels are compiled for arrays that can be written, so one copy is worth it.
    return _parse("a packed batch", np.array(np.frombuffer(data, np.uint8)), kind)


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
    return _parse(os.fspath(path), _mapped(path), kind, _names_in(path))


def read_kind(path: str | os.PathLike[str]) -> str:
    """What a file holds: the `kind` it was written with.  O(header), the arrays are not read.

    >>> path = getfixture("tmp_path") / "a.near"
    >>> write_arrays(path, "example", {}, {})
    >>> read_kind(path)
    'example'
    """
    kind: str = _content(path)["kind"]
    return kind


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with `prefix`, without it.

    >>> part({"a/x": np.arange(2), "b/x": np.arange(3)}, "a/")
    {'x': array([0, 1])}
    """
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def _write(
    file: IO[bytes], kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
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
    file.write(prefix + header)
    for entry, array in zip(entries, contents.values(), strict=True):
        file.seek(base + entry["offset"])
        file.write(_bytes_of(array))
    # Up to the next multiple, so that the length tells a truncated file.
    file.seek(0, os.SEEK_END)
    file.write(bytes(base + offset - file.tell()))


def _mapped(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """The bytes of a file; what is written to them stays in this process."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return np.empty(0, np.uint8)
        # A plain array over the map: kernels are compiled for arrays, not for their subclasses.
        return np.asarray(np.memmap(file, np.uint8, "c"))


def _header(name: str, memory: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """The header, checked, and where the arrays begin."""
    prefix = memory[: _PREFIX.size].tobytes()
    if len(prefix) < _PREFIX.size:
        raise BadFile(
            f"{name} is no Nearcast file: it is only {len(prefix)} bytes long; "
            "give a file that save() wrote"
        )
    magic, version, length, checksum = _PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise BadFile(
            f"{name} is no Nearcast file: it begins with {magic!r}; give a file that save() wrote"
        )
    if version != VERSION:
        raise BadFile(
            f"{name} has format version {version}, this Nearcast reads version {VERSION}; "
            "save it again with a matching release"
        )
    header = memory[_PREFIX.size : _PREFIX.size + length].tobytes()
    if xxhash.xxh3_64_intdigest(header) != checksum:
        raise BadFile(f"{name} is damaged: its header does not fit its checksum; use another copy")
    return json.loads(header), _aligned(_PREFIX.size + length)


def _parse(
    name: str, memory: NDArray[np.uint8], kind: str, part_names: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    content, base = _header(name, memory)
    entries, prefix = content["arrays"], ""
    for part_name in part_names:
        content, prefix = content["meta"]["parts"][part_name], f"{prefix}{part_name}/"
    if content["kind"] != kind:
        raise BadFile(
            f"{name} holds a {content['kind']}, not a {kind}; load it with {content['kind']}.load"
        )
    arrays: dict[str, NDArray[Any]] = {}
    for entry in entries:
        if not entry["name"].startswith(prefix):
            continue
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        begin = base + entry["offset"]
        end = begin + dtype.itemsize * int(np.prod(shape))
        if end > len(memory):
            raise BadFile(
                f"{name} is truncated: part {entry['name']!r} should end at byte {end}, the file "
                f"at {len(memory)}; use another copy"
            )
        array = memory[begin:end].view(dtype).reshape(shape)
        if xxhash.xxh3_64_hexdigest(_bytes_of(array)) != entry["xxh3"]:
            raise BadFile(
                f"{name} is damaged: its part {entry['name']!r} does not fit its checksum; "
                "use another copy"
            )
        arrays[entry["name"].removeprefix(prefix)] = array
    return content["meta"], arrays


def _bytes_of(array: NDArray[Any]) -> memoryview | bytes:
    return array.reshape(-1).view(np.uint8).data if array.nbytes else b""


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
