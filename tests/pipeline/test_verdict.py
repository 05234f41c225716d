"""What `make soak` compares would show whatever went wrong."""

from itertools import islice

import pyarrow as pa
import pytest

from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.partitioning import Hash
from nearcast.topk import CountWindow
from tests.pipeline.hosted_histories import spread
from tests.pipeline.in_process import InProcessStream
from tests.soak.feeding import ResultsFeeder
from tests.soak.verdict import differences_of

WINDOW = CountWindow(20)
BATCHES = 6


def played(folder, distribution):
    """A feeder, and all that a stream tells of its rows."""
    feeder = ResultsFeeder(folder / "log", 4, WINDOW, tells_each=distribution is None)
    results = ResultSettings(WINDOW, distribution=distribution)
    stream = InProcessStream(folder / "state", Hash(3), results=results)
    tables = []
    for number in range(BATCHES):
        first = feeder.rows
        feeder.append([*islice(feeder.events, 25)])
        told = stream.process(number, feeder.log.read(first, feeder.rows)).notifications()
        tables.append(told.append_column("batch", pa.repeat(number, len(told))))
    feeder.log.close()
    return feeder, pa.concat_tables(tables)


@pytest.fixture(scope="module")
def by_hash(tmp_path_factory):
    return played(tmp_path_factory.mktemp("hash"), None)


@pytest.fixture(scope="module")
def by_prefix(tmp_path_factory):
    return played(tmp_path_factory.mktemp("prefix"), spread("prefix", 3, 4))


def with_row(found, number, **changed):
    rows = found.to_pylist()
    rows[number] |= changed
    return pa.Table.from_pylist(rows, found.schema)


def lists(found):
    """The numbers of rows that tell a top-k list of several messages."""
    rows = enumerate(found.to_pylist())
    return [n for n, row in rows if row["kind"] == "top" and len(row["items"]) > 1]


def harmed(found):
    """The same with a list in another order, with another score, another that entered, or twice."""
    number = lists(found)[-1]
    row = found.slice(number, 1).to_pylist()[0]
    items = row["items"]
    yield with_row(found, number, items=items[::-1])
    off = [items[0] | {"score": items[0]["score"] * 1.001}, *items[1:]]
    yield with_row(found, number, items=off)
    yield with_row(found, number, entered=[*row["entered"], "m-1"])
    yield with_row(found, number, left=[*row["left"], items[0]["item"]])
    again = found.slice(number, 1)
    yield pa.concat_tables([found.slice(0, number), again, again, found.slice(number + 1)])
    yield pa.concat_tables([found.slice(0, number), found.slice(number + 1)])


@pytest.mark.parametrize("way", ["by_hash", "by_prefix"])
def test_what_is_right_is_right(way, request):
    feeder, found = request.getfixturevalue(way)
    assert len(lists(found)) > 5
    assert not differences_of(found, feeder)


@pytest.mark.parametrize("way", ["by_hash", "by_prefix"])
@pytest.mark.parametrize("harm", range(6))
def test_a_list_that_is_wrong_is_told(way, harm, request):
    feeder, found = request.getfixturevalue(way)
    assert differences_of([*harmed(found)][harm], feeder)


def test_what_is_no_list_comes_once_by_prefix_too(by_prefix):
    feeder, found = by_prefix
    [number, *_] = [n for n, kind in enumerate(found["kind"].to_pylist()) if kind != "top"]
    rest = pa.concat_tables([found.slice(0, number), found.slice(number + 1)])
    assert "1 lost" in differences_of(rest, feeder)[0]
