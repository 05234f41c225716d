"""Where a stream keeps its shards: a folder beside Spark's checkpoint.

    state.json                     what never changes: format, key, shards, types of ids
    partitioning.near
    shard-0003/
      snapshot-000000000120-4f…/   the subscriptions after batch 120
      changes-000000000121.near    what batch 121 changed
      rejects-000000000121.parquet, notifications-000000000121.parquet
                                   what batch 121 gave; the notifications come last and say: done
    hosted/shard-0003/             the same of subscriptions that have a result of their own, where
                                   messages are changes too, and results-….parquet what they became

Every file appears whole or not at all. A batch that is replayed after a crash finds what it had
done and gives the same again.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearcast.durable_files import make_folder, remove, remove_unfinished, sync
from nearcast.pipeline.partitioning import Partitioning, load_partitioning
from nearcast.storage import BadFile, read_json, write_json

FORMAT = 2
READABLE = (1, FORMAT)
"""Format 1 is the same, but for the checksum of state.json."""

SPARK = "spark"
"""The folder of Spark's own checkpoint, beside this one."""

_SNAPSHOT = re.compile(r"snapshot-(\d{12})-[0-9a-f]{32}")
_NUMBERED = re.compile(r"(changes|rejects|results|notifications)-(\d{12})\.\w+")


class BadCheckpoint(ValueError):
    """The checkpoint is of another format or another stream, or cannot be read."""


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """What a shard is restored from: a snapshot, and the batches with changes after it."""

    snapshot: Path | None = None
    snapshot_batch: int = -1
    changes: tuple[int, ...] = ()

    def before(self, batch: int) -> ShardFiles:
        """Without what `batch` and later ones changed."""
        kept = tuple(number for number in self.changes if number < batch)
        return ShardFiles(self.snapshot, self.snapshot_batch, kept)

    @property
    def last(self) -> int:
        """The last batch that changed the shard, -1 for none."""
        return self.changes[-1] if self.changes else self.snapshot_batch

    def followed_by(self, batch: int) -> ShardFiles:
        """With what `batch` changed."""
        return ShardFiles(self.snapshot, self.snapshot_batch, (*self.changes, batch))


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The folder, its key, which no other state ever has, and the run, which no other start has."""

    folder: Path
    key: str
    run: str

    @classmethod
    def create_or_open(
        cls, folder: Path, facts: dict[str, Any], partitioning: Partitioning
    ) -> StateFolder:
        """The state of a stream with these facts; `BadCheckpoint` when it belongs to another."""
        path = folder / "state.json"
        _remove_empty_words(folder.parent / SPARK)
        if not path.exists():
            new = cls(folder, "", "")
            new.make_shard_folders(partitioning.shards)
            if facts.get("results"):
                new.hosted().make_shard_folders(partitioning.shards)
            partitioning.save(folder / "partitioning.near")
            content = {"format": FORMAT, "key": uuid.uuid4().hex, **facts}
            write_json(path, content)
        else:
            content = _read_about(path)
            for name, value in facts.items():
                if content.get(name) != value:
                    raise BadCheckpoint(
                        f"{folder} was made with {name} {content.get(name)!r}, now it is "
                        f"{value!r}; these are fixed for the life of a checkpoint: use the old "
                        "value, or a new checkpoint"
                    )
        return cls(folder, content["key"], uuid.uuid4().hex)

    def hosted(self) -> StateFolder:
        """Where the shards keep subscriptions that have a result."""
        return StateFolder(self.folder / "hosted", self.key, self.run)

    def make_shard_folders(self, shards: int) -> None:
        """Have a folder for each."""
        for shard in range(shards):
            make_folder(self.shard_folder(shard))

    def partitioning(self) -> Partitioning:
        """The partitioning that the state was made with."""
        return load_partitioning(self.folder / "partitioning.near")

    def shard_folder(self, shard: int) -> Path:
        """Where the files of a shard are."""
        return self.folder / f"shard-{shard:04d}"

    def changes(self, shard: int, batch: int) -> Path:
        """What a batch changed in a shard."""
        return self.shard_folder(shard) / f"changes-{batch:012d}.near"

    def rejects(self, shard: int, batch: int) -> Path:
        """The rows of a batch that a shard refused."""
        return self.shard_folder(shard) / f"rejects-{batch:012d}.parquet"

    def notifications(self, shard: int, batch: int) -> Path:
        """The matches that a shard found for a batch."""
        return self.shard_folder(shard) / f"notifications-{batch:012d}.parquet"

    def results(self, shard: int, batch: int) -> Path:
        """The results that a batch changed in a shard, as they are after it."""
        return self.shard_folder(shard) / f"results-{batch:012d}.parquet"

    def new_snapshot(self, shard: int, batch: int) -> Path:
        """A name that no snapshot had before: mapped files must not change under a reader."""
        return self.shard_folder(shard) / f"snapshot-{batch:012d}-{uuid.uuid4().hex}"

    def files(self, shard: int) -> ShardFiles:
        """What there is, after a restart; leftovers of a crash are removed."""
        folder = self.shard_folder(shard)
        if not folder.is_dir():
            raise BadCheckpoint(f"{folder} is missing; restore the whole checkpoint")
        remove_unfinished(folder)
        newest = ShardFiles()
        changes = []
        for path in folder.iterdir():
            if found := _SNAPSHOT.fullmatch(path.name):
                if int(found[1]) > newest.snapshot_batch:
                    newest = ShardFiles(path, int(found[1]))
            elif (found := _NUMBERED.fullmatch(path.name)) and found[1] == "changes":
                changes.append(int(found[2]))
        kept = sorted(number for number in changes if number > newest.snapshot_batch)
        return ShardFiles(newest.snapshot, newest.snapshot_batch, tuple(kept))

    def batches_with_output(self, shard: int) -> list[int]:
        """The numbers of the batches whose notifications are here, ascending."""
        names = (_NUMBERED.fullmatch(path.name) for path in self.shard_folder(shard).iterdir())
        return sorted(int(name[2]) for name in names if name and name[1] == "notifications")

    def check_batch(self, batch: int) -> None:
        """Refuse to go on with a batch before one that was done: its rows are in already."""
        for path in self.folder.glob("shard-*/*"):
            found = _SNAPSHOT.fullmatch(path.name) or _NUMBERED.fullmatch(path.name)
            has_later = found and int(found[found.lastindex or 0]) > batch
            # A snapshot is made of batches that Spark has committed.
            is_ahead = _SNAPSHOT.fullmatch(path.name) and int(path.name.split("-")[1]) == batch
            if has_later or is_ahead:
                raise BadCheckpoint(
                    f"Spark's checkpoint is at batch {batch}, but {path} is of a later moment; the "
                    "two belong together: restore both, or start a new checkpoint"
                )
        # Made by Spark, which does not wait for the disk.
        spark = self.folder.parent / SPARK
        if spark.exists():
            for made in (*spark.glob("metadata"), spark, spark.parent):
                sync(made)

    def sync_plan(self, batch: int) -> None:
        """Make durable which rows Spark has decided to put into a batch.

        Spark does not wait for the disk. Were the decision lost with the power, the batch might
        come back with other rows, and steps that were done would not fit them.
        """
        plan = self.folder.parent / SPARK / "offsets" / str(batch)
        if plan.exists():
            sync(plan)
            sync(plan.parent)

    def change_bytes(self, shard: int, files: ShardFiles) -> int:
        """How large the files with changes since the snapshot are."""
        return sum(self.changes(shard, batch).stat().st_size for batch in files.changes)

    def remove_outputs(self, shard: int, batch: int) -> None:
        """Delete what a batch gave that the sink has for good."""
        remove(self.notifications(shard, batch))
        remove(self.rejects(shard, batch))
        remove(self.results(shard, batch))

    def remove_superseded(self, shard: int, files: ShardFiles) -> None:
        """Delete the snapshots and changes that `files` makes unnecessary."""
        for path in self.shard_folder(shard).iterdir():
            if found := _SNAPSHOT.fullmatch(path.name):
                if int(found[1]) < files.snapshot_batch:
                    remove(path)
            elif (
                (found := _NUMBERED.fullmatch(path.name))
                and found[1] == "changes"
                and int(found[2]) <= files.snapshot_batch
            ):
                remove(path)


def _remove_empty_words(spark: Path) -> None:
    """Remove the newest file of Spark's logs where a power failure left its name only.

    A batch that began has its plan on the disk (`sync_plan`), so that an empty plan is of none; one
    whose end is not on the disk ends once more.
    """
    for log in (spark / "offsets", spark / "commits"):
        numbered = [path for path in log.glob("*") if path.name.isdigit()]
        newest = max(numbered, key=lambda path: int(path.name), default=None)
        if newest is not None and newest.stat().st_size == 0:
            remove(newest)
            remove(log / f".{newest.name}.crc")


def _read_about(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = read_json(path, unchecked=lambda made: made.get("format") == 1)
    except BadFile as error:
        raise BadCheckpoint(f"{error}, or restore the whole checkpoint") from None
    if content.get("format") not in READABLE:
        raise BadCheckpoint(
            f"{path.parent} has format {content.get('format')}, this Nearcast reads "
            f"{' and '.join(map(str, READABLE))}; start a new checkpoint, or use the release that "
            "made it"
        )
    return content
