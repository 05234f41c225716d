"""How much memory do the processes of this machine have of the snapshots they map?  (Linux)"""

import re
from dataclasses import dataclass
from pathlib import Path

_MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ .{4} \S+ \S+ \d+ +(?P<file>/.*)?$")
_KILOBYTES = re.compile(r"^(?P<what>Pss|Private_Dirty): +(?P<number>\d+) kB$")


@dataclass(frozen=True)
class Mapped:
    """Of all files under a folder.

    - `processes`: that map any of them
    - `resident`: bytes in memory, each page counted once however many processes share it
    - `copied`: bytes that a process has written to, and so has for itself
    """

    processes: int
    resident: int
    copied: int


def mapped_memory(folder: Path) -> Mapped:
    processes = resident = copied = 0
    for process in Path("/proc").iterdir():
        try:
            text = (process / "smaps").read_text() if process.name.isdigit() else ""
        except OSError:  # not ours, or gone meanwhile
            continue
        found = _sums(text, f"{folder}/")
        if found["Pss"]:
            processes += 1
            resident += found["Pss"]
            copied += found["Private_Dirty"]
    return Mapped(processes, resident, copied)


def _sums(smaps: str, folder: str) -> dict[str, int]:
    sums = {"Pss": 0, "Private_Dirty": 0}
    is_ours = False
    for line in smaps.splitlines():
        if mapping := _MAPPING.match(line):
            is_ours = (mapping["file"] or "").startswith(folder)
        elif is_ours and (size := _KILOBYTES.match(line)):
            sums[size["what"]] += 1024 * int(size["number"])
    return sums
