"""Results that are spread by what they ask for: the same as one broker has."""

import pytest

from nearcast.model import (
    Box,
    Circle,
    Message,
    MovingSubscription,
    Point,
    TopKSubscription,
)
from nearcast.pipeline.hosted.settings import ResultSettings
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.partitioning import Hash
from nearcast.topk import TimeWindow, WordStatistics
from nearcast.topk.distributions import ByKeyword, ByPrefix, WordRanges
from tests.pipeline.hosted_histories import cells, spread
from tests.pipeline.hosted_story import HERE, WINDOW, Story, play, said, with_integer_ids
from tests.pipeline.in_process import log_table


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["location", "keyword", "cells"])
@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("seed", range(1, 12))
def test_spread_shards_have_what_one_broker_has_in_any_history(tmp_path, name, shards, seed):
    distribution = spread(name, shards, seed)
    play(tmp_path, seed, distribution.cells.tree, 400, distribution)


@pytest.mark.parametrize(
    ("name", "shards"),
    [("location", 2), pytest.param("keyword", 5, marks=pytest.mark.thorough), ("cells", 5)],
)
def test_spread_shards_have_what_one_broker_has(tmp_path, name, shards):
    distribution = spread(name, shards, 1)
    play(tmp_path, 1, distribution.cells.tree, 400, distribution)


@pytest.mark.parametrize(
    ("shards", "sizes", "tells_each"),
    [
        (2, (1,), True),
        pytest.param(5, (1,), True, marks=pytest.mark.thorough),
        pytest.param(2, (3, 17, 90), False, marks=pytest.mark.thorough),
        (5, (3, 17, 90), False),
    ],
)
@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(4, 12))]
)
def test_lists_by_prefix_are_right_after_each_batch(tmp_path, seed, shards, sizes, tells_each):
    distribution = spread("prefix", shards, seed)
    length = 150 if tells_each else 400
    way = distribution.cells.tree
    play(tmp_path, seed, way, length, distribution, sizes=sizes, tells_each=tells_each)


@pytest.mark.parametrize(
    "name",
    [
        "hash",
        "keyword",
        *(pytest.param(n, marks=pytest.mark.thorough) for n in ("location", "prefix")),
    ],
)
def test_lists_of_a_window_of_time_are_those_of_one_broker(tmp_path, name):
    distribution = None if name == "hash" else spread(name, 2, 5)
    way = distribution.cells.tree if distribution else Hash(2)
    tells_each = name != "prefix"
    play(tmp_path, 5, way, 250, distribution, window=TimeWindow(12.0), tells_each=tells_each)


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


def test_a_batch_that_comes_again_and_again_finds_its_homes(tmp_path):
    """By prefix: a list gets another home with the second batch, which is interrupted thrice."""
    top = ByPrefix(3, WordRanges({"tea": 0, "jazz": 1}, (2,)), {})
    story = Story(tmp_path, shards=3, distribution=ResultDistribution(3, None, top))
    both = TopKSubscription("both", "tea jazz", HERE, k=2)
    story.run([*said("j1", text="jazz"), both])
    hosted = story.stream.state.hosted()
    rows = story.run(said("j2", text="jazz"))
    for _ in range(3):
        # Nothing of what its shards did is left, as where they died before anything was durable.
        for kind in (hosted.notifications, hosted.changes):
            for shard in range(3):
                kind(shard, 1).unlink()
        story.stream.restart()
        assert story.run(None, again=True) == rows
    assert [id for id, _ in story.result("both").items] == ["j2", "j1"]


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


def test_a_message_is_once_in_a_list_whatever_its_shards_round(tmp_path):
    top = ByKeyword(3, WordRanges({"tea": 0, "cake": 1}, (2,)))
    story = Story(tmp_path, shards=3, distribution=ResultDistribution(3, None, top))
    # Each shard knows the words from another subscription first, and adds them up in that order.
    story.run(
        [
            TopKSubscription("p0", "tea u v w x y", HERE, k=3),
            TopKSubscription("p1", "y x w v u cake", HERE, k=3),
            TopKSubscription("s", "tea cake", HERE, k=4),
        ]
    )
    fillers = [message for n in range(80) for message in said(f"f{n}", text="rain")]
    twins = said("m0", "m1", text="w w w u tea cake cake")
    story.run([*fillers, *twins])
    assert [id for id, _ in story.result("s").items] == ["m1", "m0"]
