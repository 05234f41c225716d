"""A stream of results in this process, and one broker beside it that takes the same rows."""

import json
import random
from itertools import islice

import pyarrow as pa
import pytest

from nearcast.model import (
    Message,
    Point,
    TopKSubscription,
)
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import Result
from nearcast.pipeline.partitioning import Hash, hash_ids
from nearcast.topk import CountWindow, WordStatistics
from tests.pipeline.hosted_histories import OneBroker, random_events
from tests.pipeline.in_process import InProcessStream, log_table

HERE, THERE = Point(2.35, 48.86), Point(2.45, 48.86)
WINDOW = CountWindow(20)


def tea(id="tea", **options):
    return TopKSubscription(id, "tea", HERE, **options)


def said(*ids, text="tea"):
    return [Message(id, text=text, at=HERE) for id in ids]


class Story:
    """A stream in this process; each call is a batch."""

    def __init__(self, folder, shards=2, window=WINDOW, **options):
        way = options.pop("way", None) or Hash(shards)
        settings = ResultSettings(
            window,
            half_life=options.pop("half_life", 3600.0),
            distribution=options.pop("distribution", None),
            statistics=options.pop("statistics", WordStatistics()),
        )
        self.stream = InProcessStream(folder, way, results=settings, **options)
        self.batch = -1
        self.offset = 0
        self.written = {}

    def run(self, events, again=False, **options):
        """What the sink gets."""
        if not again:
            self.batch += 1
            self.table = log_table(events, self.offset)
            self.offset += len(self.table)
        self.output = self.stream.process(self.batch, self.table, **options)
        for row in self.output.results().to_pylist():
            self.written[row["subscription_id"]] = row["kind"], json.loads(row["items"] or "[]")
        return self.output.notifications().to_pylist()

    def told(self, events, **options):
        return [
            (each["position"], each["cause"], each["subscription_id"], each["entered"])
            for each in self.run(events, **options)
        ]

    def result(self, id):
        shards = self.stream.partitioning.shards
        home = int(hash_ids(pa.array([id]))[0] % shards)
        if self.stream.distribution:
            known = self.stream.shard(home)._whereabouts[id]
            if self.stream.distribution.merges_lists and known.kind == "subscribe_top":
                return Result(*self.written[id])  # it is merged for the sink only
            [home] = known.homes
        return self.stream.shard(home).result(id)

    def rejects(self):
        return self.output.rejects().to_pylist()


def with_integer_ids(story):
    schema = pa.schema(
        [
            pa.field(f.name, pa.int64()) if f.name.endswith("_id") else f
            for f in story.stream.schema()
        ]
    )
    story.stream.schema = lambda: schema.set(
        schema.get_field_index("cause"), pa.field("cause", pa.int64())
    )


def check_results(story, one):
    for id in one.hosted:
        found, wanted = story.result(id), one.broker.results(id)
        if found.kind == "enter":
            assert found.items == wanted
            continue
        assert [name for name, _ in found.items] == [name for name, _ in wanted], id
        for (_, score), (_, right) in zip(found.items, wanted, strict=True):
            assert score == pytest.approx(right, rel=1e-9)
    if not (story.stream.distribution and story.stream.distribution.merges_lists):
        assert sum(len(story.stream.shard(n)) for n in story.stream.keepers) == len(one.hosted)


def check_lists(rows, lists, one):
    """What is told of top-k lists leads from one to the next, up to those of the broker.

    `lists` are those that were told; one that began anew is told from nothing.
    """
    for row in rows:
        if row["kind"] == "top":
            now = [each["item"] for each in row["items"]]
            assert not set(row["entered"]) - set(now)
            assert not set(row["left"]) & set(now)
            lists[row["subscription_id"]] = now
    for id in one.hosted:
        if isinstance(one.broker.subscription(id), TopKSubscription) and id in lists:
            wanted = [name for name, _ in one.broker.results(id)]
            assert lists[id] == wanted or not wanted


def key(told):
    return told[0], told[1], told[2], str(told[3])


def play(
    folder, seed, way, length, distribution=None, sizes=(3, 17, 90), tells_each=True,
    window=WINDOW, **options,
):  # fmt: skip
    """Batches, restarts, lost keepers, batches that come again, snapshots now and then.

    `tells_each`: are all changes told, or of top-k lists only some of a batch?
    """
    story = Story(folder, way=way, window=window, snapshot_after=40, distribution=distribution,
                  **options)  # fmt: skip
    one, draw = OneBroker(window, **options), random.Random(seed)
    events, snapshots, written, lists = random_events(seed, length), set(), {}, {}
    while batch := list(islice(events, draw.choice(sizes))):
        expected, refused = [], len(one.refused)
        for offset, event in enumerate(batch, story.offset):
            expected += [
                (offset, each.subscription_id, each.kind, each.message_id)
                for each in one.apply(event)
            ]
        fate = draw.random()
        if fate < 0.1:
            story.stream.restart()
        elif fate < 0.2:
            story.stream.keepers.pop(draw.randrange(way.shards), None)
        rows = story.run(batch, tasks=draw.choice([1, 3]))
        if fate > 0.9:  # it comes again, of which the sink was told
            story.stream.restart()
            assert story.run(None, again=True) == rows
        found = [
            (each["position"], each["subscription_id"], each["kind"], each["message_id"])
            for each in rows
        ]
        if not tells_each:
            assert {each[1] for each in found if each[2] == "top"} <= {each[1] for each in expected}
            found, expected = (
                [each for each in all if each[2] != "top"] for all in (found, expected)
            )
        assert sorted(found, key=key) == sorted(expected, key=key)
        check_lists(rows, lists, one)
        assert sorted(each["id"] for each in story.rejects()) == sorted(one.refused[refused:])
        results = story.output.results().to_pylist()
        assert len({each["subscription_id"] for each in results}) == len(results)
        written |= {each["subscription_id"]: each["kind"] for each in results}
        assert {id for id, kind in written.items() if kind} == set(one.hosted)
        for keeper in story.stream.keepers.values():
            if saved := keeper.newest_snapshot(wait=True):
                snapshots.add(saved.path)
        if not story.stream.keepers:
            story.run([])
        for number in range(way.shards):
            if number not in story.stream.keepers or story.stream.shard(number) is None:
                break
        else:
            check_results(story, one)
    assert snapshots
