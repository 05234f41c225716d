"""Which files there are at a path, and in which format each of them is."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

FORMATS = ("csv", "jsonl", "geojson", "parquet")
FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".geojson": "geojson",
    ".parquet": "parquet",
}
RESULT_SUFFIXES = (".csv", ".jsonl", ".geojson", ".parquet")
REJECTS_SUFFIXES = (".csv", ".jsonl", ".parquet")


class UnreadableFile(ValueError):
    """A file as a whole cannot be read; a bad row in a good file is a reject instead."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file and its format; text may be compressed, with a further suffix `.gz`."""

    path: Path
    format: str

    def open(self) -> IO[bytes]:
        """The bytes of the file, unpacked."""
        if self.path.suffix == ".gz":
            return cast(IO[bytes], gzip.open(self.path))
        return self.path.open("rb")

    def open_text(self) -> io.TextIOWrapper:
        """The text of the file with its line ends, without a byte order mark."""
        return io.TextIOWrapper(self.open(), encoding="utf-8-sig", newline="")


def data_files(path: Path, format: str | None = None) -> list[DataFile]:
    """The files with rows at `path`: itself, or all below a folder, in the order of their names.

    A suffix says the format, and `format` says it where the suffix does not. Below a folder, names
    that begin with `_` or `.` are no data, as everywhere in Spark, and empty files have no rows.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format {format!r} is none of {', '.join(FORMATS)}; give one of them")
    if path.is_dir():
        paths = [each for each in sorted(path.rglob("*")) if _is_data(each.relative_to(path), each)]
        if not paths:
            raise ValueError(f"folder {path} has no files; put some in, or give another path")
    elif path.exists():
        paths = [path]
    else:
        raise FileNotFoundError(f"{path} is not there; check the path")
    files = [DataFile(each, _format(each, format)) for each in paths if each.stat().st_size]
    if not files:
        raise ValueError(f"{path} is empty; give a file with rows")
    if len({file.format == "parquet" for file in files}) > 1:
        raise ValueError(f"folder {path} has Parquet and other files; put them into two folders")
    return files


def suffix_of(path: Path) -> str:
    """The suffix that says the format: `.gz` only says how the file is packed.

    >>> suffix_of(Path("a.csv.gz")), suffix_of(Path("a.parquet")), suffix_of(Path("a"))
    ('.csv', '.parquet', '')
    """
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _is_data(below: Path, path: Path) -> bool:
    return path.is_file() and not any(part.startswith(("_", ".")) for part in below.parts)


def _format(path: Path, otherwise: str | None) -> str:
    found = FORMAT_OF_SUFFIX.get(suffix_of(path), otherwise)
    if found is None:
        raise ValueError(
            f"{path} has none of the suffixes {', '.join(FORMAT_OF_SUFFIX)}; "
            "rename it, or give the format"
        )
    if found == "parquet" and path.suffix == ".gz":
        raise ValueError(f"{path}: Parquet is compressed inside; unpack the file")
    return found
