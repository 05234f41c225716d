import pyarrow as pa
import pytest

from nearcast import storage
from nearcast.batches import BadRows, MessageBatch, SubscriptionBatch
from nearcast.boolean import APTree, RarestWordTree, ScanIndex, TrieQuadtree
from nearcast.broker import Broker
from nearcast.datasets import City
from nearcast.model import (
    ANY,
    Box,
    Circle,
    Message,
    Notification,
    Point,
    Polygon,
    Space,
    Subscription,
)
from nearcast.storage import BadFile

HERE, THERE = Point(2.35, 48.86), Point(10, 50)
AROUND_HERE = Circle(HERE, 1000)


RIVALS = [pytest.param(each, marks=pytest.mark.thorough) for each in (APTree, TrieQuadtree)]


@pytest.fixture(params=[RarestWordTree, ScanIndex, *RIVALS])
def broker(request):
    return Broker(index=request.param())


def message(text, at=HERE, id=1):
    return Message(id, text=text, at=at)


def reached(broker, *arguments, **options):
    told = broker.publish(message(*arguments, **options))
    return {n.subscription_id for n in told if n.kind in ("match", "enter")}


def test_a_match_is_a_notification_at_the_time_of_the_message(broker):
    assert broker.subscribe(Subscription("tea", "tea", AROUND_HERE)) == []
    told = broker.publish(Message(7, text="Tea!", at=HERE, time=12.5))
    assert told == [Notification("tea", "match", 7, time=12.5)]
    assert broker.publish(message("cake")) == []
    assert broker.publish(message("tea", THERE)) == []


def test_range_messages_reach_regions_that_they_touch(broker):
    broker.subscribe(Subscription("tea", "tea", Box(0, 0, 1, 1)))
    assert reached(broker, "tea", Box(1, 1, 2, 2)) == {"tea"}
    assert reached(broker, "tea", Box(1.5, 1, 2, 2)) == set()


def test_a_live_id_is_replaced(broker):
    broker.subscribe(Subscription("me", "tea", AROUND_HERE))
    broker.subscribe(Subscription("me", "cake"))
    assert len(broker) == 1
    assert reached(broker, "tea") == set()
    assert reached(broker, "cake", THERE) == {"me"}


def test_a_number_and_its_digits_are_two_ids(broker):
    broker.subscribe(Subscription(7, "tea"))
    broker.subscribe(Subscription("7", "tea"))
    assert reached(broker, "tea") == {7, "7"}
    broker.unsubscribe(7)
    assert reached(broker, "tea") == {"7"}


def test_unsubscribing_counts_from_the_next_message_on(broker):
    broker.subscribe(Subscription("tea", "tea"))
    broker.unsubscribe("tea")
    assert reached(broker, "tea") == set()
    assert "tea" not in broker
    assert len(broker) == 0


@pytest.mark.parametrize("id", ["tea", 7, -1, 2**70, True, 2.5, None])
def test_an_unknown_id_is_a_key_error(broker, id):
    broker.subscribe(Subscription("cake", "cake"))
    broker.subscribe(Subscription(1, "cake"))
    assert id not in broker
    with pytest.raises(KeyError):
        broker.unsubscribe(id)
    with pytest.raises(KeyError):
        broker.subscription(id)
    with pytest.raises(KeyError):
        broker.move(id, AROUND_HERE)
    with pytest.raises(KeyError):
        broker.results(id)
    with pytest.raises(KeyError):
        broker.explain(id, message("tea"))


def test_the_live_subscriptions_can_be_looked_up(broker):
    tea = Subscription("tea", "tea AND (cake OR biscuits)", AROUND_HERE)
    broker.subscribe(tea)
    assert "tea" in broker
    assert broker.subscription("tea") == tea


@pytest.mark.parametrize(
    "region",
    [Circle(THERE, 10), Box(9, 49, 11, 51), Polygon([[(9, 49), (11, 49), (11, 51), (9, 51)]])],
)
def test_who_moves_listens_elsewhere_for_the_same_words(broker, region):
    broker.subscribe(Subscription("tea", "tea NOT bag", AROUND_HERE))
    assert broker.move("tea", region) == []
    assert reached(broker, "tea", THERE) == {"tea"}
    assert reached(broker, "tea bag", THERE) == set()
    assert reached(broker, "tea", HERE) == set()
    assert broker.subscription("tea") == Subscription("tea", "tea NOT bag", region)


def test_any_words_move_too(broker):
    broker.subscribe(Subscription("all", ANY, AROUND_HERE))
    broker.move("all", Circle(THERE, 10))
    assert reached(broker, "whatever", THERE) == {"all"}


@pytest.mark.parametrize(
    ("region", "error"),
    [
        (None, TypeError),
        (HERE, TypeError),
        ("here", TypeError),
        (Box(0, 0, 1, 1, space=Space.PLANE), ValueError),
    ],
)
def test_a_bad_move_changes_nothing(broker, region, error):
    tea = Subscription("tea", "tea", AROUND_HERE)
    broker.subscribe(tea)
    with pytest.raises(error, match="subscription 'tea'"):
        broker.move("tea", region)
    assert broker.subscription("tea") == tea
    assert reached(broker, "tea") == {"tea"}


def test_what_is_no_subscription_is_refused(broker):
    with pytest.raises(TypeError, match="'tea' is no subscription; give a Subscription, TopK"):
        broker.subscribe("tea")
    assert len(broker) == 0


def test_the_result_of_a_boolean_subscription_are_live_messages(broker):
    broker.subscribe(Subscription("tea", "tea"))
    assert broker.results("tea") == []
    broker.publish(Message(1, text="tea", at=HERE, expires=10.0))
    broker.publish(Message("b", text="tea", at=THERE, expires=20.0))
    assert broker.results("tea") == [1, "b"]
    assert broker.advance(15.0) == []
    assert broker.results("tea") == ["b"]
    assert reached(broker, "tea", id=3) == {"tea"}


def test_time_changes_nothing_for_boolean_subscriptions(broker):
    broker.subscribe(Subscription("tea", "tea"))
    assert broker.advance(1e9) == []
    assert reached(broker, "tea") == {"tea"}
    with pytest.raises(ValueError, match="nan is not finite"):
        broker.advance(float("nan"))


def test_one_broker_has_one_space(broker):
    plane_box = Box(0, 0, 1, 1, space=Space.PLANE)
    with pytest.raises(ValueError, match=r"subscription 'p' is in Space.PLANE, the index"):
        broker.subscribe(Subscription("p", "tea", plane_box))
    broker.subscribe(Subscription("tea", "tea"))
    plane = message("tea", Point(0, 0, space=Space.PLANE))
    for call in (broker.publish, lambda message: broker.explain("tea", message)):
        with pytest.raises(ValueError, match=r"message 1 is in Space.PLANE, the index"):
            call(plane)
    assert len(broker) == 1


def test_a_broker_of_the_plane():
    broker = Broker(space=Space.PLANE)
    broker.subscribe(Subscription("tea", "tea", Box(500, 500, 600, 600, space=Space.PLANE)))
    assert reached(broker, "tea", Point(600, 600, space=Space.PLANE)) == {"tea"}
    assert len(Broker(index=ScanIndex(space=Space.PLANE), space=Space.PLANE)) == 0
    with pytest.raises(ValueError, match=r"Space.EARTH.*Space.PLANE"):
        Broker(index=ScanIndex(space=Space.PLANE), space=Space.EARTH)


def test_explain_looks_at_the_live_subscription(broker):
    broker.subscribe(Subscription("tea", "tea AND cake", AROUND_HERE))
    explanation = broker.explain("tea", message("tea", THERE))
    assert not explanation.matches
    assert [set(clause.missing) for clause in explanation.clauses] == [{"cake"}]
    assert explanation.distance > 500_000


def test_explain_agrees_with_publish(broker):
    city = City(seed=3)
    subscriptions = city.subscriptions(40)
    broker.subscribe_batch(SubscriptionBatch.from_subscriptions(subscriptions))
    for each in next(city.ticks(messages_per_tick=20)):
        told = {n.subscription_id for n in broker.publish(each)}
        assert told == {s.id for s in subscriptions if broker.explain(s.id, each).matches}


def test_batches_are_all_or_nothing(broker):
    table = pa.table({"id": [1, 2], "keywords": ["tea", "tea OR cake"]})
    broker.subscribe_batch(SubscriptionBatch.from_arrow(table))
    messages = MessageBatch.from_messages([message("tea", id=10), message("cake", id=11)])
    for threads in (1, 2):
        matches = broker.publish_batch(messages, threads=threads).to_arrow().to_pylist()
        pairs = {(row["message_id"], row["subscription_id"]) for row in matches}
        assert pairs == {(10, 1), (10, 2), (11, 2)}
    with pytest.raises(BadRows):
        broker.subscribe_batch(
            SubscriptionBatch.from_arrow(pa.table({"id": [3, 4], "keywords": ["ham", "NOT ham"]}))
        )
    assert len(broker) == 2


def test_a_saved_broker_goes_on_with_the_same_kind_of_index(broker, tmp_path):
    broker.subscribe(Subscription("tea", "tea", AROUND_HERE))
    path = tmp_path / "broker.near"
    broker.save(path)
    loaded = Broker.load(path)
    assert type(loaded._index) is type(broker._index)
    assert reached(loaded, "tea") == {"tea"}
    loaded.subscribe(Subscription("cake", "cake"))
    loaded.move("tea", Circle(THERE, 10))
    assert reached(loaded, "tea and cake", THERE) == {"tea", "cake"}
    assert reached(Broker.load(path), "tea and cake") == {"tea"}


@pytest.mark.parametrize("kind", ["example", "Adaptive", "__all__"])
def test_a_file_of_another_kind_is_refused(tmp_path, kind):
    path = tmp_path / "other.near"
    storage.write_arrays(path, kind, {}, {})
    with pytest.raises(BadFile, match=f"holds a {kind}, which a broker cannot use"):
        Broker.load(path)


@pytest.mark.parametrize("content", [b"", b"not a broker", b"NEARCAST" + bytes(100)])
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "foreign.near"
    path.write_bytes(content)
    with pytest.raises(BadFile):
        Broker.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        Broker.load(tmp_path / "nothing.near")
