"""The embedded log: one order, all or nothing, whoever appends."""

import sqlite3
import struct
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from nearcast import ANY, Box, Circle, Message, Point, Polygon, Subscription
from nearcast.pipeline.log import LOG_SCHEMA, Log, log_schema
from nearcast.pipeline.log.blocks import WINDOW
from nearcast.space import region_from_geojson
from nearcast.storage import BadFile
from nearcast.text import parse, tokenize


def rows(*ids, kind="message"):
    return pa.table({"kind": [kind] * len(ids), "id": pa.array(ids, pa.string())})


def bits(table):
    """Every value, floats by their bits."""
    return [
        {
            name: struct.pack("<d", value) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in table.to_pylist()
    ]


# ---------------------------------------------------------------- what people append


def test_subscriptions_come_back_as_they_were(tmp_path):
    triangle = Polygon([[(0.1, -0.0), (4.3, 0.2), (1e-300, 3.7)]])
    given = [
        Subscription("box", "wi-fi OR tea", Box(170.1, -0.0, -170.3, 1 / 3)),
        Subscription("circle", ["and", "or"], Circle(Point(-179.99999999999997, 0.1), 1e-7)),
        Subscription("polygon", ANY, triangle),
        Subscription("everywhere", "日本 AND NOT ñandú"),
        Subscription("box", "again"),
    ]
    log = Log(tmp_path)
    assert log.subscribe(iter(given)) == range(5)
    for row, subscription in zip(log.read(0, 5).to_pylist(), given, strict=True):
        box = [row[side] for side in ("west", "south", "east", "north")]
        if row["region"] is not None:
            region = region_from_geojson(row["region"])
        else:
            region = None if box[0] is None else Box(*box)
        keywords = ANY if row["keywords"] is None else parse(row["keywords"])
        assert Subscription(row["id"], keywords, region) == subscription
        assert repr(region) == repr(subscription.region)  # -0.0 too
        assert row["kind"] == "subscribe"


def test_messages_come_back_as_they_were(tmp_path):
    given = [
        Message("a", text="Wi-Fi, #naïve\n\u0000 日本", at=Point(-0.0, 90), time=1e-9, expires=0.1),
        Message("b", keywords=["Two words", "two"], at=Box(179, -1, -179, 1)),
        Message("", text="", at=Point(180, -90), time=-1e300),
    ]
    log = Log(tmp_path)
    assert log.publish(given) == range(3)
    for row, message in zip(log.read(0, 3).to_pylist(), given, strict=True):
        sides = ("west", "south", "east", "north") if row["lon"] is None else ("lon", "lat")
        at = (Point if row["lon"] is not None else Box)(*(row[side] for side in sides))
        back = Message(row["id"], text=row["text"], at=at, time=row["time"], expires=row["expires"])
        assert back == message
        assert repr(back.at) == repr(message.at)
        assert tuple(tokenize(row["text"])) == message.keywords
        assert row["kind"] == "message"


def test_unsubscribing_is_a_row_with_an_id(tmp_path):
    log = Log(tmp_path, ids="int64")
    assert log.unsubscribe([7, -(2**63)]) == range(2)
    found = log.read(0, 2)
    assert found.schema == log.schema == log_schema("int64")
    assert found["id"].to_pylist() == [7, -(2**63)]
    assert found["kind"].to_pylist() == ["unsubscribe"] * 2
    assert all(found[name].null_count == 2 for name in found.column_names[3:])


@pytest.mark.parametrize(
    ("ids", "append", "problem"),
    [
        ("string", lambda log: log.unsubscribe([7]), "id 7 is a int, the ids of this log are str"),
        ("int64", lambda log: log.unsubscribe(["7"]), "id '7' is a str, the ids of this log"),
        ("string", lambda log: log.unsubscribe("cafe"), "is one string; give a list"),
        ("string", lambda log: log.unsubscribe([None]), "neither a string nor an integer"),
        ("string", lambda log: log.publish([Subscription("a", "b")]), "is not a Message"),
        (
            "string",
            lambda log: log.subscribe([("a", "b")]),
            "is no subscription; give a Subscription",
        ),
    ],
)
def test_objects_of_the_wrong_kind_are_refused(tmp_path, ids, append, problem):
    log = Log(tmp_path, ids=ids)
    with pytest.raises(TypeError, match=problem):
        append(log)
    assert log.end == 0


def test_an_append_that_fails_half_way_leaves_nothing(tmp_path):
    def messages():
        yield Message("a", text="", at=Point(0, 0))
        raise RuntimeError("the feed broke")

    log = Log(tmp_path)
    with pytest.raises(RuntimeError, match="the feed broke"):
        log.publish(messages())
    assert log.end == 0


# ---------------------------------------------------------------- tables


VALUES = st.fixed_dictionaries(
    {"kind": st.sampled_from(["subscribe", "unsubscribe", "message"])},
    optional={
        **{name: st.none() | st.text(max_size=9) for name in ("id", "keywords", "region", "text")},
        **{name: st.none() | st.floats() for name in LOG_SCHEMA.names[6:]},
    },
)


@given(st.lists(VALUES, max_size=50))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_keep_every_bit(tmp_path, values):
    table = pa.Table.from_pylist(values, LOG_SCHEMA.remove(0))
    log = Log(tmp_path)
    offsets = log.append(table)
    found = log.read(offsets.start, offsets.stop)
    assert found.schema == LOG_SCHEMA
    assert found["offset"].to_pylist() == [*offsets]
    assert bits(found.drop(["offset"])) == bits(table)
    found.validate(full=True)


def test_columns_of_kindred_types_are_taken(tmp_path):
    table = pa.table(
        {
            "lat": pa.array([1, None], pa.int32()),
            "id": pa.array(["a", None]).dictionary_encode(),
            "kind": pa.array(["message", "subscribe"], pa.large_string()),
            "text": pa.array([None, "x"], pa.string_view()),
            "lon": pa.array([0.1, None], pa.float32()),
            "expires": pa.nulls(2),
        }
    )
    log = Log(tmp_path)
    assert log.append(table.to_batches()[0]) == range(2)
    found = log.read(0, 2).to_pylist()
    assert [row["lat"] for row in found] == [1.0, None]
    assert [row["id"] for row in found] == ["a", None]
    assert [row["text"] for row in found] == [None, "x"]
    assert found[0]["lon"] == table["lon"][0].as_py()


@pytest.mark.parametrize(
    ("table", "error", "problem"),
    [
        ({"kind": ["message"], "colour": ["red"]}, ValueError, "unknown column 'colour'"),
        ({"kind": ["message"], "offset": [0]}, ValueError, "unknown column 'offset'"),
        ({"kind": ["message", "jump"]}, ValueError, "row 1: kind 'jump' is not one of subscribe"),
        ({"kind": ["message", None]}, ValueError, "row 1: kind None"),
        ({"id": ["a"]}, ValueError, "row 0: kind None"),
        ({"kind": ["message"], "id": [7]}, TypeError, "column 'id' of the log rows has type int64"),
        ({"kind": ["message"], "lon": ["7"]}, TypeError, "column 'lon' .* must be double"),
        ({"kind": ["message"], "text": [7.0]}, TypeError, "column 'text' .* must be string"),
        ({"kind": ["message"], "time": [True]}, TypeError, "column 'time' .* must be double"),
        ({"kind": ["message"], "time": [2**53 + 1]}, ValueError, "'time' .* does not fit double"),
    ],
)
def test_tables_that_do_not_fit_are_refused_and_change_nothing(tmp_path, table, error, problem):
    log = Log(tmp_path)
    log.append(rows("before"))
    with pytest.raises(error, match=problem):
        log.append(pa.table(table))
    assert log.end == 1


def test_other_tables_that_are_refused(tmp_path):
    log = Log(tmp_path, ids="int64")
    with pytest.raises(TypeError, match="must be a pyarrow Table or RecordBatch"):
        log.append([{"kind": "message"}])
    with pytest.raises(ValueError, match="more than once"):
        log.append(pa.table([["message"], ["message"]], names=["kind", "kind"]))
    with pytest.raises(ValueError, match="does not fit int64"):
        log.append(pa.table({"kind": ["message"], "id": pa.array([2**63], pa.uint64())}))
    bad_utf8 = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(struct.pack("<ii", 0, 1)), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(pa.ArrowInvalid, match="UTF8"):
        log.append(pa.table({"kind": ["message"], "text": bad_utf8}))
    assert log.end == 0


def test_an_empty_append_is_an_empty_range(tmp_path):
    log = Log(tmp_path)
    log.append(rows("a", "b"))
    assert log.publish([]) == range(2, 2)
    assert log.append(rows()) == range(2, 2)
    assert log.read(1, 1).equals(LOG_SCHEMA.empty_table())
    assert log.read(2, 2).num_rows == 0


def test_big_appends_are_cut_into_blocks(tmp_path):
    log = Log(tmp_path)
    count = 150_001
    ids = [f"m{n}" for n in range(count)]
    assert log.append(rows(*ids)) == range(count)
    assert log.read(65_530, 131_080)["id"].to_pylist() == ids[65_530:131_080]
    wide = pa.table({"kind": ["message"] * 5, "text": ["x" * (n * 10**7) for n in range(5)]})
    assert log.append(wide) == range(count, count + 5)
    lengths = [len(text) for text in log.read(count + 1, count + 5)["text"].to_pylist()]
    assert lengths == [10**7, 2 * 10**7, 3 * 10**7, 4 * 10**7]


# ---------------------------------------------------------------- the model


class LogMachine(RuleBasedStateMachine):
    """Appends, reads, trims and reopenings, against a list."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.logs = [Log(self.folder.name), Log(self.folder.name)]
        self.model, self.start = [], 0

    def teardown(self):
        for log in self.logs:
            log.close()
        self.folder.cleanup()

    @rule(who=st.integers(0, 1), count=st.sampled_from([0, 1, 1, 2, 31, 40, 700, 2500]))
    def append(self, who, count):
        end = len(self.model)
        ids = [f"m{n}" for n in range(end, end + count)]
        assert self.logs[who].append(rows(*ids)) == range(end, end + count)
        self.model += ids

    @rule(who=st.integers(0, 1), times=st.integers(1, 40))
    def append_one_by_one(self, who, times):
        for _ in range(times):
            self.append(who, 1)

    @rule(who=st.integers(0, 1), data=st.data())
    def read(self, who, data):
        first = data.draw(st.integers(self.start, len(self.model)))
        last = data.draw(st.integers(first, len(self.model)))
        found = self.logs[who].read(first, last)
        assert found["offset"].to_pylist() == [*range(first, last)]
        assert found["id"].to_pylist() == self.model[first:last]

    @rule(who=st.integers(0, 1), data=st.data())
    def trim(self, who, data):
        before = data.draw(st.integers(0, len(self.model)))
        self.logs[who].trim(before)
        self.start = max(self.start, before)

    @rule(who=st.integers(0, 1))
    def reopen(self, who):
        self.logs[who].close()
        self.logs[who] = Log(self.folder.name)

    @precondition(lambda self: self.start > 0)
    @rule(who=st.integers(0, 1))
    def read_what_was_trimmed(self, who):
        with pytest.raises(IndexError, match=f"begins at {self.start}; read from there"):
            self.logs[who].read(self.start - 1, len(self.model))

    @invariant()
    def bounds(self):
        assert {(log.start, log.end) for log in self.logs} == {(self.start, len(self.model))}


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=25, stateful_step_count=25)


def test_offsets_outside_are_refused(tmp_path):
    log = Log(tmp_path)
    log.append(rows("a", "b", "c"))
    log.trim(2)
    log.trim(1)
    assert (log.start, log.end) == (2, 3)
    with pytest.raises(IndexError, match=r"offset 3 is not in .*: it ends at 3; read up to there"):
        log.read(2, 4)
    with pytest.raises(ValueError, match="offsets 3 to 2: the first is beyond the last"):
        log.read(3, 2)
    with pytest.raises(IndexError, match="it ends at 3; trim up to there"):
        log.trim(4)
    log.trim(3)
    assert (log.start, log.end) == (3, 3)
    assert log.append(rows("d")) == range(3, 4)


def test_rows_that_come_one_by_one_become_compact(tmp_path):
    log = Log(tmp_path)
    for number in range(2 * WINDOW + 3):
        log.append(rows(f"m{number}"))
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        sizes = [rows for (rows,) in connection.execute("SELECT rows FROM rows ORDER BY first")]
    assert sum(sizes) == 2 * WINDOW + 3
    assert len(sizes) <= 8
    found = log.read(0, log.end)
    assert found["id"].to_pylist() == [f"m{n}" for n in range(2 * WINDOW + 3)]
    assert found["id"].num_chunks == 1


# ---------------------------------------------------------------- threads, files, damage


def wait_for_appends(log, count):
    while len(log._waiting) < count:
        threading.Event().wait(0.001)


def test_appends_of_many_threads_are_whole_and_in_order(tmp_path):
    logs = [Log(tmp_path), Log(tmp_path)]

    def append(writer):
        return [logs[writer % 2].append(rows(*[f"{writer}-{n}"] * 3)) for n in range(40)]

    with ThreadPoolExecutor(8) as pool:
        ranges = list(pool.map(append, range(8)))
    ids = logs[0].read(0, logs[0].end)["id"].to_pylist()
    assert len(ids) == 8 * 40 * 3
    for writer, mine in enumerate(ranges):
        assert [ids[part.start : part.stop] for part in mine] == [
            [f"{writer}-{n}"] * 3 for n in range(40)
        ]
        assert mine == sorted(mine, key=lambda part: part.start)


def test_appends_that_wait_share_a_transaction(tmp_path, monkeypatch):
    log = Log(tmp_path)
    transactions, write = [], log._write

    def counting(appends):
        transactions.append(len(appends))
        write(appends)

    monkeypatch.setattr(log, "_write", counting)
    with ThreadPoolExecutor(8) as pool:
        log._turn.acquire()
        ranges = [pool.submit(log.append, rows(f"m{n}")) for n in range(8)]
        wait_for_appends(log, 8)
        log._turn.release()
        offsets = [future.result().start for future in ranges]
    assert transactions == [8]
    assert sorted(offsets) == [*range(8)]


def test_one_append_that_does_not_fit_does_not_fail_the_others(tmp_path):
    log = Log(tmp_path)
    log.append(rows("first"))
    pages = log._database._writer.execute("PRAGMA page_count").fetchone()[0]
    log._database._writer.execute(f"PRAGMA max_page_count = {pages + 20}")
    huge = rows(*(f"{n * 7919 % 99991}" for n in range(60_000)))
    with ThreadPoolExecutor(2) as pool:
        log._turn.acquire()
        bad, good = pool.submit(log.append, huge), pool.submit(log.append, rows("small"))
        wait_for_appends(log, 2)
        log._turn.release()
        with pytest.raises(OSError, match="disk full, nothing was written"):
            bad.result()
        assert good.result() == range(1, 2)
    assert log.read(0, log.end)["id"].to_pylist() == ["first", "small"]
    log._database._writer.execute("PRAGMA max_page_count = 1000000")
    assert log.append(huge) == range(2, 60_002)


def test_the_type_of_ids_is_fixed(tmp_path):
    Log(tmp_path, ids="int64").close()
    assert Log(tmp_path).ids == "int64"
    with pytest.raises(ValueError, match=r"ids 'string': the log in .* was made for 'int64'"):
        Log(tmp_path, ids="string")
    with pytest.raises(ValueError, match="ids 'float' is no type of ids"):
        Log(tmp_path / "new", ids="float")
    assert not (tmp_path / "new").exists()


def test_many_may_make_the_log_at_once(tmp_path):
    everyone = threading.Barrier(8)

    def make(writer):
        everyone.wait()
        with Log(tmp_path / "new" / "log") as log:
            return log.append(rows(f"{writer}"))

    with ThreadPoolExecutor(8) as pool:
        ranges = list(pool.map(make, range(8)))
    assert sorted(part.start for part in ranges) == [*range(8)]


def test_a_log_that_must_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no log here"):
        Log(tmp_path / "typo", must_exist=True)
    assert not (tmp_path / "typo").exists()


def test_a_closed_log_says_so(tmp_path):
    with Log(tmp_path / "deep" / "folder") as log:
        log.append(rows("a"))
    log.close()
    for use in (lambda: log.append(rows("b")), lambda: log.read(0, 1), lambda: log.end):
        with pytest.raises(ValueError, match="is closed; open it again"):
            use()


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "log.sqlite").write_bytes(b"not a database at all, but long enough" * 100)
    with pytest.raises(BadFile, match=r"log\.sqlite is damaged"):
        Log(tmp_path)


def test_a_log_of_another_version_is_refused(tmp_path):
    Log(tmp_path).close()
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        connection.execute("UPDATE about SET value = '99' WHERE name = 'version'")
    with pytest.raises(BadFile, match="has version '99', this Nearcast reads '1'"):
        Log(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE rows SET data = zeroblob(length(data)) WHERE first = 3",
        "DELETE FROM rows WHERE first = 3",
        "DELETE FROM rows WHERE first = 4",
        "UPDATE rows SET rows = 2 WHERE first = 2",
        "UPDATE rows SET rows = 2 WHERE first = 4",
        "UPDATE rows SET ([check], data) = (SELECT [check], data FROM rows WHERE first = 2)"
        " WHERE first = 3",
    ],
)
def test_a_damaged_block_is_told(tmp_path, damage):
    with Log(tmp_path) as log:
        for name in "abcde":
            log.append(rows(name))
    with sqlite3.connect(tmp_path / "log.sqlite", isolation_level=None) as connection:
        connection.execute(damage)
        # What was acknowledged: the log cannot know that its end is gone, its reader does.
        connection.execute("INSERT OR IGNORE INTO rows SELECT 5, 1, [check], data FROM rows")
    log = Log(tmp_path)
    assert log.read(0, 2)["id"].to_pylist() == ["a", "b"]
    with pytest.raises(BadFile, match=r"is damaged: rows .* of its rows are missing or do not fit"):
        log.read(0, 5)


def test_flipped_bytes_never_give_wrong_rows(tmp_path):
    given = rows(*(f"message-{n}" for n in range(2000)))
    with Log(tmp_path / "log") as log:
        log.append(given)
    file = tmp_path / "log" / "log.sqlite"
    whole = file.read_bytes()
    for place in range(0, len(whole), len(whole) // 400):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            with Log(tmp_path / "log") as log:
                found = log.read(0, log.end)
                assert found.select(["kind", "id"]).equals(given), place
        except BadFile:
            pass
        finally:
            for companion in Path(file.parent).glob("log.sqlite-*"):
                companion.unlink()
