"""Damage of a write-ahead file is told from a transaction that was cut short."""

import random
import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest

from nearcast.pipeline.log import Log
from nearcast.pipeline.log.write_ahead_check import is_damaged
from nearcast.storage import BadFile
from tests.faulty_files.images import crash_image, flip_bit

APPENDS = 12


@pytest.fixture
def sizes(tmp_path):
    """Of the write-ahead file after each append."""
    log = Log(tmp_path / "log")
    found = []
    for number in range(APPENDS):
        log.append(pa.table({"kind": ["message"] * 3, "id": [f"{number}-{n}" for n in range(3)]}))
        found.append((tmp_path / "log" / "log.sqlite-wal").stat().st_size)
    yield found
    log.close()


@pytest.fixture
def wal(tmp_path, sizes):
    return crash_image(tmp_path / "log", tmp_path / "image") / "log.sqlite-wal"


def test_a_good_one_is_good_wherever_it_ends(wal, sizes):
    assert not is_damaged(wal)
    whole = wal.read_bytes()
    for size in (0, 1, 32, 33, 56, *sizes, *(size - 1 for size in sizes)):
        wal.write_bytes(whole[:size])
        assert not is_damaged(wal)


def test_what_is_left_of_an_older_file_behind_its_end_is_no_damage(tmp_path, sizes):
    folder = tmp_path / "log"
    with Log(folder) as log:
        with closing(sqlite3.connect(folder / "log.sqlite")) as connection:
            connection.execute("PRAGMA wal_checkpoint(RESTART)")
        log.append(pa.table({"kind": ["message"], "id": ["new"]}))
        assert (folder / "log.sqlite-wal").stat().st_size == sizes[-1]  # overwritten, not longer
        assert not is_damaged(folder / "log.sqlite-wal")


def test_a_flipped_bit_before_the_last_transaction(wal, sizes):
    draw = random.Random(5)
    whole = wal.read_bytes()
    frame = 24 + 4096
    for number in range(200):
        # In the last frame of a transaction the next one's first frame is needed as a witness.
        at = draw.randrange(32) if number < 20 else draw.randrange(32, sizes[-2] - frame)
        bad = bytearray(whole)
        bad[at] ^= 1 << draw.randrange(8)
        wal.write_bytes(bad)
        assert is_damaged(wal), at


def test_a_last_transaction_that_is_cut_short_anywhere(wal, sizes):
    whole = wal.read_bytes()
    for end in range(sizes[-2], sizes[-1], 97):
        wal.write_bytes(whole[:end] + bytes(len(whole) - end))
        assert not is_damaged(wal)
    wal.write_bytes(whole[: sizes[-2] + 30])
    with Log(wal.parent) as log:
        assert log.end == 3 * (APPENDS - 1)


def test_a_damaged_log_is_refused_and_stays_as_it_is(wal, sizes):
    good = flip_bit(wal, random.Random(1))
    assert is_damaged(wal)
    bad = wal.read_bytes()
    for _ in range(2):
        with pytest.raises(BadFile, match=r"log\.sqlite-wal is damaged"):
            Log(wal.parent)
    assert wal.read_bytes() == bad
    wal.write_bytes(good)
    with Log(wal.parent) as log:
        assert log.end == 3 * APPENDS
