"""`nearcast reshard`: what it says and what it refuses."""

import json

import pytest

from nearcast.cli import main
from nearcast.model import Subscription
from nearcast.pipeline.checkpoint_lock import CheckpointLock
from nearcast.pipeline.partitioning import Hash
from tests.pipeline.in_process import InProcessStream, log_table


@pytest.fixture
def data(tmp_path):
    """The data folder of a service whose pipeline has run."""
    checkpoint = tmp_path / "data" / "checkpoint"
    stream = InProcessStream(checkpoint / "nearcast", Hash(2))
    stream.process(0, log_table([Subscription("a", "tea"), Subscription("b", "tea")]))
    stream.commit(0)
    return checkpoint.parent


def test_a_checkpoint_or_the_folder_of_a_service(data, capsys):
    assert main(["reshard", str(data / "checkpoint"), "--shards", "3"]) == 0
    said = capsys.readouterr()
    assert said.out == (
        "2 subscriptions, and 0 that have a result, moved from 2 shards by hash to 3 by hash, as "
        "of batch 0\n"
    )
    assert "reading shard 2 of 2 ..." in said.err
    assert "writing shard 3 of 3 ..." in said.err
    assert main(["reshard", str(data), "--shards", "3"]) == 0
    assert "nothing to do: there are 3 shards by hash already" in capsys.readouterr().out
    more = ["--shards", "1", "--partitioning", "keyword", "--json"]
    assert main(["reshard", str(data), *more]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert json.loads(said.out) == {
        "before": {"partitioning": "hash", "shards": 3, "distribution": "hash"},
        "after": {"partitioning": "keyword", "shards": 1, "distribution": "hash"},
        "batch": 0,
        "subscriptions": 2,
        "with_results": 0,
    }


@pytest.mark.parametrize(
    "options",
    [[], ["--shards", "-1"], ["--shards", "many"], ["--shards", "2", "--partitioning", "auto"]],
)
def test_wrong_usage_is_2(options, data, capsys):
    assert main(["reshard", str(data), *options]) == 2
    assert "usage: nearcast reshard" in capsys.readouterr().err


def test_what_cannot_be_done_is_told_in_a_line(data, tmp_path, capsys):
    running = CheckpointLock.shared(data / "checkpoint")
    for folder, shards, reason in (
        (tmp_path, "2", f"nearcast reshard: {tmp_path} is no checkpoint of a stream"),
        (data, "0", "nearcast reshard: 0 shards hold nothing; give at least 1"),
        (data, "3", "checkpoint is in use; stop the stream first"),
    ):
        assert main(["reshard", str(folder), "--shards", shards]) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert reason in line
    running.release()
