"""Sinks take a batch once, however often it comes, and of one stream only."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearcast.model import Message, Point, Subscription
from nearcast.pipeline import NotificationStore
from nearcast.pipeline.durable_parquet import write_parquet
from nearcast.pipeline.partitioning import Hash
from nearcast.pipeline.rows import REJECTS
from nearcast.pipeline.sinks import BatchOutput, CallbackSink, FilesSink, StoreSink
from nearcast.pipeline.unknown_ids import STEP_REJECTS
from tests.pipeline.in_process import InProcessStream, log_table, pairs_of

TEA = Message("m", text="tea", at=Point(0, 0))


@pytest.fixture
def stream(tmp_path):
    return InProcessStream(tmp_path / "state", Hash(2))


@pytest.fixture
def outputs(stream):
    """Three batches: one with everything, one with nothing, one with notifications only."""
    everything = [Subscription(f"s{n}", "tea") for n in range(4)] + [TEA, ("unsubscribe", "x")]
    return [
        stream.process(0, log_table(everything)),
        stream.process(1, log_table([Message("n", text="cake", at=Point(0, 0))], 10)),
        stream.process(2, log_table([TEA], 20)),
    ]


def test_the_store_has_each_batch_once(tmp_path, outputs):
    for _ in range(2):
        sink = StoreSink(tmp_path / "store")
        sink.open("stream")
        for output in outputs:
            sink.commit(output)
            sink.commit(output)
    store = NotificationStore(tmp_path / "store")
    assert pairs_of(store.read()) == sorted([(f"s{n}", "m") for n in range(4)] * 2)
    assert store.rejects()["id"].to_pylist() == ["x"]
    assert store.last_batch == 2


def test_files_have_each_batch_once(tmp_path, outputs):
    folder = tmp_path / "out"
    for _ in range(2):
        sink = FilesSink(folder)
        sink.open("stream")
        for output in outputs:
            sink.commit(output)
            sink.commit(output)
    assert sorted(path.name for path in folder.iterdir()) == [
        "_rejects",
        "_stream",
        "batch=0",
        "batch=2",
    ]
    found = pa.concat_tables(pq.read_table(path) for path in sorted(folder.glob("batch=*/*")))
    assert pairs_of(found) == sorted([(f"s{n}", "m") for n in range(4)] * 2)
    assert pq.read_table(folder / "_rejects" / "batch-0.parquet")["id"].to_pylist() == ["x"]


def test_files_stay_when_the_state_forgets_them(tmp_path, stream, outputs):
    sink = FilesSink(tmp_path / "out")
    sink.open("stream")
    sink.commit(outputs[0])
    for shard in range(2):
        stream.state.remove_outputs(shard, 99)
    found = [pq.read_table(path) for path in (tmp_path / "out" / "batch=0").iterdir()]
    assert sum(map(len, found)) == 4


def test_files_of_a_crashed_commit_are_replaced(tmp_path, outputs):
    half = tmp_path / "out" / ".batch=0.1f"
    half.mkdir(parents=True)
    (half / "half.parquet").write_bytes(b"PAR1")
    own = tmp_path / "out" / ".somebody-elses.file"
    own.touch()
    sink = FilesSink(tmp_path / "out")
    sink.open("stream")
    sink.commit(outputs[0])
    assert own.exists()
    assert not half.exists()
    found = [pq.read_table(path) for path in (tmp_path / "out" / "batch=0").iterdir()]
    assert sum(map(len, found)) == 4


def test_files_may_be_on_another_disk(tmp_path, outputs, monkeypatch):
    def refuse(*_):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("os.link", refuse)
    sink = FilesSink(tmp_path / "out")
    sink.open("stream")
    sink.commit(outputs[0])
    found = [pq.read_table(path) for path in (tmp_path / "out" / "batch=0").iterdir()]
    assert sum(map(len, found)) == 4


@pytest.mark.parametrize("make", [StoreSink, FilesSink])
def test_another_stream_is_refused(tmp_path, make):
    make(tmp_path / "out").open("one")
    make(tmp_path / "out").open("one")
    with pytest.raises(ValueError, match=r"(another|the) stream"):
        make(tmp_path / "out").open("two")


def test_a_function_gets_tables(outputs):
    calls = []
    sink = CallbackSink(lambda *given: calls.append(given))
    sink.open("stream")
    for output in outputs:
        sink.commit(output)
    assert [number for number, _, _ in calls] == [0, 1, 2]
    assert [len(notifications) for _, notifications, _ in calls] == [4, 0, 4]
    assert [len(rejects) for _, _, rejects in calls] == [1, 0, 0]
    assert all(given[1].schema == outputs[0].schema for given in calls)
    assert all(given[2].schema == REJECTS for given in calls)


def write_votes(path, *rows):
    columns = zip(*rows, strict=True) if rows else [[] for _ in STEP_REJECTS]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, STEP_REJECTS, strict=True)]
    write_parquet(path, [pa.Table.from_arrays(arrays, schema=STEP_REJECTS)], {})
    return path


def test_an_id_is_unknown_when_all_who_might_know_say_so(tmp_path):
    def unknown(id_, position, votes):
        return ("subscription", id_, "unknown", "{}", position, votes)

    bad = ("message", None, "text is null", "{}", 0, 1)
    files = [
        write_votes(tmp_path / "0", unknown("a", 5, 3), unknown("b", 6, 3), bad, bad),
        write_votes(tmp_path / "1", unknown("a", 5, 3), unknown("b", 7, 3), unknown("c", 8, 1)),
        write_votes(tmp_path / "2", unknown("a", 5, 3), unknown("b", 6, 3)),
    ]
    rejects = BatchOutput(0, pa.schema([]), [], files).rejects()
    assert rejects.schema == REJECTS
    assert sorted(rejects["id"].to_pylist(), key=str) == [None, None, "a", "c"]
    assert BatchOutput(0, pa.schema([]), [], []).rejects() == REJECTS.empty_table()
