import random

import pytest

from nearcast.broker import Broker
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
from nearcast.pipeline import hosted_subscriptions
from nearcast.pipeline.hosted_subscriptions import HostedSubscriptions
from nearcast.pipeline.log import Log
from nearcast.pipeline.safe_distance import SafeDistance
from nearcast.topk import CountWindow, WordLists

HERE, THERE = Point(2.35, 48.86), Point(2.45, 48.86)
WORDS = ("tea", "cake", "jazz", "bus")


@pytest.fixture
def log(tmp_path):
    with Log(tmp_path / "log") as log:
        yield log


def tea(id="tea", **options):
    return TopKSubscription(id, "tea", HERE, **options)


def messages(*ids, text="tea"):
    return [Message(id, text=text, at=HERE) for id in ids]


def told(output):
    return [
        (each.position, each.cause, each.told.subscription_id, each.told.entered)
        for each in output.changes
    ]


def test_rows_are_taken_in_their_order(log, tmp_path):
    lists = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.publish(messages("a"))
    log.subscribe([tea()])
    log.publish(messages("b"))
    log.unsubscribe_hosted(["tea"])
    log.publish(messages("c"))
    output = lists.apply(range(0, log.end))
    assert told(output) == [(1, None, "tea", ("a",)), (2, "b", "tea", ("b",))]
    assert output.results == {"tea": None}


def test_another_kind_of_the_same_id_ends_a_list(log, tmp_path):
    lists = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.subscribe([tea(), Subscription("tea", "cake")])
    log.publish(messages("a"))
    assert told(lists.apply(range(0, 3))) == []
    assert len(lists) == 0


def test_a_row_that_breaks_a_rule_is_a_reject(log, tmp_path):
    lists = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.subscribe([tea("large", k=1_000_000), tea()])
    output = lists.apply(range(0, 2))
    [reject] = output.rejects
    assert (reject["id"], "k 1000000 is more than" in reject["reason"]) == ("large", True)
    assert set(output.results) == {"tea"}


def test_what_was_said_before_the_first_start_is_in_the_window(log, tmp_path):
    log.publish(messages("a", "b"))
    lists = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.subscribe([tea()])
    assert told(lists.apply(range(2, 3))) == [(2, None, "tea", ("b", "a"))]


def test_an_id_that_comes_again_replaces_its_message(log, tmp_path):
    lists = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.publish(messages("a", "b"))
    log.publish(messages("a", text="cake"))
    lists.apply(range(0, 3))
    log.publish(messages("b", "c"))
    lists.apply(range(3, 5))
    log.subscribe([tea()])
    assert told(lists.apply(range(5, 6))) == [(5, None, "tea", ("c", "b"))]


def test_a_long_past_is_read_as_far_as_the_window_goes(log, tmp_path, monkeypatch):
    monkeypatch.setattr(hosted_subscriptions, "ROWS_AT_A_TIME", 4)
    monkeypatch.setattr(hosted_subscriptions, "RECENT", 3)
    log.publish(messages(*(f"m{number}" for number in range(30))))
    log.unsubscribe(["nobody"] * 6)
    lists = HostedSubscriptions(tmp_path / "results", log, CountWindow(3))
    assert lists._begin_of_past(log.end) == 24
    log.subscribe([tea()])
    [only] = lists.apply(range(36, 37)).changes
    assert only.told.entered == ("m29", "m28", "m27")


def test_what_a_kill_left_behind_is_removed(log, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / ".00000000000000000007.near.x1y2").write_bytes(b"half")
    HostedSubscriptions(tmp_path / "results", log, CountWindow(3))
    assert list((tmp_path / "results").iterdir()) == []


def test_the_log_is_needed_from_the_snapshot_on(log, tmp_path, monkeypatch):
    monkeypatch.setattr(hosted_subscriptions, "ROWS_A_SNAPSHOT", 5)
    lists = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    assert lists.saved is None
    log.subscribe([tea()])
    lists.apply(range(0, 1))
    for number in range(20):
        begin = log.end
        log.publish(messages(f"m{number}"))
        lists.apply(range(begin, log.end))
        lists.save_if_due()
        assert log.end - lists.saved < 5
    assert len(list((tmp_path / "results").glob("*.near"))) == 1
    log.trim(lists.saved)
    again = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    again.skip_to(log.end)
    assert again.results("tea") == lists.results("tea")


def kinds(output):
    return [
        (each.position, each.told.kind, each.told.message_id)
        for each in output.changes
        if not isinstance(each.told, SafeDistance)
    ]


def safe(output):
    return [each.told.metres for each in output.changes if isinstance(each.told, SafeDistance)]


def test_a_result_follows_who_moves_and_time(log, tmp_path):
    hosted = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.publish([Message("a", text="tea", at=HERE, time=0, expires=60)])
    log.publish([Message("b", text="tea", at=THERE, time=1)])
    log.subscribe([MovingSubscription("walk", "tea", Circle(HERE, 1000))])
    log.move([("walk", Circle(THERE, 1000), False)])
    log.move([("walk", Circle(HERE, 1000), False)])
    log.advance(60)
    output = hosted.apply(range(0, log.end))
    assert sorted(kinds(output)) == [
        (2, "enter", "a"), (3, "enter", "b"), (3, "leave", "a"),
        (4, "enter", "a"), (4, "leave", "b"), (5, "leave", "a"),
    ]  # fmt: skip
    assert output.results == {"walk": ("enter", [])}
    assert hosted.next_expiry == float("inf")


def test_terms_are_told_of_a_region_and_of_a_neighbourhood(log, tmp_path):
    hosted = HostedSubscriptions(tmp_path / "results", log, CountWindow(10), half_life=60.0)
    around = Circle(HERE, 1000)
    log.subscribe([TrendingSubscription("in", around), NearbyTrendingSubscription("by", HERE)])
    log.publish([Message("a", text="jazz", at=HERE), Message("b", text="jazz tea", at=THERE)])
    output = hosted.apply(range(0, 4))
    told = [(each.position, each.cause, each.told.subscription_id) for each in output.changes]
    assert told == [(2, "a", "in"), (2, "a", "by"), (3, "b", "by")]
    assert [term for term, _ in output.results["in"].items] == ["jazz"]
    assert [term for term, _ in output.results["by"].items] == ["jazz", "tea"]
    log.move([("in", Circle(THERE, 1000), False)])
    [moved] = hosted.apply(range(4, 5)).changes
    assert (moved.told.kind, moved.told.entered) == ("trend", ("tea",))


@pytest.mark.parametrize(
    ("id", "place", "reason"),
    [
        ("nobody", HERE, "subscription 'nobody' has no result that could move"),
        ("tea", Circle(HERE, 9), "cannot move to Circle"),
        ("walk", HERE, "cannot move to Point"),
    ],
)
def test_a_move_that_breaks_a_rule_changes_nothing(log, tmp_path, id, place, reason):
    hosted = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.publish(messages("a"))
    log.subscribe([tea(), MovingSubscription("walk", "tea", Circle(HERE, 1000))])
    before = hosted.apply(range(0, 3)).results
    log.move([(id, place, False)])
    output = hosted.apply(range(3, 4))
    assert (output.changes, [reason in each["reason"] for each in output.rejects]) == ([], [True])
    assert {each: hosted.results(each) for each in before} == before


def test_who_asks_is_told_how_far_it_may_go(log, tmp_path):
    hosted = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.publish([Message("far", text="tea", at=THERE)])  # 7.3 km away
    log.subscribe([MovingSubscription("walk", "tea", Circle(HERE, 1000))])
    log.move([("walk", Circle(HERE, 1000), True)])
    assert safe(hosted.apply(range(0, 3))) == [2000.0]
    again = HostedSubscriptions(tmp_path / "results", log, CountWindow(10))
    log.publish([Message("near", text="tea", at=Point(2.37, 48.86))])  # 1.5 km: not in, but close
    for each in (hosted, again):
        output = each.apply(range(3, 4))
        assert (safe(output), kinds(output)) == ([0.0], [])
    log.move([("walk", Circle(HERE, 1000), True)])
    assert safe(hosted.apply(range(4, 5))) == [250.0]
    log.move([("walk", Box(2, 48, 3, 49), True)])  # of no box
    assert safe(hosted.apply(range(5, 6))) == [0.0]
    assert len(hosted) == 1


def test_whoever_takes_over_tells_the_same(log, tmp_path, monkeypatch):
    monkeypatch.setattr(hosted_subscriptions, "ROWS_A_SNAPSHOT", 15)
    draw, window = random.Random("hosted"), CountWindow(7)
    other = Broker(top=WordLists(window, lateness=float("inf")))  # which never dies
    hosted = HostedSubscriptions(tmp_path / "results", log, window)
    for batch in range(30):
        begin = log.end
        expected = []
        for _ in range(draw.randint(1, 6)):
            expected += _act(draw, log, other)
        offsets = range(begin, log.end)
        if batch % 3 == 0:  # it dies in the middle of a batch: nobody was told
            hosted.apply(offsets)
            hosted = HostedSubscriptions(tmp_path / "results", log, window)
        output = hosted.apply(offsets)
        if batch % 4 == 0:  # it dies, and the batch comes again, of which everybody was told
            hosted = HostedSubscriptions(tmp_path / "results", log, window)
            hosted.skip_to(offsets.stop)
        hosted.save_if_due()
        found = [(each.position, each.told) for each in output.changes]
        assert sorted(found, key=_key) == sorted(expected, key=_key)
        for id, result in output.results.items():
            assert result == (hosted.results(id) if id in other else None)
            assert result is None or result.items == other.results(id)


def _key(change):
    position, told = change
    return position, told.subscription_id, told.kind, str(told.message_id)


def _act(draw, log, broker):
    """One row of the log: what should be told of it."""
    id, at = draw.choice("vwxyz"), Point(draw.uniform(0, 1), draw.uniform(0, 1))
    words, around = draw.choices(WORDS, k=2), Circle(at, draw.uniform(1e4, 5e4))
    action, position = draw.random(), log.end
    told = []
    if action < 0.25:
        subscription = draw.choice(
            [
                TopKSubscription(id, words, at, draw.randint(1, 3), draw.uniform(0.2, 0.9)),
                MovingSubscription(id, " OR ".join(words), around),
                TrendingSubscription(id, around, 2),
                NearbyTrendingSubscription(id, at, 2),
            ]
        )
        log.subscribe([subscription])
        told = broker.subscribe(subscription)
    elif action < 0.3:
        log.unsubscribe_hosted([id])
        if id in broker:
            broker.unsubscribe(id)
    elif action < 0.5 and id in broker:
        is_at = hasattr(broker.subscription(id), "at")
        log.move([(id, at if is_at else around, False)])
        told = broker.move(id, at if is_at else around)
    elif action < 0.55:
        log.advance(position / 3)
        if len(broker):
            told = broker.advance(position / 3)
    else:
        end = draw.choice([None, position / 3 + 5])
        message = Message(f"m{position}", keywords=words, at=at, time=position / 3, expires=end)
        log.publish([message])
        told = broker.publish(message)
    return [(position, each) for each in told]
