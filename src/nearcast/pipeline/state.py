"""Where a stream keeps its shards: a folder beside Spark's checkpoint.

    state.json                     what never changes: format, key, shards, types of ids
    partitioning.near, distribution.json
    shard-0003/
      snapshot-000000000120-4f…/   the subscriptions after batch 120
      changes-000000000121.near    what batch 121 changed
      rejects-000000000121.parquet, notifications-000000000121.parquet
                                   what batch 121 gave; the notifications come last and say: done
    hosted/shard-0003/             the same of subscriptions that have a result of their own, where
                                   messages are changes too, and results-….parquet what they became,
                                   parts-….parquet what several shards have to tell together
    hosted/merged/                 what they told, results-… and notifications-…, and homes-….json,
                                   which lists are in other shards from the next batch on
    shards-4f…/                    all but state.json, which names this folder, after `reshard`

Every file appears whole or not at all. A batch that is replayed after a crash finds what it had
done and gives the same again.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nearcast.durable_files import make_folder, remove, remove_unfinished, sync
from nearcast.pipeline.partitioning import Partitioning, load_partitioning
from nearcast.storage import BadFile, read_json, write_json

FORMAT, RESHARDED = 2, 3
READABLE = (1, FORMAT, RESHARDED)
"""Format 1 is the same, but for the checksum of state.json; 3 has its shards in another folder."""

SPARK, SAVED = "spark", "nearcast"
"""The folders of a checkpoint: Spark's own, and this one."""

LONGEST_SHOWN = 300  # letters of a value in a message
_ABOUT, _PARTITIONING, _NEW_SHARDS = "state.json", "partitioning.near", "shards-"
_DISTRIBUTION, _MERGED = "distribution.json", "merged"
_SNAPSHOT = re.compile(r"snapshot-(\d{12})-[0-9a-f]{32}")
_NUMBERED = re.compile(r"(changes|rejects|results|parts|notifications)-(\d{12})\.\w+")


class BadCheckpoint(ValueError):
    """The checkpoint is of another format or another stream, or cannot be read."""


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """What a shard is restored from: a snapshot, and the batches with changes after it.

    - `earlier`: the batch of the snapshot before, and those with changes from there to this one,
      whose files are still there, for copies that have missed some; () where that is not so
    """

    snapshot: Path | None = None
    snapshot_batch: int = -1
    changes: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()

    def before(self, batch: int) -> ShardFiles:
        """Without what `batch` and later ones changed."""
        return replace(self, changes=tuple(number for number in self.changes if number < batch))

    def with_snapshot(self, new: ShardFiles) -> ShardFiles:
        """With a newer one, which has taken in the changes up to its batch."""
        taken_in = (number for number in self.changes if number <= new.snapshot_batch)
        later = tuple(number for number in self.changes if number > new.snapshot_batch)
        return replace(new, changes=later, earlier=(self.snapshot_batch, *taken_in))

    @property
    def chain(self) -> tuple[int, ...]:
        """A copy as of the first of these batches, or later, takes in what the others changed."""
        return (*(self.earlier or (self.snapshot_batch,)), *self.changes)

    @property
    def last(self) -> int:
        """The last batch that changed the shard, -1 for none."""
        return self.changes[-1] if self.changes else self.snapshot_batch

    def followed_by(self, batch: int) -> ShardFiles:
        """With what `batch` changed."""
        return replace(self, changes=(*self.changes, batch))


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The folder, its key, which no other state ever has, and the run, which no other start has.

    - `shards_in`: the folder inside that has the shards, "" for none of their own
    """

    folder: Path
    key: str
    run: str
    shards_in: str = ""

    @classmethod
    def open(cls, folder: Path) -> StateFolder:
        """The state that is there; `BadCheckpoint` when it cannot be read."""
        content = _read_about(folder / _ABOUT)
        return cls(folder, content["key"], uuid.uuid4().hex, content.get("shards_in", ""))

    def facts(self) -> dict[str, Any]:
        """What state.json says."""
        return _read_about(self.folder / _ABOUT)

    @classmethod
    def create_or_open(
        cls,
        folder: Path,
        facts: dict[str, Any],
        partitioning: Partitioning,
        distribution: dict[str, Any] | None = None,
    ) -> StateFolder:
        """The state of a stream with these facts; `BadCheckpoint` when it belongs to another.

        `distribution`: of results, as JSON.
        """
        remove_empty_words(folder.parent / SPARK)
        if not (folder / _ABOUT).exists():
            new = cls(folder, "", "")
            new.fill(partitioning, distribution, has_results=bool(facts.get("results")))
            write_json(folder / _ABOUT, {"format": FORMAT, "key": uuid.uuid4().hex, **facts})
        state = cls.open(folder)
        content = state.facts()
        for name, value in facts.items():
            if content.get(name) != value:
                way_out = ", or change it with `nearcast reshard`" * (
                    name in facts_of(partitioning)
                )
                raise BadCheckpoint(
                    f"{folder} was made with {name} {_shown(content.get(name))}, now it is "
                    f"{_shown(value)}; these are fixed for the life of a checkpoint: use the old "
                    f"value, or a new checkpoint{way_out}"
                )
        state.remove_replaced()
        return state

    @property
    def home(self) -> Path:
        """Where everything is that depends on the partitioning."""
        return self.folder / self.shards_in

    def hosted(self) -> StateFolder:
        """Where the shards keep subscriptions that have a result."""
        return StateFolder(self.home / "hosted", self.key, self.run)

    def with_new_shards(self) -> StateFolder:
        """The same state with room for other shards, to `fill`; they wait for `take_over`."""
        new = replace(self, shards_in=f"{_NEW_SHARDS}{uuid.uuid4().hex}")
        make_folder(new.home)
        return new

    def take_over(self, results: dict[str, Any] | None) -> None:
        """From now on these are the shards, durably; all of their files must be.

        `results`: the facts of their settings. One file decides: who is killed before it has its
        name has changed nothing.
        """
        facts = self.facts() | facts_of(self.partitioning()) | {"results": results}
        write_json(
            self.folder / _ABOUT, {**facts, "format": RESHARDED, "shards_in": self.shards_in}
        )

    def remove_replaced(self) -> None:
        """Delete shards that were replaced, and those of a `reshard` that was not finished."""
        found = [*self.folder.glob(f"{_NEW_SHARDS}*")]
        if self.shards_in:
            found += self.folder.glob("shard-*")
            found += [self.folder / name for name in ("hosted", _PARTITIONING, _DISTRIBUTION)]
        replaced = [path for path in found if path.exists() and path.name != self.shards_in]
        if replaced:
            sync(self.folder)  # who wrote state.json may not have come so far
        for path in replaced:
            remove(path)

    def fill(
        self, partitioning: Partitioning, distribution: dict[str, Any] | None, *, has_results: bool
    ) -> None:
        """Have folders for shards, and how subscriptions and results are divided among them."""
        self.make_shard_folders(partitioning.shards)
        if has_results:
            self.hosted().make_shard_folders(partitioning.shards)
        partitioning.save(self.home / _PARTITIONING)
        if distribution is not None:
            write_json(self.home / _DISTRIBUTION, distribution)

    def make_shard_folders(self, shards: int) -> None:
        """Have a folder for each."""
        for shard in range(shards):
            make_folder(self.shard_folder(shard))

    def partitioning(self) -> Partitioning:
        """The partitioning that the state was made with."""
        return load_partitioning(self.home / _PARTITIONING)

    def distribution(self) -> dict[str, Any] | None:
        """How results are spread over shards, as JSON; None where their ids decide."""
        path = self.home / _DISTRIBUTION
        if not (self.facts().get("results") or {}).get("distribution"):
            return None
        try:
            found: dict[str, Any] = read_json(path)
        except BadFile as error:
            raise BadCheckpoint(f"{error}, or restore the whole checkpoint") from None
        return found

    def shard_folder(self, shard: int) -> Path:
        """Where the files of a shard are."""
        return self.home / f"shard-{shard:04d}"

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

    def parts(self, shard: int, batch: int) -> Path:
        """What a batch changed in lists of which other shards have parts."""
        return self.shard_folder(shard) / f"parts-{batch:012d}.parquet"

    def merged(self, batch: int) -> tuple[Path, Path]:
        """What parts of lists tell together, and the lists."""
        folder = self.home / _MERGED
        return (
            folder / f"notifications-{batch:012d}.parquet",
            folder / f"results-{batch:012d}.parquet",
        )

    def new_homes(self, batch: int) -> Path:
        """Which lists are in other shards after a batch."""
        return self.home / _MERGED / f"homes-{batch:012d}.json"

    def batches_with_homes(self) -> list[int]:
        """The numbers of the batches that have decided so, ascending."""
        found = (self.home / _MERGED).glob("homes-*.json")
        return sorted(int(path.stem.removeprefix("homes-")) for path in found)

    def remove_merged(self, batch: int) -> None:
        """Delete what a batch told that the sink has for good."""
        for path in self.merged(batch):
            remove(path)

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
        for path in self.home.glob("shard-*/*"):
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
        remove(self.parts(shard, batch))

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
                and int(found[2]) not in files.earlier[1:]
            ):
                remove(path)


def facts_of(partitioning: Partitioning) -> dict[str, Any]:
    """What state.json says of a partitioning."""
    return {
        "partitioning": partitioning.name,
        "shards": partitioning.shards,
        "routes": partitioning.fingerprint(),
    }


def check_halves(checkpoint: Path) -> None:
    """Refuse a checkpoint of which a half is missing."""
    spark, saved = checkpoint / SPARK, checkpoint / SAVED
    begun = (saved / _ABOUT).exists()
    has_shards = any(saved.glob("shard-*/*")) or any(saved.glob(f"{_NEW_SHARDS}*/shard-*/*"))
    if (spark.exists() and not begun) or (not spark.exists() and has_shards):
        raise BadCheckpoint(
            f"{checkpoint} has only one of Spark's checkpoint, {spark.name}, and the "
            f"subscriptions, {saved.name}; the two belong together: restore both, or start a new "
            "checkpoint"
        )


def remove_empty_words(spark: Path) -> None:
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
    if "key" not in content:
        raise BadCheckpoint(f"{path} is damaged: it has no key; restore the whole checkpoint")
    return content


def _shown(value: Any) -> str:
    """For a message; word statistics may have a million words."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
