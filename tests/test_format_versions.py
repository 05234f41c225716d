"""Every kind of file says of which format it is; another one is read, or refused by its name."""

import json
import sqlite3
import struct
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearcast.boolean import RarestWordTree, ScanIndex
from nearcast.broker import Broker
from nearcast.model import Message, Point, Subscription
from nearcast.pipeline import NotificationStore, durable_parquet
from nearcast.pipeline.changes import Changes
from nearcast.pipeline.log import Log
from nearcast.pipeline.log import database as databases
from nearcast.pipeline.partitioning import Hash, load_partitioning
from nearcast.pipeline.snapshot import Snapshot
from nearcast.pipeline.state import FORMAT, READABLE, RESHARDED, BadCheckpoint, StateFolder
from nearcast.service.data_folder import DataFolder
from nearcast.service.service import Service
from nearcast.service.settings import Settings
from nearcast.service.stores.deliveries import Deliveries
from nearcast.service.stores.messages import Messages
from nearcast.service.stores.outbox import Outbox
from nearcast.service.stores.registry import open_registry
from nearcast.storage import VERSION, BadFile, read_json, write_json
from tests.pipeline.in_process import InProcessStream, log_table, lose_hot_copies, pairs_of

EVENTS = [
    Subscription("cafe", "tea"),
    ("unsubscribe", "nobody"),
    Message("m", text="tea", at=Point(0, 0)),
]

# ---------------------------------------------------------------- files with arrays


@pytest.fixture
def stream(tmp_path):
    """One batch, with a file of each kind."""
    stream = InProcessStream(tmp_path / "state", Hash(1), ScanIndex)
    stream.process(0, log_table(EVENTS))
    return stream


def saved(thing, path):
    thing.save(path)
    return path


def snapshot_part(stream, name):
    stream.process(1, log_table([Subscription("more", "cake")], 10))
    stream.snapshot(0)
    folder = stream.files[0].snapshot
    return folder / name, lambda _: Snapshot.load(folder, ScanIndex)


ARRAY_FILES = {
    "index": lambda _, folder: (saved(ScanIndex(), folder / "scan.near"), ScanIndex.load),
    "default index": lambda _, folder: (
        saved(RarestWordTree(), folder / "tree.near"),
        RarestWordTree.load,
    ),
    "broker": lambda _, folder: (saved(Broker(), folder / "broker.near"), Broker.load),
    "partitioning": lambda stream, _: (
        stream.state.folder / "partitioning.near",
        load_partitioning,
    ),
    "changes": lambda stream, _: (
        stream.state.changes(0, 0),
        lambda path: Changes.read(path, follows=-1),
    ),
    "ids of a snapshot": lambda stream, _: snapshot_part(stream, "ids.near"),
    "index of a snapshot": lambda stream, _: snapshot_part(stream, "index.near"),
}


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
@pytest.mark.parametrize("kind", ARRAY_FILES)
def test_files_of_arrays(tmp_path, stream, kind, version):
    path, load = ARRAY_FILES[kind](stream, tmp_path)
    load(path)
    whole = bytearray(path.read_bytes())
    whole[8:12] = struct.pack("<I", version)
    path.write_bytes(whole)
    with pytest.raises(BadFile, match=f"version {version}.*reads version {VERSION}") as refusal:
        load(path)
    assert str(path) in str(refusal.value)


# ---------------------------------------------------------------- what a batch gives


def sealed_otherwise(path):
    """By a later release."""
    whole = path.read_bytes()
    own = struct.pack("<8sI", b"NEARCAST", durable_parquet.VERSION)
    other = struct.pack("<8sI", b"NEARCAST", durable_parquet.VERSION + 1)
    assert whole.count(own) == 1
    path.write_bytes(whole.replace(own, other))


def unsealed(path):
    """By an earlier release, which did not seal them."""
    pq.write_table(pq.read_table(path), path)


@pytest.mark.parametrize("age", [sealed_otherwise, unsealed])
@pytest.mark.parametrize("what", ["notifications", "rejects"])
def test_outputs_of_another_release_are_refused_and_made_anew(stream, what, age):
    path = getattr(stream.state, what)(0, 0)
    age(path)
    with pytest.raises(
        BadFile, match=r"version 2.*reads version 1|of a release that did not check"
    ):
        durable_parquet.read_parquet(path)
    lose_hot_copies()
    output = stream.process(0, log_table(EVENTS))
    assert pairs_of(output.notifications()) == [("cafe", "m")]
    assert output.rejects()["id"].to_pylist() == ["nobody"]


# ---------------------------------------------------------------- descriptions


@pytest.mark.parametrize("version", [0, RESHARDED + 1])
def test_a_state_of_another_format(stream, version):
    path = stream.state.folder / "state.json"
    write_json(path, {**read_json(path), "format": version})
    with pytest.raises(
        BadCheckpoint, match=f"has format {version}, this Nearcast reads 1 and 2 and 3"
    ):
        StateFolder.create_or_open(stream.state.folder, {}, Hash(1))


def test_a_state_of_the_first_format_is_read(stream):
    assert READABLE == (1, FORMAT, RESHARDED)
    path = stream.state.folder / "state.json"
    path.write_text(json.dumps({**read_json(path), "format": 1}))
    again = StateFolder.create_or_open(stream.state.folder, {"partitioning": "hash"}, Hash(1))
    assert again.key == stream.state.key


def test_rankings_without_a_checksum_are_read(tmp_path):
    settings = Settings(data=str(tmp_path / "data"))
    about = {"window": "10000", "farthest": 50_000.0, "half_life": 3_600.0}
    (tmp_path / "data" / "results").mkdir(parents=True)
    path = tmp_path / "data" / "results" / "ranking.json"
    path.write_text(json.dumps(about))
    Service(settings).stop()
    path.write_text(json.dumps({**about, "xxh3": "0"}))
    with pytest.raises(BadFile, match=r"ranking\.json is damaged"):
        Service(settings)


# ---------------------------------------------------------------- databases

DATABASES = {
    "log": lambda folder: Log(folder.log),
    "notifications": lambda folder: NotificationStore(folder.path / "notifications"),
    "messages": lambda folder: Messages(folder, Log(folder.log)),
    "registry": open_registry,
    "outbox": Outbox,
    "deliveries": Deliveries,
}


@pytest.mark.parametrize("version", ["0", "2"])
@pytest.mark.parametrize("kind", DATABASES)
def test_databases(tmp_path, kind, version):
    folder, open_it = DataFolder.open(tmp_path), DATABASES[kind]
    open_it(folder).close()
    path = tmp_path / kind / f"{kind}.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE about SET value = ? WHERE name = 'version'", (version,))
    reads = databases.VERSION
    with pytest.raises(BadFile, match=f"has version '{version}', this Nearcast reads '{reads}'"):
        open_it(folder)


def test_a_log_that_ends_before_what_was_read_of_it(tmp_path):
    """As when it comes from an older copy than the rest."""
    folder = DataFolder.open(tmp_path)
    with Log(folder.log) as log:
        messages = Messages(folder, log)
        messages.publish([EVENTS[-1]])
        messages.close()
    with Log(folder.path / "older") as log:
        log.append(pa.table({"kind": pa.array([], pa.string())}))
        messages = Messages(folder, log)
        with pytest.raises(BadFile, match="ends at 0, but messages up to 1 were read from it"):
            messages.catch_up()
        messages.close()
