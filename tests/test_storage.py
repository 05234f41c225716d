"""One file that is whole, or an error; never a crash, never a wrong answer."""

import errno
import json
import os
import resource
import signal
import stat
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from nearcast import storage
from nearcast.batches import SubscriptionBatch
from nearcast.boolean import RarestWordTree, ScanIndex, TrieQuadtree
from nearcast.checks.boolean.samples import some_messages, some_subscriptions
from nearcast.model import Box, Space, Subscription
from nearcast.storage import BadFile, read_arrays, read_kind, write_arrays

ARRAYS = {
    "numbers": np.arange(100, dtype=np.int64),
    "bounds": np.linspace(0, 1, 64, dtype=np.float32).reshape(16, 4),
    "nothing": np.empty((0, 8), np.int32),
    "flags": np.array([True, False, True]),
    "one": np.array([7], np.uint16),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "example.near"
    write_arrays(path, "example", {"answer": 42}, ARRAYS)
    return path


def content(path):
    """What is read, in a form that can be compared."""
    meta, held = read_arrays(path, "example")
    return meta, {name: (a.dtype, a.shape, a.tolist()) for name, a in held.items()}


def left_behind(folder):
    return sorted(p.name for p in folder.iterdir())


# ---------------------------------------------------------------- what was written is read


def test_round_trip(path):
    meta, held = read_arrays(path, "example")
    assert meta == {"answer": 42}
    assert list(held) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert held[name].dtype == array.dtype
        assert np.array_equal(held[name], array)
        assert type(held[name]) is np.ndarray
    assert read_kind(path) == "example"


@given(
    arrays(
        st.sampled_from([np.int32, np.int64, np.float32, np.float64, np.uint8, np.bool_]),
        array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5),
    )
)
def test_any_array(tmp_path_factory, array):
    path = tmp_path_factory.getbasetemp() / "any.near"
    write_arrays(path, "example", {}, {"a": array, "transposed": array.T, "again": array})
    _, held = read_arrays(path, "example")
    assert held["a"].tobytes() == held["again"].tobytes() == array.tobytes()
    assert held["transposed"].tobytes() == array.T.tobytes()
    assert held["transposed"].shape == array.T.shape


def test_arrays_begin_at_cache_lines(path):
    _, held = read_arrays(path, "example")
    for array in held.values():
        if array.size:
            assert array.__array_interface__["data"][0] % 64 == 0


def test_read_arrays_are_copy_on_write(path):
    before = path.read_bytes()
    _, held = read_arrays(path, "example")
    _, other = read_arrays(path, "example")
    held["numbers"][:] = -1
    assert held["numbers"].sum() == -100
    assert path.read_bytes() == before
    assert np.array_equal(other["numbers"], ARRAYS["numbers"])


def test_replacing_a_file_leaves_its_readers_alone(path):
    _, held = read_arrays(path, "example")
    write_arrays(path, "example", {}, {"numbers": np.zeros(100, np.int64)})
    assert np.array_equal(held["numbers"], ARRAYS["numbers"])
    assert read_arrays(path, "example")[1]["numbers"].sum() == 0


def test_what_was_read_can_be_written_over_its_own_file(path):
    meta, held = read_arrays(path, "example")
    before = content(path)
    held["numbers"][0] = 5
    write_arrays(path, "example", meta, held)
    assert content(path)[1]["numbers"][2][:2] == [5, 1]
    assert content(path)[1]["bounds"] == before[1]["bounds"]


def test_other_users_may_read_as_the_umask_says(tmp_path):
    old = os.umask(0o022)
    try:
        write_arrays(tmp_path / "a.near", "example", {}, ARRAYS)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.near").stat().st_mode) == 0o644


def test_nothing_is_left_behind(path):
    assert left_behind(path.parent) == ["example.near"]


# ---------------------------------------------------------------- damage


def parts(path):
    """Where prefix, header and each array begin and end."""
    whole = path.read_bytes()
    _, _, length, _ = struct.unpack("<8sIIQ", whole[:24])
    header = json.loads(whole[24 : 24 + length])
    base = -(-(24 + length) // 64) * 64
    yield "prefix", 0, 24
    yield "header", 24, 24 + length
    for entry in header["arrays"]:
        size = np.dtype(entry["dtype"]).itemsize * int(np.prod(entry["shape"]))
        if size:
            yield entry["name"], base + entry["offset"], base + entry["offset"] + size


def test_truncated_at_every_part(path):
    whole = path.read_bytes()
    for _, begin, end in parts(path):
        for length in {begin, begin + 1, (begin + end) // 2, end - 1}:
            path.write_bytes(whole[:length])
            with pytest.raises(BadFile, match=r"example\.near"):
                read_arrays(path, "example")


def test_flipped_bit_in_every_part(path):
    whole = path.read_bytes()
    for _, begin, end in parts(path):
        for position in {begin, begin + 1, begin + 9, (begin + end) // 2, end - 1}:
            for bit in (0, 3, 7):
                damaged = bytearray(whole)
                damaged[min(position, end - 1)] ^= 1 << bit
                path.write_bytes(damaged)
                with pytest.raises(BadFile, match=r"example\.near"):
                    read_arrays(path, "example")


def test_flipped_bit_anywhere(path):
    """In the gaps between parts it may go unnoticed, for nothing is read there."""
    whole, right = path.read_bytes(), content(path)
    for position in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        try:
            assert content(path) == right
        except BadFile:
            continue


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes(tmp_path_factory, noise, begins_well):
    path = tmp_path_factory.getbasetemp() / "noise.near"
    path.write_bytes(b"NEARCAST" + struct.pack("<I", 1) + noise if begins_well else noise)
    with pytest.raises(BadFile, match=r"noise\.near"):
        read_arrays(path, "example")
    with pytest.raises(BadFile, match=r"noise\.near"):
        read_kind(path)


@pytest.mark.parametrize(
    "foreign",
    [b"", b"\x00", b"PAR1" + bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(100), b"id,west\n1,2\n" * 9],
)
def test_foreign_file(path, foreign):
    path.write_bytes(foreign)
    with pytest.raises(BadFile, match="no Nearcast file"):
        read_arrays(path, "example")


def test_other_kind(path):
    with pytest.raises(BadFile, match=r"holds a example, not a Tree; .*example\.load"):
        read_arrays(path, "Tree")


def test_other_version(path):
    whole = bytearray(path.read_bytes())
    whole[8:12] = struct.pack("<I", storage.VERSION + 1)
    path.write_bytes(whole)
    with pytest.raises(BadFile, match=f"version {storage.VERSION + 1}.*version {storage.VERSION}"):
        read_arrays(path, "example")


def test_no_file_and_no_file_but_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "missing.near", "example")
    with pytest.raises(IsADirectoryError):
        read_arrays(tmp_path, "example")
    with pytest.raises(FileNotFoundError):
        write_arrays(tmp_path / "no" / "folder.near", "example", {}, ARRAYS)


# ---------------------------------------------------------------- writing that fails


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failing_write_leaves_the_old_file(path, monkeypatch, step):
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="no space left"):
        write_arrays(path, "example", {}, {"numbers": np.zeros(10)})
    assert path.read_bytes() == before
    assert left_behind(path.parent) == ["example.near"]


def test_meta_that_is_no_json_leaves_the_old_file(path):
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_arrays(path, "example", {"answer": object()}, ARRAYS)
    assert path.read_bytes() == before
    assert left_behind(path.parent) == ["example.near"]


def test_full_disk_leaves_the_old_file(path):
    """The system itself refuses to write more than some bytes, half way through the arrays."""
    before = path.read_bytes()
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, allowed[1]))
        with pytest.raises(OSError, match="File too large"):
            write_arrays(path, "example", {}, {"large": np.zeros(1_000_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert left_behind(path.parent) == ["example.near"]


def test_killed_writer_leaves_the_old_file(path):
    before = path.read_bytes()
    program = (
        "import os, sys, numpy as np\n"
        "from nearcast import storage\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), 9)\n"
        "storage.write_arrays(sys.argv[1], 'example', {}, {'large': np.zeros(1000)})\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    write_arrays(path, "example", {"answer": 43}, ARRAYS)
    assert read_arrays(path, "example")[0] == {"answer": 43}


# ---------------------------------------------------------------- indexes in files


def index_file(tmp_path, make_index):
    index = make_index()
    index.insert_batch(SubscriptionBatch.from_subscriptions(some_subscriptions(60, Space.EARTH)))
    for number in range(20):
        index.remove(number)
    index.save(tmp_path / "index.near")
    return index, tmp_path / "index.near"


@pytest.mark.parametrize("make_index", [ScanIndex, RarestWordTree])
def test_damaged_index_is_an_error_or_whole(tmp_path, make_index):
    index, path = index_file(tmp_path, make_index)
    messages = some_messages(20, Space.EARTH)
    right = [sorted(index.match(message)) for message in messages]
    whole = path.read_bytes()
    for position in range(0, len(whole), max(1, len(whole) // 150)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        try:
            loaded = type(index).load(path)
        except BadFile:
            continue
        assert [sorted(loaded.match(message)) for message in messages] == right
    for length in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:length])
        with pytest.raises(BadFile, match=r"index\.near"):
            type(index).load(path)


def test_index_of_another_class_is_refused(tmp_path):
    _, path = index_file(tmp_path, TrieQuadtree)
    for other in (RarestWordTree, ScanIndex):
        with pytest.raises(BadFile, match=r"TrieQuadtree\.load"):
            other.load(path)
    assert len(TrieQuadtree.load(path)) == 40


def test_loaded_index_is_independent_of_the_file_and_of_others(tmp_path):
    _, path = index_file(tmp_path, RarestWordTree)
    before = path.read_bytes()
    one, other = RarestWordTree.load(path), RarestWordTree.load(path)
    for number in range(20, 60):
        one.remove(number)
    one.insert(Subscription("new", "tea", Box(0, 0, 1, 1)))
    one.check()
    assert path.read_bytes() == before
    path.unlink()
    other.check()
    assert len(other) == 40
    assert one.ids() == ["new"]


def test_save_that_fails_leaves_index_and_file(tmp_path, monkeypatch):
    index, path = index_file(tmp_path, RarestWordTree)
    before = path.read_bytes()
    index.insert(Subscription("new", "tea"))

    def full(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space"):
            index.save(path)
    assert path.read_bytes() == before
    index.check()
    index.save(path)
    assert "new" in RarestWordTree.load(path)


def test_parts_are_written_all_or_none(tmp_path):
    path = tmp_path / "parts.near"
    with storage.writing_parts(path, "pair") as part_path:
        write_arrays(part_path("a"), "example", {"n": 1}, {"x": np.arange(3)})
        write_arrays(part_path("b"), "other", {"n": 2}, {"x": np.arange(4)})
    with pytest.raises(TypeError), storage.writing_parts(path, "pair") as part_path:
        write_arrays(part_path("a"), "example", {"n": object()}, {})
    assert read_kind(path) == "pair"
    assert storage.part_kinds(path) == {"a": "example", "b": "other"}
    for name, kind, n, size in (("a", "example", 1, 3), ("b", "other", 2, 4)):
        meta, arrays = read_arrays(storage.PartPath(path, name), kind)
        assert (meta, arrays["x"].tolist()) == ({"n": n}, list(range(size)))
    with pytest.raises(BadFile, match="holds a example, not a other"):
        read_arrays(storage.PartPath(path, "a"), "other")
    assert [file.name for file in tmp_path.iterdir()] == ["parts.near"]
