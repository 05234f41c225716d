"""Results in shards: after each batch what one broker has that took the same rows in order."""

import json
import random
from functools import partial
from itertools import islice

import pyarrow as pa
import pytest

from nearcast.broker import broker as broker_module
from nearcast.model import (
    Box,
    Circle,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.pipeline.hosted import keeper as keeper_module
from nearcast.pipeline.hosted import shard as shard_module
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.shard import Result
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.partitioning import Hash, Location, hash_ids
from nearcast.storage import BadFile, read_json, write_json
from nearcast.topk import CountWindow, WordStatistics
from nearcast.topk.distributions import ByKeyword, ByPrefix, WordRanges
from tests.pipeline.hosted_histories import OneBroker, cells, random_events, spread
from tests.pipeline.in_process import InProcessStream, log_table, planned

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


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path)


def test_rows_are_taken_in_their_order(story):
    events = [*said("a"), tea(), *said("b"), ("unsubscribe_hosted", "tea"), *said("c")]
    assert story.told(events) == [(1, None, "tea", ["a"]), (2, "b", "tea", ["b"])]
    assert story.output.results().to_pylist() == [
        {"subscription_id": "tea", "kind": None, "items": None}
    ]


def test_another_kind_of_the_same_id_ends_a_list(story):
    assert story.told([tea(), Subscription("tea", "cake"), *said("a")]) == []
    [match] = story.run(said("b", text="cake"))
    assert (match["kind"], match["subscription_id"]) == ("match", "tea")
    assert story.told([tea(), *said("c", text="cake")]) == [(4, None, "tea", ["a"])]


@pytest.mark.parametrize("way", [Hash(1), Hash(3), planned(Location, 3)])
def test_to_unsubscribe_takes_whatever_has_the_id(tmp_path, way):
    story = Story(tmp_path, way=way)
    story.run([tea("a"), Subscription("b", "tea")])
    story.run([("unsubscribe", "a"), ("unsubscribe", "b"), ("unsubscribe", "nobody")])
    assert [each["id"] for each in story.rejects()] == ["nobody"]
    assert story.run(said("m")) == []


def test_a_row_that_breaks_a_rule_is_a_reject(story):
    many_terms = NearbyTrendingSubscription("terms", HERE, 10**12)
    story.run([tea("large", k=1_000_000), tea(), many_terms, *said("a")])
    reasons = {each["id"]: each["reason"] for each in story.rejects()}
    assert "k 1000000 is more than" in reasons.pop("large")
    assert [*reasons] == ["terms"]
    assert story.result("tea").items == [("a", 1.0)]


@pytest.mark.parametrize(
    ("id", "place", "reason"),
    [
        ("nobody", HERE, "subscription 'nobody' has no result that could move"),
        ("tea", Circle(HERE, 9), "cannot move to Circle"),
        ("walk", HERE, "cannot move to Point"),
    ],
)
def test_a_move_that_breaks_a_rule_changes_nothing(story, id, place, reason):
    story.run([*said("a"), tea(), MovingSubscription("walk", "tea", Circle(HERE, 1000))])
    assert story.run([("move", id, place, False)]) == []
    assert [reason in each["reason"] for each in story.rejects()] == [True]
    assert story.result("walk") == ("enter", ["a"])


def test_rows_without_a_place_or_an_id_are_rejects(story):
    table = log_table([tea(), ("move", "tea", HERE, False), ("advance", 3)])
    ids = table.set_column(2, "id", table["id"].take([0, 2, 2]))
    story.run([])
    story.table = ids
    story.run(None, again=True)
    assert ["id is null" in each["reason"] for each in story.rejects()] == [True]


@pytest.mark.parametrize(
    "region",
    [
        None, "", "7", "[]", '{"geometry": null, "properties": null}',
        '{"geometry": null, "properties": []}', '{"geometry": {"type": "Point"}, "properties": {}}',
        '{"geometry": {"type": "Point", "coordinates": [1]}, "properties": {"k": 1e30}}',
        '{"geometry": {"type": "Point", "coordinates": [1, 95]}, "properties": {"k": 3}}',
        b"\x01\xff\x00",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["subscribe_trending", "subscribe_nearby", "move"])
def test_whatever_a_region_is_the_stream_goes_on(story, kind, region):
    story.run([NearbyTrendingSubscription("n", HERE)])
    story.table = log_table([(kind, "n")], story.offset)
    if isinstance(region, bytes):
        column = pa.array([region], pa.binary())
    else:
        column = pa.array([region], pa.string())
    place = story.table.schema.get_field_index("region")
    story.table = story.table.set_column(place, "region", column)
    story.batch += 1
    story.run(None, again=True)
    [reject] = story.rejects()
    assert (reject["side"], reject["id"]) == ("subscription", "n")
    assert story.result("n") == ("trend", [])


def test_a_result_follows_who_moves_and_time(story):
    rows = story.run(
        [
            Message("a", text="tea", at=HERE, time=0, expires=60),
            Message("b", text="tea", at=THERE, time=1),
            MovingSubscription("walk", "tea", Circle(HERE, 1000)),
            ("move", "walk", Circle(THERE, 1000), False),
            ("move", "walk", Circle(HERE, 1000), False),
        ]
    )
    assert story.stream.hosted_files.next_expiry == 60.0
    story.run([tea()])  # to one shard only
    story.stream.restart()
    assert story.stream.hosted_files.next_expiry == 60.0
    rows += story.run([("advance", 60)])
    assert sorted((each["position"], each["kind"], each["message_id"]) for each in rows) == [
        (2, "enter", "a"), (3, "enter", "b"), (3, "leave", "a"),
        (4, "enter", "a"), (4, "leave", "b"), (6, "leave", "a"),
    ]  # fmt: skip
    assert story.result("walk") == ("enter", [])
    assert story.stream.hosted_files.next_expiry == float("inf")


def test_terms_are_told_of_a_region_and_of_a_neighbourhood(story):
    around = Circle(HERE, 1000)
    rows = story.told(
        [
            TrendingSubscription("in", around),
            NearbyTrendingSubscription("by", HERE),
            Message("a", text="jazz", at=HERE),
            Message("b", text="jazz tea", at=THERE),
        ]
    )
    assert sorted(rows) == [
        (2, "a", "by", ["jazz"]), (2, "a", "in", ["jazz"]), (3, "b", "by", ["tea"])
    ]  # fmt: skip
    [moved] = story.run([("move", "in", Circle(THERE, 1000), False)])
    assert (moved["kind"], moved["entered"]) == ("trend", ["tea"])
    assert [each["item"] for each in moved["items"]] == ["jazz", "tea"]


def test_who_asks_is_told_how_far_it_may_go(story):
    walk = ("move", "walk", Circle(HERE, 1000), True)
    far = Message("far", text="tea", at=THERE)  # 7.3 km away
    near = Message("near", text="tea", at=Point(2.37, 48.86))  # 1.5 km: not in, but close

    def safe(events):
        return [(each["kind"], each["score"]) for each in story.run(events)]

    assert safe([far, MovingSubscription("walk", "tea", Circle(HERE, 1000)), walk]) == [
        ("safe", 2000.0)
    ]
    story.stream.restart()
    assert safe([near]) == [("safe", 0.0)]
    assert safe([walk]) == [("safe", 250.0)]
    assert safe([("move", "walk", Box(2, 48, 3, 49), True)])[-1] == ("safe", 0.0)  # of no box
    assert len(story.stream.shard(0)) + len(story.stream.shard(1)) == 1


def test_many_messages_tell_a_list_once(story):
    story.run([tea(k=2), *said("before")])
    many = [Message(f"m{n}", text="tea", at=Point(2.35 + n / 1e4, 48.86)) for n in range(200)]
    [told] = story.run(many)
    assert (told["position"], told["cause"]) == (201, "m199")
    assert [each["item"] for each in told["items"]] == ["m180", "m181"]  # of the last 20
    assert (told["entered"], told["left"]) == (["m180", "m181"], ["before"])
    assert len(story.run(many[:64])) > 1


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


def test_ids_may_be_integers(tmp_path):
    story = Story(tmp_path)
    with_integer_ids(story)
    walk = MovingSubscription(7, "tea", Circle(HERE, 1000))
    events = [walk, tea(8), ("move", 7, Circle(HERE, 1000), True)]
    events += [Message(n, text="tea", at=HERE, time=n) for n in range(100)]
    story.table = log_table(events, ids="int64")
    story.batch = 0
    rows = story.run(None, again=True)
    assert {each["subscription_id"] for each in rows} == {7, 8}
    assert [each["message_id"] for each in rows if each["kind"] == "enter"] == list(range(100))
    assert [each["score"] for each in rows if each["kind"] == "safe"] == [2000.0, 0.0]


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


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(2, 20))]
)
def test_shards_have_what_one_broker_has(tmp_path, shards, seed):
    play(tmp_path, seed, Hash(shards), 400)


def test_whatever_way_matches_are_divided(tmp_path):
    play(tmp_path, 4, planned(Location, 3), 150)


def play(
    folder, seed, way, length, distribution=None, sizes=(3, 17, 90), tells_each=True, **options
):
    """Batches, restarts, lost keepers, batches that come again, snapshots now and then.

    `tells_each`: are all changes told, or of top-k lists only some of a batch?
    """
    story = Story(folder, way=way, snapshot_after=40, distribution=distribution, **options)
    one, draw = OneBroker(WINDOW, **options), random.Random(seed)
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
            if saved := keeper._saver.finished(wait=True):
                keeper._saved, keeper._rows = saved, keeper._rows - saved.rows
                snapshots.add(saved.path)
        if not story.stream.keepers:
            story.run([])
        for number in range(way.shards):
            if number not in story.stream.keepers or story.stream.shard(number) is None:
                break
        else:
            check_results(story, one)
    assert snapshots


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["location", "keyword", "cells"])
@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("seed", range(1, 12))
def test_spread_shards_have_what_one_broker_has_in_any_history(tmp_path, name, shards, seed):
    distribution = spread(name, shards, seed)
    play(tmp_path, seed, distribution.cells.tree, 400, distribution)


@pytest.mark.parametrize(("name", "shards"), [("location", 2), ("keyword", 5), ("cells", 5)])
def test_spread_shards_have_what_one_broker_has(tmp_path, name, shards):
    distribution = spread(name, shards, 1)
    play(tmp_path, 1, distribution.cells.tree, 400, distribution)


@pytest.mark.parametrize(("sizes", "tells_each"), [((1,), True), ((3, 17, 90), False)])
@pytest.mark.parametrize("shards", [pytest.param(2, marks=pytest.mark.thorough), 5])
@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(4, 12))]
)
def test_lists_by_prefix_are_right_after_each_batch(tmp_path, seed, shards, sizes, tells_each):
    distribution = spread("prefix", shards, seed)
    length = 150 if tells_each else 400
    way = distribution.cells.tree
    play(tmp_path, seed, way, length, distribution, sizes=sizes, tells_each=tells_each)


STATISTICS = WordStatistics(100, {"tea": 90, "cake": 40, "jazz": 1})


def test_words_weigh_what_the_statistics_say(tmp_path):
    play(tmp_path, 5, Hash(2), 200, statistics=STATISTICS)


def test_words_weigh_what_the_statistics_say_in_shards_of_words(tmp_path):
    way = spread("keyword", 2, 5, statistics=STATISTICS)
    play(tmp_path, 5, way.cells.tree, 200, way, statistics=STATISTICS)


def test_a_distribution_for_other_statistics_is_refused():
    with pytest.raises(ValueError, match="planned for other word statistics than those"):
        ResultSettings(WINDOW, distribution=spread("keyword", 2, 5), statistics=STATISTICS)


@pytest.fixture
def words(tmp_path):
    """tea is in one shard, jazz in another; the third hears everything."""
    top = ByKeyword(3, WordRanges({"tea": 0, "jazz": 1}, (2,)))
    return Story(tmp_path, shards=3, distribution=ResultDistribution(3, None, top))


def test_the_parts_of_a_list_are_merged(words):
    both = TopKSubscription("both", "tea jazz", HERE, k=3)
    words.run([both, *said("t1", "t2")])
    words.run(said("j1", text="jazz"))  # the shard of tea has nothing to say, and is asked
    assert [id for id, _ in words.result("both").items] == ["j1", "t2", "t1"]  # newest first
    words.stream.restart()
    [told] = words.run(said("tj", text="tea jazz"))
    assert (told["message_id"], told["entered"], told["left"]) == ("tj", ["tj"], ["t1"])
    assert told["score"] == pytest.approx(1.0)
    assert [id for id, _ in words.result("both").items] == ["tj", "j1", "t2"]
    copies = [step["hosted"]["copies"] for step in words.stream.last_steps]
    assert copies == [1, 1, 1]
    words.run(said("rain", text="rain"))
    assert [step["hosted"]["copies"] for step in words.stream.last_steps] == [0, 0, 1]


def test_parts_that_are_damaged_are_made_again(words):
    words.run([TopKSubscription("both", "tea jazz", HERE, k=3)])
    rows = words.run([*said("t"), *said("j", text="jazz")])
    assert len(rows) == 2
    [path, _] = sorted(words.stream.state.hosted().folder.glob("shard-*/parts-*"))
    good = path.read_bytes()
    path.write_bytes(good[:100] + bytes([good[100] ^ 1]) + good[101:])
    assert words.run(None, again=True) == rows
    assert path.read_bytes() == good


def test_ids_of_merged_lists_may_be_integers(tmp_path):
    """By prefix, so that it gets another home, too."""
    top = ByPrefix(3, WordRanges({"tea": 0, "jazz": 1}, (2,)), {})
    story = Story(tmp_path, shards=3, distribution=ResultDistribution(3, None, top))
    with_integer_ids(story)
    both = TopKSubscription(8, "tea jazz", HERE, k=2)
    told = []
    for batch in ([both], said(1, 2), said(3, text="jazz")):
        story.batch += 1
        story.table = log_table(batch, story.offset, ids="int64")
        story.offset += len(batch)
        told += story.run(None, again=True)
        story.stream.restart()
    assert [(each["subscription_id"], each["message_id"]) for each in told] == [
        (8, 1), (8, 2), (8, 3)
    ]  # fmt: skip
    assert told[-1]["left"] == ["1"]


def test_a_list_gets_other_words_in_the_middle_of_a_batch(words):
    tea, jazz, both = (
        TopKSubscription("s", words, HERE, k=2) for words in ("tea", "jazz", "tea jazz")
    )
    events = [*said("t1"), *said("j1", text="jazz"), tea, jazz, both, *said("t2"), tea, both]
    assert words.told(events) == [
        (2, None, "s", ["t1"]),
        (3, None, "s", ["j1"]),
        (4, None, "s", ["t1"]),
        (5, "t2", "s", ["t2"]),
        (6, None, "s", ["t1"]),
        (7, None, "s", ["j1"]),
    ]
    assert words.told([("unsubscribe", "s"), both, *said("t3")]) == [
        (9, None, "s", ["t2", "j1"]),
        (10, "t3", "s", ["t3"]),
    ]
    assert words.told([MovingSubscription("s", "tea", Circle(HERE, 9.0)), both]) == [
        *((11, None, "s", None) for _ in range(3)),
        (12, None, "s", ["t3", "t2"]),
    ]


def test_a_list_ends_and_begins_in_one_shard_in_the_middle_of_a_batch(words):
    both, rain = (TopKSubscription("s", words, HERE, k=2) for words in ("tea jazz", "rain"))
    words.run([*said("t"), *said("j", text="jazz"), *said("r", text="rain"), both])
    assert words.told([("unsubscribe", "s"), rain, both]) == [
        (5, None, "s", ["r"]),
        (6, None, "s", ["j", "t"]),
    ]
    walk = MovingSubscription("s", "tea", Circle(HERE, 9.0))
    words.run([*said("t2"), walk])
    assert words.written["s"] == ("enter", ["t", "t2"])
    words.run([both, ("unsubscribe", "s"), rain])
    assert words.written["s"][0] == "top"
    assert [id for id, _ in words.written["s"][1]] == ["r"]


def test_many_messages_tell_a_merged_list_once(words):
    words.run([TopKSubscription("both", "tea jazz", HERE, k=2)])
    many = [
        Message(f"m{n}", text=("tea", "jazz")[n % 2], at=Point(2.35 + n / 1e4, 48.86))
        for n in range(200)
    ]
    [told] = words.run(many)
    assert (told["position"], told["cause"], told["score"]) == (200, "m199", None)
    assert [each["item"] for each in told["items"]] == ["m180", "m181"]  # of the last 20
    moved = words.run([("move", "both", Point(2.4, 48.86), True)])
    assert sorted(each["kind"] for each in moved) == ["safe", "top"]


@pytest.fixture
def quarters(tmp_path):
    return Story(tmp_path, way=cells(5).tree, distribution=ResultDistribution(5, cells(5)))


def test_a_message_that_is_a_box_is_told_of_once(quarters):
    """It is in all quarters; so is the region, which fits into none of them."""
    wide = Box(0.4, 0.4, 0.6, 0.6)
    small = Box(0.39, 0.39, 0.41, 0.41)
    quarters.run([MovingSubscription("all", "tea", wide), MovingSubscription("one", "tea", small)])
    [told] = quarters.run([Message("m", text="tea", at=Box(0.5, 0.5, 0.7, 0.7))])
    assert (told["subscription_id"], told["message_id"]) == ("all", "m")
    rows = quarters.run([Message("n", text="tea", at=wide)])
    assert sorted(each["subscription_id"] for each in rows) == ["all", "one"]
    rows = quarters.run([("move", "one", Box(0.59, 0.59, 0.62, 0.62), False)])
    assert [(each["kind"], each["message_id"]) for each in rows] == [("enter", "m")]  # n stays
    assert quarters.result("one") == ("enter", ["m", "n"])
    assert quarters.stream.last_steps[0]["hosted"]["copies"] == 0


@pytest.mark.parametrize("lon", [-180.0, 180.0])
def test_the_date_line_divides_nobody(quarters, lon):
    at = [Box(179.9, 0, 180, 1), Box(-180, 0, -179.9, 1), Box(179.9, 0, -179.9, 1)]
    quarters.run([MovingSubscription(f"s{n}", "tea", box) for n, box in enumerate(at)])
    rows = quarters.run([Message("m", text="tea", at=Point(lon, 0.5))])
    assert sorted(each["subscription_id"] for each in rows) == ["s0", "s1", "s2"]


def test_a_safe_distance_is_found_where_all_that_counts_is_heard(quarters):
    """The circle fits into a quarter; three times as large it reaches into the next one."""
    around = Circle(Point(0.25, 0.25), 25_000)
    near = Message("near", text="tea", at=Point(0.75, 0.25))  # 56 km away, in another quarter
    quarters.run([MovingSubscription("walk", "tea", around), near])
    [home] = quarters.stream.shard(0)._whereabouts["walk"].homes
    assert home == 0
    [told] = quarters.run([("move", "walk", around, True)])
    assert (told["kind"], told["score"]) == ("safe", 25_000.0)
    assert quarters.stream.shard(0)._whereabouts["walk"].homes == (4,)
    [told] = quarters.run([Message("m", text="tea", at=Point(0.25, 0.6))])  # 39 km
    assert (told["kind"], told["score"]) == ("safe", 0.0)


@pytest.mark.parametrize("distribution", [None, ResultDistribution(5, cells(5))])
def test_the_first_of_a_kind_finds_the_same_in_every_shard(tmp_path, monkeypatch, distribution):
    """What comes first in another shard makes all of them remember, beyond the last messages."""
    monkeypatch.setattr(broker_module, "RECENT", 10)
    monkeypatch.setattr("nearcast.broker.broker.Followers", partial(broker_module.Followers))
    story = Story(tmp_path, shards=5, distribution=distribution)
    one = broker_module.Broker(top=story.stream.results.new_broker()._kinds["top"].index)
    draw = random.Random(3)

    def talk(count, first):
        return [
            Message(f"m{n}", text=draw.choice(["tea", "bus", "jazz"]), at=HERE, time=float(n))
            for n in range(first, first + count)
        ]

    def both(events):
        story.run(events)
        for event in events:
            if isinstance(event, Message):
                one.publish(event)
            else:
                one.subscribe(event)

    names = [f"n{n}" for n in range(8)]
    both(talk(35, 0))
    for kind in ("trend", "near", "move"):
        for number, name in enumerate(names):
            make = {
                "trend": lambda id: TrendingSubscription(id, Box(2, 48, 3, 49), 3),
                "near": lambda id: NearbyTrendingSubscription(id, HERE, 3),
                "move": lambda id: MovingSubscription(id, "tea OR bus", Circle(HERE, 10.0)),
            }[kind]
            both([make(f"{kind}-{name}"), *talk(9, 100 * number + len(names) * ord(kind[0]) * 100)])
            assert story.result(f"{kind}-{name}").items == pytest.approx(
                one.results(f"{kind}-{name}")
            )


def test_a_snapshot_of_another_format_is_refused(story, tmp_path):
    story.run([tea(), *said("m")])
    shard = story.stream.shard(0)
    shard.save(tmp_path / "saved")
    about = tmp_path / "saved" / "about.json"
    write_json(about, {**read_json(about), "format": 2})
    with pytest.raises(BadFile, match="has format 2, this Nearcast reads 1; start a new"):
        type(shard).load(tmp_path / "saved")
    about.unlink()
    with pytest.raises(BadFile, match="is damaged"):
        type(shard).load(tmp_path / "saved")


def test_a_damaged_changelog_is_named(story):
    story.run([tea(), *said("a")])
    [path] = sorted(story.stream.state.hosted().folder.glob("shard-0000/changes-*"))
    good = path.read_bytes()
    story.stream.restart()
    for bad in (good[:-100], good[:200] + bytes([good[200] ^ 1]) + good[201:]):
        path.write_bytes(bad)
        with pytest.raises(BadFile, match=str(path)):
            story.run(said("b"))
        story.batch -= 1
    path.write_bytes(good)
    story.run(said("b"))
    assert story.result("tea").items == [("b", 1.0), ("a", 1.0)]


def test_a_missing_changelog_is_noticed(story):
    for id in "abc":
        story.run([tea(), *said(id)])
    files = story.stream.state.hosted().folder.glob("shard-*/changes-000000000001.near")
    for path in files:
        path.unlink()
    story.stream.restart()
    with pytest.raises(BadFile, match="a file of the checkpoint is missing"):
        story.run(said("d"))


def test_a_copy_that_failed_in_the_middle_is_made_again(story, monkeypatch):
    story.run([tea(), *said("a")])

    def half(self, rows, output):
        self._broker.publish(Message("half", text="tea", at=HERE))
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(shard_module.HostedShard, "apply", half)
        with pytest.raises(MemoryError):
            story.run(said("b"))
    story.run(None, again=True)
    assert story.stream.last_steps[0]["hosted"]["freshness"] == "restored"
    assert story.result("tea").items == [("b", 1.0), ("a", 1.0)]
    story.run(said("c"))
    assert {step["hosted"]["freshness"] for step in story.stream.last_steps} == {"hot"}


def test_a_copy_that_missed_a_batch_catches_up(story):
    story.run([tea(), *said("a")])
    kept = dict(story.stream.keepers)
    story.stream.keepers.clear()  # on another host
    story.run(said("b"))
    story.stream.keepers.update(kept)
    story.run(said("c"))
    assert {step["hosted"]["freshness"] for step in story.stream.last_steps} == {"caught up"}
    assert [id for id, _ in story.result("tea").items] == ["c", "b", "a"]


def test_a_snapshot_that_fails_is_put_off(story, monkeypatch):
    story.stream.snapshot_after = 1

    def full(self, folder):
        raise OSError("no space left")

    story.run([tea(), *said("a")])
    with monkeypatch.context() as patch:
        patch.setattr(shard_module.HostedShard, "save", full)
        story.run(said("b"))
        for keeper in story.stream.keepers.values():
            assert keeper._saver.finished(wait=True) is None
    story.run(said("c"))
    assert "no new snapshot of the results of shard 0" in story.stream.hosted_files.problem
    assert "OSError: no space left" in story.stream.hosted_files.problem


def test_rows_that_took_long_are_not_played_again(story, monkeypatch):
    story.run([tea(), *said("a")])
    monkeypatch.setattr(keeper_module, "SECONDS_A_SNAPSHOT", 1e9)
    story.run(said("b"))
    keeper = next(each for each in story.stream.keepers.values() if len(each._shard))
    assert keeper._saver.finished(wait=True) is None, "a few rows are no reason"
    monkeypatch.setattr(keeper_module, "SECONDS_A_SNAPSHOT", keeper._seconds / 2)
    story.run(said("c"))
    assert keeper._saver.finished(wait=True).batch == 1
    assert keeper._seconds > 0


def test_what_a_snapshot_replaces_is_deleted(story):
    story.stream.snapshot_after = 1
    story.run([tea()])
    for number in range(8):
        story.run(said(f"m{number}"))
        for keeper in story.stream.keepers.values():
            if saved := keeper._saver.finished(wait=True):
                keeper._saved, keeper._rows = saved, keeper._rows - saved.rows
    for shard in (0, 1):
        files = list(story.stream.state.hosted().shard_folder(shard).iterdir())
        assert len([path for path in files if path.name.startswith("snapshot")]) <= 3
        assert len([path for path in files if path.name.startswith("changes")]) <= 4


def test_scores_of_terms_are_told_anew_in_turn(story, monkeypatch):
    monkeypatch.setattr(shard_module, "REFRESHED", 1)
    around = Box(2, 48, 3, 49)
    story.run([TrendingSubscription("a", around), TrendingSubscription("b", around)])
    story.run([Message("m", text="jazz", at=HERE, time=0)])
    written = set()
    for n in range(1, 5):
        story.run([("advance", 3600.0 * n)])
        written |= {
            (row["subscription_id"], row["items"]) for row in story.output.results().to_pylist()
        }
    assert {("a", '[["jazz", 0.0625]]'), ("b", '[["jazz", 0.0625]]')} & written
    assert {id for id, _ in written} == {"a", "b"}
