"""`reshard`: a stream that goes on in another number of shards as if nothing had happened."""

import json
import random
import shutil
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from nearcast.boolean import APTree, RarestWordTree, ScanIndex
from nearcast.model import (
    Circle,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.pipeline import reshard
from nearcast.pipeline.checkpoint_lock import CheckpointLock
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.hosted.spread.opening import open_shard
from nearcast.pipeline.partitioning import Hash, Location
from nearcast.pipeline.state import BadCheckpoint, StateFolder
from nearcast.storage import read_json, write_json
from nearcast.topk import CountWindow, WordStatistics
from tests.faulty_files.disk import (
    FAILED_RENAME,
    FAILED_SYNC,
    FAULTS,
    FULL_DISK,
    KILL,
    POWER_LOSS,
    TORN_WRITE,
    FaultyDisk,
    ProcessDied,
)
from tests.pipeline.histories import Oracle, random_history
from tests.pipeline.hosted_histories import IDS, WORDS, cells, random_events, spread
from tests.pipeline.in_process import InProcessStream, log_table, lose_hot_copies, pairs_of, planned

HERE = Point(2.35, 48.86)


class Story:
    """A stream in this process, with Spark's half of its checkpoint."""

    def __init__(self, folder, way, results=None, make_index=RarestWordTree):
        self.checkpoint = folder
        self.results = results
        self.distribution = "hash"
        self.make_index = make_index
        self.number = self.offset = 0
        self.kept = {}
        self.start(way)

    def start(self, way):
        lose_hot_copies()
        self.stream = InProcessStream(
            self.checkpoint / "nearcast", way, self.make_index, results=self.results
        )

    def run(self, events, commit=True):
        """A batch; what the sink gets."""
        table = log_table(events, self.offset)
        output = self.stream.process(self.number, table)
        for row in output.results().to_pylist() if self.results else []:
            self.kept[row["subscription_id"]] = row["kind"], json.loads(row["items"] or "[]")
        if commit:
            self.stream.commit(self.number)
            self.number += 1
            self.offset += len(table)
        return output

    def reshard(self, **options):
        done = reshard(self.checkpoint, **options)
        if self.results:
            row = StateFolder.open(self.checkpoint / "nearcast").distribution()
            way = ResultDistribution.of_row(row) if row else None
            self.results = replace(self.results, distribution=way)
        self.distribution = done.results_after
        self.start(done.after)
        return done

    def snapshots(self, draw):
        for shard in range(self.stream.partitioning.shards):
            if draw.random() < 0.5:
                self.stream.snapshot(shard)


def told(output):
    """What subscribers are told, in an order that does not depend on shards."""
    rows = output.notifications().to_pylist()
    names = ("position", "subscription_id", "kind", "message_id")
    return sorted(rows, key=lambda row: [str(row.get(name)) for name in names])


def refused(output):
    return sorted(map(str, output.rejects().to_pylist()))


def results_of(story):
    """All results as they are in the shards, in the order of their ids."""
    found = {}
    for shard in range(story.stream.partitioning.shards):
        hosted = hosted_shard(story, shard)
        found |= {id: result for id in IDS if (result := hosted.result(id))}
    return [(id, *found[id]) for id in sorted(found)]


def hosted_shard(story, shard):
    if shard in story.stream.keepers:
        return story.stream.shard(shard)
    files = story.stream.state.hosted().files(shard)
    assert not files.changes
    return open_shard(files.snapshot, story.results, shard)


def assert_same(found, right):
    """Sums of scores depend on the order in which they are made."""
    match right:
        case float():
            assert found == pytest.approx(right, rel=1e-9)
        case dict():
            assert_same(list(found.items()), list(right.items()))
        case list() | tuple():
            assert len(found) == len(right), (found, right)
            for one, other in zip(found, right, strict=True):
                assert_same(one, other)
        case _:
            assert found == right


# ---------------------------------------------------------------- boolean subscriptions


@pytest.mark.parametrize(
    "make_index", [RarestWordTree, ScanIndex, pytest.param(APTree, marks=pytest.mark.thorough)]
)
def test_matches_are_those_of_the_definition(tmp_path, make_index):
    ways = [
        {"shards": 2},
        {"shards": 5, "partitioning": "location"},
        {"shards": 3},
        {"shards": 3, "partitioning": "keyword"},
        {"partitioning": planned(Location, 4)},
        {"shards": 1, "partitioning": "hash"},
    ]
    events, draw = list(random_history(5, 420)), random.Random(5)
    story, oracle = Story(tmp_path, Hash(1), make_index=make_index), Oracle()
    found, refused = [], []
    for begin in range(0, len(events), 30):
        for event in events[begin : begin + 30]:
            oracle.apply(event)
        output = story.run(events[begin : begin + 30])
        found += pairs_of(output.notifications())
        refused += output.rejects()["id"].to_pylist()
        story.snapshots(draw)
        if begin % 60 == 30 and ways:
            done = story.reshard(**ways.pop(0))
            assert done.subscriptions == len(oracle._index)
            assert done.batch == story.number - 1
    assert not ways
    assert sorted(found) == sorted(oracle.notifications)
    assert sorted(refused) == sorted(oracle.unknown)


def test_the_kind_of_the_partitioning_stays_unless_told(tmp_path):
    story = Story(tmp_path, planned(Location, 3))
    story.run([Subscription(f"s{n}", "tea", Circle(Point(n, 0), 1000)) for n in range(50)])
    done = story.reshard(shards=2)
    assert (done.before.name, done.after.name, done.after.shards) == ("location", "location", 2)


def test_a_batch_that_was_begun_comes_again(tmp_path):
    story = Story(tmp_path, Hash(2))
    story.run([Subscription("a", "tea"), Subscription("b", "tea")])
    begun = [("unsubscribe", "a"), Subscription("c", "tea"), *said("m")]
    first = told(story.run(begun, commit=False))
    (tmp_path / "spark" / "offsets" / "1").write_text("v1")
    assert story.reshard(shards=3).batch == 0
    assert told(story.run(begun)) == first
    assert pairs_of(story.run(said("n")).notifications()) == [("b", "n"), ("c", "n")]


def test_a_stream_that_never_had_a_batch(tmp_path):
    story = Story(tmp_path, Hash(2), results=ResultSettings())
    (tmp_path / "spark").mkdir()
    done = story.reshard(shards=3)
    assert (done.batch, done.subscriptions, done.with_results) == (-1, 0, 0)
    assert pairs_of(story.run([Subscription("a", "tea"), *said("m")]).notifications()) == [
        ("a", "m")
    ]


def test_the_same_shards_change_nothing(tmp_path):
    story = Story(tmp_path, Hash(2))
    story.run([Subscription("a", "tea")])
    before = files_of(story)
    assert story.reshard(shards=2).subscriptions == 1
    assert files_of(story) == before


def test_what_is_replaced_goes_and_the_key_stays(tmp_path):
    story = Story(tmp_path, Hash(2))
    story.run([Subscription("a", "tea")])
    key = story.stream.state.key
    for shards in (3, 4):
        story.reshard(shards=shards)
        assert story.stream.state.key == key
        [home] = [each for each in (tmp_path / "nearcast").iterdir() if each.is_dir()]
        assert len([*home.glob("shard-*")]) == shards
        assert sorted(path.name for path in home.parent.iterdir()) == [home.name, "state.json"]


# ---------------------------------------------------------------- results


def said(*ids, text="tea", **options):
    return [Message(id, text=text, at=HERE, **options) for id in ids]


@pytest.mark.parametrize("seed", [2, pytest.param(1, marks=pytest.mark.thorough)])
def test_results_go_on_as_if_nothing_had_happened(tmp_path, seed):
    check_results(tmp_path, seed, 300)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3, 15))
def test_results_of_many_histories(tmp_path, seed):
    check_results(tmp_path, seed, 1500)


def check_results(folder, seed, length):
    """Beside a stream that stays as it is: what is told, refused and kept is the same."""
    settings = ResultSettings(CountWindow(20))
    changing = Story(folder / "changing", Hash(1), results=settings)
    other = Story(folder / "other", Hash(2), results=settings)
    shards, draw = [2, 5, 3, 1, 4], random.Random(seed)
    # Lists of terms around a point may be off by a little, and that depends on the shards.
    events = [
        each
        for each in random_events(seed, length)
        if not isinstance(each, NearbyTrendingSubscription)
    ]
    while events:
        size = draw.choice([3, 17, 90])
        batch, events = events[:size], events[size:]
        found, right = changing.run(batch), other.run(batch)
        assert_same(told(found), told(right))
        assert refused(found) == refused(right)
        if draw.random() < 0.4:
            shards = [*shards[1:], shards[0]]
            changing.reshard(shards=shards[-1])
            assert changing.stream.hosted_files.next_expiry == other.stream.hosted_files.next_expiry
        assert_same(results_of(changing), results_of(other))


WAYS = [
    ("location", 3), ("keyword", 2), ("keyword", 4), ("hash", 2), ("prefix", 4), ("prefix", 3),
    ("location", 1), ("hash", 3), ("keyword", 1), ("location", 4),
]  # fmt: skip


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(2, 14))]
)
def test_results_that_are_spread_in_another_way(tmp_path, seed):
    """From every distribution to others and to other numbers of shards, planned as things are.

    Beside a stream that stays as it is. By prefix a list is told once in a batch.
    """
    settings = ResultSettings(CountWindow(20))
    changing = Story(tmp_path / "changing", Hash(1), results=settings)
    other = Story(tmp_path / "other", Hash(2), results=settings)
    draw, names = random.Random(seed), set()
    ways = draw.sample(WAYS, len(WAYS))
    events = [
        each
        for each in random_events(seed, 900)
        if not isinstance(each, NearbyTrendingSubscription)
    ]
    while events:
        size = draw.choice([3, 17, 60])
        batch, events = events[:size], events[size:]
        found, right = changing.run(batch), other.run(batch)
        if changing.distribution == "prefix":
            rows = [each for each in told(found) if each["kind"] != "top"]
            assert_same(rows, [each for each in told(right) if each["kind"] != "top"])
        else:
            assert_same(told(found), told(right))
        assert refused(found) == refused(right)
        assert_same(without_scores(changing.kept), without_scores(other.kept))
        if draw.random() < 0.5:
            name, shards = ways[0]
            ways = [*ways[1:], ways[0]]
            with suppress(ValueError) if not has_lists(other) else nullcontext():  # nothing to plan
                changing.reshard(shards=shards, distribution=name)
            names.add(changing.distribution)
    assert names == {"hash", "location", "keyword", "prefix"}


def has_lists(story):
    return any(kind == "top" for kind, _ in story.kept.values())


def without_scores(kept):
    """Lists of terms are told anew in turn; their scores are as of then."""
    return {
        id: (kind, [item[0] if kind == "trend" else item for item in items])
        for id, (kind, items) in sorted(kept.items())
    }


def test_a_distribution_of_ones_own(tmp_path):
    """With cells of its own, that boolean subscriptions are divided by too."""
    story = Story(tmp_path, Hash(2), results=ResultSettings())
    walk = MovingSubscription("walk", "tea", Circle(HERE, 1000))
    story.run([Subscription("a", "tea"), walk, *said("m")])
    assert story.reshard(distribution=ResultDistribution(2, cells(2))).after == Hash(2)
    done = story.reshard(shards=5, partitioning=cells(5).tree, distribution="location")
    assert (done.results_before, done.results_after, done.is_changed) == (
        "location", "location", True
    )  # fmt: skip
    done = story.reshard(distribution=ResultDistribution(5, cells(5)))
    assert done.after.fingerprint() == cells(5).tree.fingerprint()
    done = story.reshard(shards=3)  # the cells are those of the results, and are planned anew
    assert done.after.fingerprint() == story.results.distribution.cells.tree.fingerprint()
    assert not story.reshard(shards=3).is_changed
    rows = story.run(said("n")).notifications().to_pylist()
    assert sorted(row["subscription_id"] for row in rows) == ["a", "walk"]


def test_terms_around_a_point_stay_within_their_error(tmp_path):
    draw = random.Random(7)

    def somewhere():
        return Point(draw.uniform(0, 1), draw.uniform(0, 1))

    stories = [Story(tmp_path / name, Hash(1), results=ResultSettings()) for name in "ab"]
    begin = [NearbyTrendingSubscription(id, somewhere(), 3) for id in IDS]
    for shards in (3, 2, 4):
        more = [
            Message(f"m{shards}-{n}", keywords=draw.choices(WORDS, k=2), at=somewhere(), time=n)
            for n in range(60)
        ]
        for story in stories:
            story.run([*begin, *more])
        begin = []
        stories[0].reshard(shards=shards)
        found, right = map(results_of, stories)
        assert [each[0] for each in found] == sorted(IDS)
        for (_, _, one), (_, _, other) in zip(found, right, strict=True):
            scores = [score for _, score in other]
            assert [score for _, score in one] == pytest.approx(scores, rel=0.025)


def test_safe_distances_move_with_their_owners(tmp_path):
    """Who was told how far it may go hears at once of a message that changes that."""
    story = Story(tmp_path, Hash(1), results=ResultSettings())
    walkers = [f"walker{number}" for number in range(6)]
    around = Circle(HERE, 1000)
    story.run([MovingSubscription(id, "tea", around) for id in walkers])
    safe = story.run([("move", id, around, True) for id in walkers]).notifications()
    assert set(safe["kind"].to_pylist()) == {"safe"}
    for shards in (4, 3):
        assert story.reshard(shards=shards).with_results == len(walkers)
    near = Message("near", text="tea", at=Point(HERE.lon + 0.02, HERE.lat))  # 1.5 km away
    rows = story.run([near]).notifications().to_pylist()
    assert sorted((row["subscription_id"], row["kind"], row["score"]) for row in rows) == [
        (id, "safe", 0.0) for id in walkers
    ]


def test_lists_of_terms_keep_their_turn(tmp_path):
    story = Story(tmp_path, Hash(1), results=ResultSettings())
    ids = [f"t{number}" for number in range(9)]
    story.run([*(TrendingSubscription(id, Circle(HERE, 1000), 3) for id in ids), *said("a")])
    order = story.stream.shard(0).terms
    story.reshard(shards=2)
    turns = [hosted_shard(story, shard).terms for shard in range(2)]
    assert turns == [sorted(each, key=order.index) for each in turns]
    assert sorted([*turns[0], *turns[1]]) == ids


# ---------------------------------------------------------------- all or nothing


BOOLEAN = [Subscription("a", "tea"), Subscription("b", "tea")]
HOSTED = [
    TopKSubscription("top", "tea", HERE),
    MovingSubscription("walk", "tea", Circle(HERE, 1000)),
]


WHILE_WRITING = (FAILED_RENAME, FULL_DISK, TORN_WRITE)


class Faults:
    """Faults of the disk while a checkpoint is resharded, and what is there afterwards."""

    def __init__(self, folder, results):
        self.folder = folder
        self.results = results
        self.subscriptions = [*BOOLEAN, *HOSTED] if results else BOOLEAN
        story = Story(folder / "prepared", Hash(1), results)
        story.run([*self.subscriptions, *said("m")])
        story.reshard(shards=2)

    def check(self, fault, step):
        """Now and then, and more often in the end, when the new shards are taken over."""
        total = self._calls()
        moments = sorted({*range(0, total, step), *range(total - 14, total, 3)})
        after = [each for calls in moments if (each := self.shards_after(fault, calls))]
        # The last of all names decides; after it nothing is written any more.
        assert set(after) == ({2} if fault in WHILE_WRITING else {2, 3})
        assert after == sorted(after)  # from some call on it is done

    def _calls(self):
        """How many it takes where nothing fails."""
        shutil.copytree(self.folder / "prepared", self.folder / "good")
        disk, many = FaultyDisk(self.folder / "good", random.Random()), 10**9
        with disk.installed():
            disk.order(FAULTS[0], many)
            reshard(self.folder / "good", shards=3)
        return many - disk._order[1]

    def shards_after(self, fault, calls):
        """How many there are when a fault has come after so many calls; None: it did not come."""
        folder = self.folder / str(calls)
        shutil.copytree(self.folder / "prepared", folder)
        disk = FaultyDisk(folder, random.Random(f"{fault} {calls}"))
        with disk.installed():
            disk.order(fault, calls)
            try:
                reshard(folder, shards=3)
            except ProcessDied:
                disk.restart()
            except OSError:  # a stream starts, and then the power fails after all
                StateFolder.open(folder / "nearcast").remove_replaced()
                disk.lose_power()
        shards = self._check_whole(folder) if disk.faults[fault] else None
        shutil.rmtree(folder)
        return shards

    def _check_whole(self, folder):
        """Old or new; and it can go on, or be resharded."""
        way = StateFolder.open(folder / "nearcast").partitioning()
        story = Story(folder, way, self.results)
        [home] = [each for each in (folder / "nearcast").iterdir() if each.is_dir()]
        assert home.name == story.stream.state.shards_in
        story.number, story.offset = 1, 100
        rows = story.run(said("after")).notifications().to_pylist()
        assert sorted(row["subscription_id"] for row in rows) == sorted(
            each.id for each in self.subscriptions
        )
        assert reshard(folder, shards=4).subscriptions == len(BOOLEAN)
        return way.shards


@pytest.mark.parametrize("fault", [FAILED_SYNC, KILL, POWER_LOSS])
def test_whenever_it_fails_all_or_nothing_is_done(tmp_path, fault):
    Faults(tmp_path, None).check(fault, step=100)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("results", [None, ResultSettings()], ids=["matches", "results"])
def test_at_many_moments(tmp_path, fault, results):
    Faults(tmp_path, results).check(fault, step=23)


# ---------------------------------------------------------------- refusals


@pytest.fixture
def story(tmp_path):
    story = Story(tmp_path, Hash(2))
    story.run([Subscription("a", "tea")])
    return story


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "shards is missing"),
        ({"shards": 0}, "0 shards hold nothing"),
        ({"shards": 2, "partitioning": "prefix"}, "'prefix' is for top-k"),
        ({"shards": 2, "partitioning": Hash(3)}, "shards=3. is for 3; leave shards out"),
        ({"shards": 2, "distribution": "prefix"}, "keeps no results; leave distribution out"),
        ({"shards": 2, "distribution": "cells"}, "'cells' is unknown; give one of hash"),
        ({"shards": 3, "index": ScanIndex}, "ScanIndex in Space.EARTH, the stream has RarestWordT"),
    ],
)
def test_what_makes_no_sense_is_refused(story, options, reason):
    with pytest.raises(ValueError, match=reason):
        reshard(story.checkpoint, **options)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(BadCheckpoint, match="is no checkpoint of a stream"):
        reshard(tmp_path, shards=2)
    assert not list(tmp_path.iterdir())


def test_a_plan_needs_subscriptions(tmp_path):
    story = Story(tmp_path, Hash(2))
    story.run(said("m"))
    with pytest.raises(ValueError, match="no subscriptions from which partitioning 'keyword'"):
        reshard(story.checkpoint, shards=3, partitioning="keyword")
    story.reshard(shards=3)


def test_an_index_of_another_place_must_be_given(story):
    path = story.checkpoint / "nearcast" / "state.json"
    write_json(path, {**read_json(path), "index": "Mine"})
    with pytest.raises(BadCheckpoint, match=r"Mine of the stream is none of nearcast\.boolean"):
        reshard(story.checkpoint, shards=3)


def test_while_a_stream_runs_it_is_refused_and_the_other_way_round(story):
    stream = CheckpointLock.shared(story.checkpoint)
    with pytest.raises(BadCheckpoint, match="is in use; stop the stream first"):
        reshard(story.checkpoint, shards=3)
    stream.release()
    resharding = CheckpointLock.exclusive(story.checkpoint)
    with pytest.raises(BadCheckpoint, match="is being resharded; wait"):
        CheckpointLock.shared(story.checkpoint)
    resharding.release()
    assert reshard(story.checkpoint, shards=3).subscriptions == 1


def test_halves_that_do_not_belong_together_are_refused(story):
    story.run([Subscription("b", "tea")])
    commits = story.checkpoint / "spark" / "commits"
    (commits / "7").write_text("v1")
    with pytest.raises(BadCheckpoint, match="planned batch 1 and committed batch 7"):
        reshard(story.checkpoint, shards=3)
    (commits / "7").unlink()
    for log in ("commits", "offsets"):
        (story.checkpoint / "spark" / log / "1").unlink()
    (story.checkpoint / "spark" / "commits" / "0").unlink()
    with pytest.raises(BadCheckpoint, match=r"Spark's checkpoint is at batch 0, but .* later"):
        reshard(story.checkpoint, shards=3)
    shutil.rmtree(story.checkpoint / "spark")
    with pytest.raises(BadCheckpoint, match="the two belong together"):
        reshard(story.checkpoint, shards=3)


def test_a_distribution_needs_somebody_who_has_a_result(tmp_path):
    story = Story(tmp_path, Hash(2), ResultSettings())
    story.run([Subscription("a", "tea"), *said("m")])
    before = files_of(story)
    with pytest.raises(ValueError, match="nobody has a result yet from which distribution 'key"):
        story.reshard(shards=3, distribution="keyword")
    assert files_of(story) == before
    way = spread("keyword", 2, 5, statistics=WordStatistics(9, {"tea": 2}))
    with pytest.raises(ValueError, match="planned for other word statistics"):
        story.reshard(distribution=way)
    with pytest.raises(ValueError, match="shards 3, but distribution 'location' is for 2"):
        story.reshard(shards=3, distribution=ResultDistribution(2, cells(2)))
    assert files_of(story) == before


def files_of(story):
    """All but the lock, which stays."""
    found = {path.relative_to(story.checkpoint) for path in story.checkpoint.rglob("*")}
    return sorted(found - {Path("lock")})
