import gzip
from pathlib import Path

import pytest

from nearcast.pipeline.files.formats import data_files


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("a.csv.gz", "csv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.jsonl.gz", "jsonl"),
        ("a.geojson", "geojson"),
        ("a.b.parquet", "parquet"),
    ],
)
def test_the_suffix_says_the_format_even_when_another_is_given(name, format, tmp_path):
    path = write(tmp_path / name)
    [file] = data_files(path)
    assert (file.path, file.format) == (path, format)
    assert [each.format for each in data_files(path, "csv")] == [format]


def test_the_format_given_is_that_of_files_whose_suffix_says_nothing(tmp_path):
    write(tmp_path / "folder" / "a.json")
    write(tmp_path / "folder" / "b")
    write(tmp_path / "folder" / "c.csv")
    files = data_files(tmp_path / "folder", "jsonl")
    assert [(file.path.name, file.format) for file in files] == [
        ("a.json", "jsonl"),
        ("b", "jsonl"),
        ("c.csv", "csv"),
    ]


def test_a_folder_gives_its_files_below_in_order_and_none_that_is_no_data(tmp_path):
    for name in ("b.csv", "a.csv", "more/c.csv", "_SUCCESS", ".a.csv.crc", "_temporary/d.csv"):
        write(tmp_path / name)
    write(tmp_path / "empty.csv", "")
    names = [str(file.path.relative_to(tmp_path)) for file in data_files(tmp_path)]
    assert names == ["a.csv", "b.csv", "more/c.csv"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda folder: folder / "none.csv", "none.csv is not there; check the path"),
        (lambda folder: write(folder / "a.txt"), "has none of the suffixes .csv, .jsonl"),
        (lambda folder: write(folder / "a.parquet.gz"), "unpack the file"),
        (lambda folder: write(folder / "a.csv", ""), "a.csv is empty; give a file with rows"),
        (lambda folder: folder, "has no files; put some in"),
        (lambda folder: write(folder / "_SUCCESS").parent, "has no files"),
        (lambda folder: write(folder / "a.csv", "").parent, "is empty"),
        (
            lambda folder: write(write(folder / "a.csv").with_name("b.parquet")).parent,
            "has Parquet and other files",
        ),
        (lambda folder: write(write(folder / "a.csv").with_name("README.md")).parent, "README.md"),
    ],
)
def test_what_is_no_data_is_one_clear_line(make, reason, tmp_path):
    with pytest.raises((OSError, ValueError), match=reason) as raised:
        data_files(make(tmp_path))
    assert "\n" not in str(raised.value)


def test_an_unknown_format_is_named(tmp_path):
    with pytest.raises(ValueError, match="format 'xml' is none of csv, jsonl, geojson, parquet"):
        data_files(tmp_path, "xml")


def test_a_packed_file_is_unpacked(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"id\n1\n"))
    with data_files(path)[0].open() as data:
        assert data.read() == b"id\n1\n"
