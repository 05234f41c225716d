"""Results in shards: after each batch what one broker has that took the same rows in order."""

import random
from functools import partial

import pyarrow as pa
import pytest

from nearcast import durable_files
from nearcast.broker import broker as broker_module
from nearcast.model import (
    Box,
    Circle,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Subscription,
    TrendingSubscription,
)
from nearcast.pipeline.hosted import keeper as keeper_module
from nearcast.pipeline.hosted import shard as shard_module
from nearcast.pipeline.hosted.spread.distribution import ResultDistribution
from nearcast.pipeline.partitioning import Hash, Location
from nearcast.storage import BadFile, read_json, write_json
from tests.pipeline.hosted_histories import cells
from tests.pipeline.hosted_story import HERE, THERE, Story, play, said, tea, with_integer_ids
from tests.pipeline.in_process import log_table, planned


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
    many_terms = [
        NearbyTrendingSubscription("terms", HERE, 10**12),
        TrendingSubscription("terms of a region", Circle(HERE, 1000), 10**9),
        TrendingSubscription("more than 2**31", Circle(HERE, 1000), 2**31 - 1),
    ]
    story.run([tea("large", k=1_000_000), tea(), *many_terms, *said("a")])
    reasons = {each["id"]: each["reason"] for each in story.rejects()}
    assert "k 1000000 is more than" in reasons.pop("large")
    assert reasons.keys() == {each.id for each in many_terms}
    assert all("is outside [1, 10000], the terms that" in each for each in reasons.values())
    assert story.result("tea").items == [("a", 1.0)]


def test_posts_that_say_one_word_thousands_of_times_stop_nobody(story):
    """Together 1.5 million mentions; first few messages, which are taken one by one, then many."""
    list_of_terms = TrendingSubscription("terms", Circle(HERE, 1000), 2)
    posts = [Message(f"m{n}", text="x " * 5_000, at=HERE, time=float(n)) for n in range(300)]
    story.run([list_of_terms, *posts[:60]])
    story.run(posts[60:])
    story.run(said("a"))
    assert story.rejects() == []
    (x, score), (tea, one) = story.result("terms").items
    assert (x, tea) == ("x", "tea")
    assert one == pytest.approx(2.0 ** (-299 / 3600))
    assert score == pytest.approx(sum(5_000 * 2.0 ** ((n - 299) / 3600) for n in range(300)))


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


def test_where_nobody_knows_when_time_matters_it_is_told_at_once(story):
    """The last output of a shard says it, and no batch makes that again."""
    begun = MovingSubscription("walk", "tea", Circle(HERE, 1000))
    story.run([begun, Message("a", text="tea", at=HERE, time=0, expires=60)])
    for path in story.stream.state.hosted().folder.glob("shard-*/notifications-*"):
        path.write_bytes(path.read_bytes()[:-1])
    story.stream.restart()
    assert story.stream.hosted_files.next_expiry == 0.0
    assert story.run([("advance", 5)]) == []
    assert story.stream.hosted_files.next_expiry == 60.0


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


@pytest.mark.parametrize("kind", [TrendingSubscription, NearbyTrendingSubscription])
def test_many_messages_tell_a_list_of_terms_once(story, kind):
    place = Circle(HERE, 1000) if kind is TrendingSubscription else HERE
    before = [Message("jazz", text="jazz jazz", at=HERE), Message("bus", text="bus", at=HERE)]
    story.run([*before, kind("terms", place, 2)])

    def many(text):
        [told] = story.run([Message(f"m{n}", text=text, at=HERE, time=n) for n in range(100)])
        assert [row["subscription_id"] for row in story.output.results().to_pylist()] == ["terms"]
        scores = [score for _, score in story.result("terms").items]
        assert [each["score"] for each in told["items"]] == pytest.approx(scores)
        assert (told["cause"], told["time"], told["kind"]) == ("m99", 99, "trend")
        items = [each["item"] for each in told["items"]]
        return told["position"], items, told["entered"], told["left"], told["moved"]

    assert many("jazz tea") == (102, ["jazz", "tea"], ["tea"], ["bus"], [])
    assert many("bus bus") == (202, ["bus", "jazz"], ["bus"], ["tea"], ["jazz"])
    same = [Message(f"m{n}", text="bus bus", at=HERE, time=n) for n in range(100)]
    assert story.run(same) == []


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


@pytest.mark.parametrize("shards", [1, 2, pytest.param(5, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(2, 20))]
)
def test_shards_have_what_one_broker_has(tmp_path, shards, seed):
    play(tmp_path, seed, Hash(shards), 400)


def test_whatever_way_matches_are_divided(tmp_path):
    play(tmp_path, 4, planned(Location, 3), 150)


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


@pytest.mark.parametrize("kind", ["notifications", "rejects", "results"])
@pytest.mark.parametrize("is_gone", [False, True], ids=["damaged", "gone"])
def test_what_a_step_gave_is_made_again(story, kind, is_gone):
    told = story.run([tea(), *said("a"), ("move", "nobody", HERE, False)])
    results, rejects = story.output.results(), story.output.rejects()
    assert min(len(told), len(results), len(rejects)) > 0
    for path in sorted(story.stream.state.hosted().folder.glob(f"shard-*/{kind}-*")):
        good = path.read_bytes()
        path.write_bytes(good[:100] + bytes([good[100] ^ 1]) + good[101:])
        if is_gone:
            path.unlink()
        story.stream.restart()
        assert story.run(None, again=True) == told
        assert (story.output.results(), story.output.rejects()) == (results, rejects)


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


@pytest.mark.parametrize(
    ("owner", "name"),
    [(shard_module.HostedShard, "save_into"), (durable_files.UnfinishedFolder, "finish")],
    ids=["while it is written", "while the disk is waited for"],
)
def test_a_snapshot_that_fails_is_put_off(story, monkeypatch, owner, name):
    story.stream.snapshot_after = 1

    def full(*_):
        raise OSError("no space left")

    story.run([tea(), *said("a")])
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, full)
        for message in "b", "c":
            story.run(said(message))
            for keeper in story.stream.keepers.values():
                assert keeper.newest_snapshot(wait=True) is None
        assert "no new snapshot of the results of shard 0" in story.stream.hosted_files.problem
        assert "OSError: no space left" in story.stream.hosted_files.problem
    for message in "d", "e":
        story.run(said(message))
        for keeper in story.stream.keepers.values():
            assert keeper.newest_snapshot(wait=True)
    assert story.stream.hosted_files.problem is None


def test_rows_that_took_long_are_not_played_again(story, monkeypatch):
    story.run([tea(), *said("a")])
    monkeypatch.setattr(keeper_module, "SECONDS_A_SNAPSHOT", 1e9)
    story.run(said("b"))
    keeper = next(each for each in story.stream.keepers.values() if len(each._shard))
    assert keeper.newest_snapshot(wait=True) is None, "a few rows are no reason"
    monkeypatch.setattr(keeper_module, "SECONDS_A_SNAPSHOT", keeper._seconds / 2)
    story.run(said("c"))
    assert keeper.newest_snapshot(wait=True).batch == 1
    assert keeper._seconds > 0


def test_what_a_snapshot_replaces_is_deleted(story):
    story.stream.snapshot_after = 1
    story.run([tea()])
    for number in range(8):
        story.run(said(f"m{number}"))
        for keeper in story.stream.keepers.values():
            keeper.newest_snapshot(wait=True)
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
