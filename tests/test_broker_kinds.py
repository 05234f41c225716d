"""Those who follow, and lists of terms, in the broker beside the other kinds."""

import pytest

from nearcast import storage
from nearcast.batches import MessageBatch
from nearcast.boolean import ScanIndex
from nearcast.broker import Broker
from nearcast.broker import broker as broker_module
from nearcast.model import (
    Box,
    Circle,
    Message,
    MovingSubscription,
    NearbyTrendingSubscription,
    Point,
    Space,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.moving import ScanMoving, WordQuadtrees
from nearcast.trending import CellRows, ScanTrending

HERE, THERE = Point(2.35, 48.86), Point(10, 50)
AROUND_HERE, AROUND_THERE = Circle(HERE, 1000), Circle(THERE, 1000)


def message(id, text="tea", at=HERE, **options):
    return Message(id, text=text, at=at, **options)


def kinds(told):
    return sorted((n.subscription_id, n.kind, n.message_id) for n in told)


def terms(broker, id):
    return [term for term, _ in broker.results(id)]


@pytest.fixture(params=["usual", "scan"])
def broker(request):
    """With what a broker has by itself, and with the oracles."""
    if request.param == "usual":
        return Broker()
    options = {"half_life": 3600.0, "lateness": float("inf")}
    return Broker(
        index=ScanIndex(),
        moving=ScanMoving(),
        trending=ScanTrending(**options),
        nearby=ScanTrending(**options),
    )


# ---------------------------------------------------------------- those who follow


def test_from_its_first_move_on_a_subscription_follows(broker):
    broker.subscribe(Subscription("me", "tea", AROUND_HERE))
    assert kinds(broker.publish(message(1, expires=100.0))) == [("me", "match", 1)]
    assert broker.publish(message(2, at=THERE, expires=100.0)) == []
    assert kinds(broker.move("me", AROUND_THERE)) == [("me", "enter", 2), ("me", "leave", 1)]
    assert broker.results("me") == [2]
    assert kinds(broker.publish(message(3, at=THERE, expires=50.0))) == [("me", "enter", 3)]
    [told] = broker.advance(50.0)
    assert (told.kind, told.message_id, told.time) == ("leave", 3, 50.0)
    assert len(broker) == 1
    assert broker.subscription("me") == Subscription("me", "tea", AROUND_THERE)


def test_one_that_follows_from_the_beginning_is_told_what_is_there(broker):
    broker.publish(message(1, expires=9.0))
    told = broker.subscribe(Subscription("me", "tea", AROUND_HERE), follows=True)
    assert kinds(told) == [("me", "enter", 1)]
    with pytest.raises(TypeError, match="cannot follow; give a Subscription"):
        broker.subscribe(TopKSubscription("top", "tea", HERE), follows=True)


def test_a_moving_subscription_follows_by_itself(broker):
    broker.publish(message(1, expires=9.0))
    told = broker.subscribe(MovingSubscription("me", "tea", AROUND_HERE))
    assert kinds(told) == [("me", "enter", 1)]
    assert broker.subscribe(MovingSubscription("me", "tea", AROUND_HERE)) == []


def test_it_is_known_when_time_must_pass(broker):
    assert Broker().next_expiry == float("inf")
    broker.subscribe(MovingSubscription("me", "tea", AROUND_HERE))
    broker.publish(message(1))
    assert broker.next_expiry == float("inf")
    for id, end in ((2, 60.0), (3, 50.0), (4, 70.0)):
        broker.publish(message(id, expires=end))
    for end, id in ((50.0, 3), (60.0, 2), (70.0, 4)):
        assert broker.next_expiry == end
        assert kinds(broker.advance(end)) == [("me", "leave", id)]


def test_a_half_life_is_for_terms_and_is_saved(tmp_path):
    Broker(half_life=60.0).save(tmp_path / "broker")
    broker = Broker.load(tmp_path / "broker")
    broker.subscribe(TrendingSubscription("here", AROUND_HERE))
    broker.publish(message(1, "jazz", time=0.0))
    broker.advance(60.0)
    assert broker.results("here") == [("jazz", 0.5)]
    with pytest.raises(ValueError, match=r"half_life 0\.0 is not positive"):
        Broker(half_life=0)


def test_a_message_that_is_said_anew_replaces_the_old_one(broker):
    broker.subscribe(Subscription("me", "tea", AROUND_HERE), follows=True)
    broker.publish(message(1))
    assert kinds(broker.publish(message(1, "cake"))) == [("me", "leave", 1)]
    assert broker.publish(message(2, time=5.0, expires=5.0)) == []


def test_a_bad_move_of_one_that_follows_changes_nothing(broker):
    broker.subscribe(Subscription("me", "tea", AROUND_HERE), follows=True)
    for to, error in ((HERE, TypeError), (Box(0, 0, 1, 1, space=Space.PLANE), ValueError)):
        with pytest.raises(error, match="subscription 'me'"):
            broker.move("me", to)
    assert broker.subscription("me").region == AROUND_HERE


@pytest.mark.parametrize("index", [WordQuadtrees, ScanMoving])
def test_messages_without_an_end_do_not_heap_up(index, monkeypatch):
    monkeypatch.setattr(broker_module, "RECENT", 3)
    broker = Broker(moving=index())
    broker.subscribe(Subscription("me", "tea", AROUND_HERE), follows=True)
    for id in range(3):
        broker.publish(message(id))
    assert kinds(broker.publish(message(3))) == [("me", "enter", 3), ("me", "leave", 0)]
    broker.publish(message(4, expires=1e9))  # has an end, and does not count
    assert broker.results("me") == [1, 2, 3, 4]
    broker.publish_batch(MessageBatch.from_messages([message(id) for id in range(5, 12)]))
    assert broker.results("me") == [4, 9, 10, 11]


def test_messages_without_an_end_live_as_long_as_the_index_says():
    broker = Broker(moving=WordQuadtrees(lifetime=60.0))
    broker.subscribe(Subscription("me", "tea", AROUND_HERE), follows=True)
    broker.publish(message(1))
    assert kinds(broker.advance(60.0)) == [("me", "leave", 1)]


# ---------------------------------------------------------------- terms


def test_terms_of_a_region(broker):
    broker.publish(message(1, "jazz tonight"))
    broker.publish(message(2, "jazz", THERE))
    [first] = broker.subscribe(TrendingSubscription("here", AROUND_HERE, k=2))
    assert (first.kind, first.message_id, first.entered) == ("trend", None, ("jazz", "tonight"))
    assert [term for term, _ in first.terms] == ["jazz", "tonight"]
    told = broker.publish(message(3, "tonight rain rain rain", time=1.0))
    assert [(n.kind, n.entered, n.left, n.moved) for n in told] == [
        ("trend", ("rain",), ("jazz",), ())
    ]
    assert terms(broker, "here") == ["rain", "tonight"]
    [moved] = broker.move("here", AROUND_THERE)
    assert (moved.entered, moved.left) == (("jazz",), ("rain", "tonight"))
    with pytest.raises(TypeError, match="give a Box"):
        broker.move("here", HERE)
    with pytest.raises(TypeError, match="is a list of terms"):
        broker.explain("here", message(9))


def test_terms_around_a_point(broker):
    broker.publish(message(1, "jazz"))
    broker.publish(message(2, "opera", THERE))
    broker.subscribe(NearbyTrendingSubscription("near", HERE, k=1))
    assert terms(broker, "near") == ["jazz"]
    [moved] = broker.move("near", THERE)
    assert (moved.kind, moved.entered, moved.left) == ("trend", ("opera",), ("jazz",))
    with pytest.raises(TypeError, match="give a Point"):
        broker.move("near", AROUND_HERE)


def test_a_plane_needs_to_know_how_much_nearness_counts():
    broker = Broker(space=Space.PLANE)
    at = Point(0, 0, space=Space.PLANE)
    with pytest.raises(ValueError, match=r"'near' needs to know.*give nearby="):
        broker.subscribe(NearbyTrendingSubscription("near", at))
    broker.subscribe(TrendingSubscription("here", Box(0, 0, 1, 1, space=Space.PLANE)))
    assert len(broker) == 1


# ---------------------------------------------------------------- all together


def test_every_kind_hears_of_a_message_and_an_id_has_one_kind(broker):
    subscriptions = [
        Subscription("boolean", "tea", AROUND_HERE),
        TopKSubscription("top", "tea", HERE),
        TrendingSubscription("here", AROUND_HERE),
        NearbyTrendingSubscription("near", HERE),
    ]
    for subscription in subscriptions:
        assert broker.subscribe(subscription) == []
    broker.subscribe(Subscription("follower", "tea", AROUND_HERE), follows=True)
    assert kinds(broker.publish(message(1))) == [
        ("boolean", "match", 1),
        ("follower", "enter", 1),
        ("here", "trend", None),
        ("near", "trend", None),
        ("top", "top", 1),
    ]
    for subscription in subscriptions:  # each takes the id from the one before it
        changed = type(subscription)
        own = {"Subscription": ("tea",), "TopKSubscription": ("tea",)}.get(changed.__name__, ())
        place = subscription.region if hasattr(subscription, "region") else subscription.at
        broker.subscribe(changed("one", *own, place))
        assert isinstance(broker.subscription("one"), changed)
        assert len(broker) == 6
    broker.unsubscribe("one")
    assert "one" not in broker


def test_a_message_that_one_kind_refuses_reaches_none():
    broker = Broker(trending=CellRows(half_life=60.0))
    broker.subscribe(Subscription("me", "tea", AROUND_HERE), follows=True)
    broker.publish(message(1, time=100.0))
    for call in (
        lambda: broker.publish(message(2, time=50.0)),
        lambda: broker.publish_batch(MessageBatch.from_messages([message(2, time=50.0)])),
    ):
        with pytest.raises(ValueError, match=r"before 100\.0, the latest so far"):
            call()
    assert broker.results("me") == [1]
    with pytest.raises(ValueError, match="time only passes"):
        broker.advance(50.0)


def test_a_saved_broker_goes_on_where_it_was(broker, tmp_path):
    broker.subscribe(Subscription("me", "tea", AROUND_HERE), follows=True)
    broker.subscribe(TrendingSubscription("here", AROUND_HERE))
    broker.publish(message(1, "tea jazz", time=3.0))
    broker.publish_batch(MessageBatch.from_messages([message(2, time=4.0, expires=9.0)]))
    broker.save(tmp_path / "broker.near")
    loaded = Broker.load(tmp_path / "broker.near")
    for each in (broker, loaded):
        assert each.results("me") == [1, 2]
        assert terms(each, "here") == ["tea", "jazz"]
        assert kinds(each.advance(9.0)) == [("me", "leave", 2)]
        # Kinds that nobody had yet know what came before the broker was saved.
        [told] = each.subscribe(TopKSubscription("top", "jazz", HERE))
        assert told.entered == (1,)
        each.subscribe(NearbyTrendingSubscription("near", HERE))
        assert terms(each, "near") == ["tea", "jazz"]


def test_a_broker_remembers_so_many_messages_for_whoever_comes_first(monkeypatch):
    monkeypatch.setattr(broker_module, "RECENT", 2)
    broker = Broker()
    for id, text in enumerate(["old", "newer", "newest"]):
        broker.publish(message(id, text))
    broker.subscribe(TrendingSubscription("here", AROUND_HERE))
    assert terms(broker, "here") == ["newer", "newest"]


def test_a_file_of_an_earlier_release_is_refused(tmp_path):
    with storage.writing_parts(tmp_path / "old.near", "Broker") as part_path:
        ScanIndex().save(part_path("index"))
    with pytest.raises(storage.BadFile, match="saved by an earlier Nearcast"):
        Broker.load(tmp_path / "old.near")
