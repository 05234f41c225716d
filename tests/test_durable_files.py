"""Whatever fails, and whenever: a file is the old one or the new one, and what was done stays."""

import random

import pytest

from nearcast.durable_files import make_folder, remove_unfinished, whole_file, whole_folder
from tests.faulty_files.disk import FAULTS, POWER_LOSS, FaultyDisk, ProcessDied

MOST_CALLS = 12
"""More than any of these makes."""


def write(root, content):
    with whole_file(root / "file") as file:
        file.write(content[:3])
        file.write(content[3:])


def fill(root, content):
    with (
        whole_folder(root / f"folder-{content.decode()}") as unfinished,
        whole_file(unfinished / "file") as file,
    ):
        file.write(content)


def make(root, content):
    make_folder(root / content.decode() / "below" / "deep")


def seen(root):
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def outcomes(tmp_path, act):
    """For each fault at each call: was it done, what is there then, before and after clean-up."""
    for number, (fault, calls) in enumerate(
        (fault, calls) for fault in FAULTS for calls in range(MOST_CALLS)
    ):
        root = tmp_path / str(number)
        root.mkdir()
        disk = FaultyDisk(root, random.Random(number))
        with disk.installed():
            act(root, b"before")
            old = seen(root)
            disk.order(fault, calls)
            try:
                act(root, b"afterwards")
                done = True
            except (OSError, ProcessDied):
                done = False
            disk.lose_power()
            remove_unfinished(root)
        yield done, old, seen(root), disk.faults[fault]


@pytest.mark.parametrize("act", [write, fill, make])
def test_old_or_new_and_durable_when_it_is_done(tmp_path, act):
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    act(fresh, b"before")
    act(fresh, b"afterwards")
    faults = 0
    for done, old, left, happened in outcomes(tmp_path, act):
        faults += happened
        new = seen(fresh)
        if done:
            assert left == new
        elif act is make:
            assert left.items() <= new.items()  # folders appear one after the other
            assert old.items() <= left.items()
        else:
            assert left in (old, new)
    assert faults > 20


def test_the_disk_forgets_what_was_not_synced(tmp_path):
    """The model itself: without it the tests above would prove nothing."""
    found = set()
    for seed in range(40):
        root = tmp_path / str(seed)
        root.mkdir()
        disk = FaultyDisk(root, random.Random(seed))
        with disk.create(root / "a") as file:
            file.write(b"hello")
        disk.rename(root / "a", root / "b")
        disk.lose_power()
        found.add(tuple(seen(root).items()))
    contents = {dict(each).get("b") for each in found}
    assert {None, b"", b"hello"} <= contents
    assert any("a" in dict(each) for each in found)
    assert () in found


def test_after_its_death_a_process_changes_nothing(tmp_path):
    disk = FaultyDisk(tmp_path, random.Random(1))
    disk.order(POWER_LOSS, 0)
    with disk.installed(), pytest.raises(ProcessDied):
        write(tmp_path, b"x")
    with pytest.raises(ProcessDied):
        disk.make_folder(tmp_path / "folder")
    assert seen(tmp_path) == {}
