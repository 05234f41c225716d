"""Top-k subscriptions in the broker, beside boolean ones."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from nearcast.batches import MessageBatch, SubscriptionBatch
from nearcast.boolean import ScanIndex
from nearcast.broker import Broker
from nearcast.checks.topk.pair import assert_same_list
from nearcast.model import Box, Circle, Message, Point, Space, Subscription, TopKSubscription
from nearcast.topk import CountWindow, ScanTopK, TimeWindow, WordLists, WordStatistics

HERE, THERE = Point(2.35, 48.86), Point(10, 50)
IN_A_PLANE = Point(0, 0, space=Space.PLANE)


@pytest.fixture(params=[ScanTopK, WordLists])
def broker(request):
    return Broker(top=request.param(CountWindow(3), lateness=float("inf")))


def message(id, text="tea", at=HERE, time=0.0):
    return Message(id, text=text, at=at, time=time)


def tea(id="tea", at=HERE, **options):
    return TopKSubscription(id, "tea", at, **options)


def ids(broker, id="tea"):
    return [message_id for message_id, _ in broker.results(id)]


def test_the_first_list_is_told_at_once(broker):
    broker.publish(message(1, time=3.0))
    broker.publish(message(2, "cake"))
    [told] = broker.subscribe(tea())
    assert (told.subscription_id, told.kind, told.message_id) == ("tea", "top", None)
    assert (told.results, told.entered, told.left) == (((1, 1.0),), (1,), ())
    assert told.time == 3.0
    assert broker.subscribe(TopKSubscription("jazz", "jazz", HERE)) == []
    assert broker.results("jazz") == []


def test_a_message_is_told_to_those_it_matches_and_to_those_whose_list_it_changes(broker):
    broker.subscribe(tea(k=1))
    broker.subscribe(Subscription("all", "tea OR cake"))
    match, top = broker.publish(message(1, time=5.0))
    assert (match.kind, match.results) == ("match", None)
    assert (top.kind, top.message_id, top.score, top.time) == ("top", 1, 1.0, 5.0)
    assert [told.kind for told in broker.publish(message(2, "tea cake"))] == ["match"]
    assert [told.kind for told in broker.publish(message(3, "jazz"))] == []
    match, top = broker.publish(message(4, "cake"))
    assert (top.message_id, top.score, top.entered, top.left) == (4, None, (2,), (1,))


def test_the_order_of_subscription_and_message_does_not_matter(broker):
    for number in range(5):
        broker.publish(message(number, at=Point(2.35 + number / 100, 48.86)))
    broker.subscribe(tea("late"))
    assert ids(broker, "late") == [2, 3, 4]


def test_a_default_broker_keeps_the_last_ten_thousand():
    broker = Broker()
    for number in range(10_010):
        broker.publish(message(number))
    [told] = broker.subscribe(tea(k=10_000))
    assert len(told.results) == 10_000
    assert min(told.entered) == 10
    assert broker.publish(message("text")) != []


def test_ids_of_two_kinds_may_wait_together(broker):
    broker.publish(message(1))
    broker.publish(message("one"))
    broker.publish(message(2))
    broker.subscribe(tea())
    assert ids(broker) == [2, "one", 1]


def test_a_known_id_replaces_its_message(broker):
    broker.publish(message(1, "cake"))
    broker.publish(message(2))
    broker.publish(message(1))
    broker.subscribe(tea())
    assert ids(broker) == [1, 2]
    broker.publish(message(1, "cake"))
    assert ids(broker) == [2]


def test_batches_feed_the_window(broker):
    broker.subscribe(tea())
    broker.publish(message(1))
    again = [message(2), message(1), message(3)]
    broker.publish_batch(MessageBatch.from_messages(again))
    assert ids(broker) == [3, 1, 2]
    broker.publish_batch(MessageBatch.from_messages([]))


def test_time_moves_the_window():
    broker = Broker(top=WordLists(TimeWindow(10)))
    broker.subscribe(tea())
    broker.publish(message(1, time=1.0))
    assert broker.advance(10.0) == []
    [told] = broker.advance(11.0)
    assert (told.kind, told.message_id, told.results, told.left) == ("top", None, (), (1,))
    with pytest.raises(ValueError, match="time only passes"):
        broker.advance(10.0)


def test_any_order_of_time_will_do_by_default():
    broker = Broker()
    broker.subscribe(tea())
    broker.publish(message(1, time=10.0))
    broker.publish(message(2, time=-5.0))
    assert broker.advance(3.0) == []
    assert ids(broker) == [2, 1]


@pytest.mark.parametrize("has_list", [True, False])
def test_a_message_that_is_too_late_reaches_nobody(has_list):
    broker = Broker(top=WordLists(CountWindow(5), lateness=1.0))
    if has_list:
        broker.subscribe(tea())
    broker.publish(message(1, time=10.0))
    with pytest.raises(ValueError, match=r"message 2: time 8.0 is before 10.0"):
        broker.publish(message(2, time=8.0))
    late = MessageBatch.from_messages([message(3, time=11.0), message(4, time=9.5)])
    with pytest.raises(ValueError, match=r"message 4: time 9.5 is before 11.0"):
        broker.publish_batch(late)
    broker.publish(message(5, time=9.5))
    broker.subscribe(tea())
    assert ids(broker) == [5, 1]


def test_who_moves_gets_the_list_of_the_new_place(broker):
    broker.publish(message(1, at=HERE))
    broker.publish(message(2, at=THERE))
    broker.subscribe(tea(k=1, alpha=1.0))
    assert ids(broker) == [1]
    [told] = broker.move("tea", THERE)
    assert (told.kind, told.entered, told.left) == ("top", (2,), (1,))
    assert broker.move("tea", THERE) == []
    assert broker.subscription("tea") == tea(at=THERE, k=1, alpha=1.0)


@pytest.mark.parametrize(
    ("to", "error", "text"),
    [(Circle(HERE, 10), TypeError, "give a Point"), (IN_A_PLANE, ValueError, "Space.PLANE")],
)
def test_a_bad_move_changes_nothing(broker, to, error, text):
    broker.publish(message(1))
    broker.subscribe(tea())
    with pytest.raises(error, match=f"'tea'.*{text}"):
        broker.move("tea", to)
    assert broker.subscription("tea") == tea()
    assert ids(broker) == [1]


def test_an_id_has_one_kind_at_a_time(broker):
    broker.publish(message(1))
    broker.subscribe(Subscription("tea", "cake"))
    broker.subscribe(tea())
    assert len(broker) == 1
    assert ids(broker) == [1]
    assert broker.publish(message(2, "cake")) == []
    broker.subscribe(Subscription("tea", "cake"))
    assert len(broker) == 1
    assert broker.results("tea") == [2]
    broker.subscribe(tea())
    broker.subscribe(tea("other"))
    broker.subscribe_batch(SubscriptionBatch.from_subscriptions([Subscription("tea", "cake")]))
    assert len(broker) == 2
    assert [told.kind for told in broker.publish(message(3, "cake"))] == ["match"]


def test_a_refused_replacement_leaves_the_other_kind(broker):
    elsewhere = Box(0, 0, 1, 1, space=Space.PLANE)
    broker.subscribe(tea())
    broker.publish(message(1))
    with pytest.raises(ValueError, match=r"Space\.PLANE"):
        broker.subscribe(Subscription("tea", "cake", elsewhere))
    assert ids(broker) == [1]
    broker.subscribe(Subscription("cake", "cake"))
    with pytest.raises(ValueError, match=r"Space\.PLANE"):
        broker.subscribe(tea("cake", at=IN_A_PLANE))
    assert [told.subscription_id for told in broker.publish(message(2, "cake"))] == ["cake"]


def test_unsubscribing_and_looking_up(broker):
    broker.subscribe(tea())
    broker.subscribe(tea(7))
    assert ("tea" in broker, 7 in broker, "7" in broker) == (True, True, False)
    broker.unsubscribe("tea")
    assert len(broker) == 1
    for call in (broker.unsubscribe, broker.results, broker.subscription):
        with pytest.raises(KeyError):
            call("tea")
    assert [told.subscription_id for told in broker.publish(message(1))] == [7]


def test_a_plane_needs_a_window_of_its_own():
    broker = Broker(space=Space.PLANE)
    with pytest.raises(ValueError, match=r"'tea' needs to know which distances.*give top="):
        broker.subscribe(tea(at=IN_A_PLANE))
    assert broker.publish(message(1, at=IN_A_PLANE)) == []
    assert broker.advance(1.0) == []
    top = WordLists(CountWindow(3), space=Space.PLANE, max_dist=10.0)
    broker = Broker(top=top)
    broker.publish(message(1, at=IN_A_PLANE))
    assert len(broker.subscribe(tea(at=IN_A_PLANE))) == 1
    with pytest.raises(ValueError, match=r"Space.EARTH and Space.PLANE; give one"):
        Broker(index=ScanIndex(), top=top)


def test_explain_shows_the_parts_of_the_score():
    statistics = WordStatistics(100, {"tea": 50, "ginger": 1})
    broker = Broker(top=WordLists(CountWindow(10), max_dist=1000.0, statistics=statistics))
    broker.subscribe(TopKSubscription("best", "ginger tea", HERE, k=2, alpha=0.25))
    near = Message(1, text="Ginger tea and ginger biscuits", at=Point(2.351, 48.86))
    before = broker.explain("best", near)
    assert (before.rank, before.place, before.enters) == (1, None, True)
    assert [each.word for each in before.words] == ["ginger", "tea"]
    assert before.score == 0.25 * before.nearness + 0.75 * before.cosine
    assert before.nearness == 1 - before.distance / 1000
    broker.publish(near)
    assert broker.results("best")[0][1] == pytest.approx(before.score, rel=1e-9)
    after = broker.explain("best", near)
    assert (after.rank, after.place) == (1, 1)
    assert str(after).startswith("listed: place 1 of 2\n")
    broker.publish(message(2, "ginger tea"))
    far = broker.explain("best", message(3, "tea", THERE))
    assert (far.rank, far.enters, far.nearness, far.above) == (None, False, 0.0, 2)
    assert str(far).startswith("not listed: 2 are better\n")
    other = broker.explain("best", message(4, "jazz"))
    assert (other.words, other.enters) == ((), False)
    assert "has none of 'ginger', 'tea'" in str(other)


def test_a_saved_broker_goes_on_with_its_window(broker, tmp_path):
    broker.subscribe(Subscription("cake", "cake"))
    broker.publish(message(1))
    path = tmp_path / "broker.near"
    broker.save(path)  # while the message waits
    loaded = Broker.load(path)
    assert [told.entered for told in loaded.subscribe(tea(k=2))] == [(1,)]
    loaded.save(path)
    loaded = Broker.load(path)
    assert ids(loaded) == [1]
    told = loaded.publish(message(2, "tea cake"))
    assert [each.kind for each in told] == ["match", "top"]
    assert ids(loaded) == [1, 2]


def test_a_saved_index_is_a_broker_with_an_empty_window(tmp_path):
    index = ScanIndex()
    index.insert(Subscription("cake", "cake"))
    index.save(tmp_path / "index.near")
    broker = Broker.load(tmp_path / "index.near")
    assert broker.subscribe(tea()) == []
    assert len(broker) == 2


WORDS = st.lists(st.sampled_from(["tea", "cake", "jazz", "bus"]), min_size=1, max_size=3)
PLACES = st.builds(Point, st.sampled_from([0.0, 0.01, 90.0]), st.sampled_from([0.0, 0.02]))
IDS = st.sampled_from(["a", "b", 1])


class Comparison(RuleBasedStateMachine):
    """The same calls to a broker and to the definitions."""

    @initialize(window=st.sampled_from([CountWindow(2), CountWindow(6), TimeWindow(4)]))
    def make(self, window):
        self.broker = Broker(top=WordLists(window, max_dist=1e6, lateness=float("inf")))
        self.top = ScanTopK(window, max_dist=1e6, lateness=float("inf"))
        self.index = ScanIndex()
        self.published, self.now = 0, 0.0

    @rule(id=IDS, words=WORDS, at=PLACES, k=st.integers(1, 3), alpha=st.sampled_from([0, 0.4, 1]))
    def subscribe_top(self, id, words, at, k, alpha):
        self.forget(id)
        subscription = TopKSubscription(id, words, at, k, alpha)
        self.top.subscribe(subscription)
        told = self.broker.subscribe(subscription)
        assert all(each.entered or each.left or each.results for each in told)

    @rule(id=IDS, words=WORDS)
    def subscribe_boolean(self, id, words):
        self.forget(id)
        self.index.insert(Subscription(id, words))
        assert self.broker.subscribe(Subscription(id, words)) == []

    @rule(id=IDS)
    def unsubscribe(self, id):
        if self.forget(id):
            self.broker.unsubscribe(id)
        else:
            with pytest.raises(KeyError):
                self.broker.unsubscribe(id)

    @rule(words=WORDS, at=PLACES, later=st.sampled_from([0.0, 1.0, -1.0]), again=st.integers(0, 5))
    def publish(self, words, at, later, again):
        message = self.message(words, at, later, again)
        before = self.lists()
        wanted = set(self.index.match(message))
        self.top.publish(message)
        told = self.broker.publish(message)
        assert {each.subscription_id for each in told if each.kind == "match"} == wanted
        tops = {each.subscription_id: each for each in told if each.kind == "top"}
        for id, old in before.items():
            new = self.broker.results(id)
            assert (id in tops) == (old != new)
            if id in tops:
                assert list(tops[id].results) == new
                assert set(tops[id].entered) == {each for each, _ in new} - {m for m, _ in old}
                assert set(tops[id].left) == {m for m, _ in old} - {each for each, _ in new}

    @rule(rows=st.lists(st.tuples(WORDS, PLACES, st.integers(0, 5)), max_size=4))
    def publish_batch(self, rows):
        made = (self.message(words, at, 0.0, again) for words, at, again in rows)
        messages = list({message.id: message for message in made}.values())
        for message in messages:
            self.top.publish(message)
        self.broker.publish_batch(MessageBatch.from_messages(messages))

    @rule(seconds=st.sampled_from([0.0, 2.0, 10.0]))
    def advance(self, seconds):
        self.now += seconds
        self.top.advance(self.now)
        self.broker.advance(self.now)

    @precondition(lambda self: len(self.top))
    @rule(at=PLACES)
    def move(self, at):
        for id in self.lists():
            old = self.top.subscription(id)
            self.top.subscribe(TopKSubscription(id, old.keywords, at, old.k, old.alpha))
            self.broker.move(id, at)

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            self.broker.save(Path(folder) / "broker.near")
            self.broker = Broker.load(Path(folder) / "broker.near")

    @invariant()
    def lists_are_the_same(self):
        if hasattr(self, "broker"):
            assert len(self.broker) == len(self.index) + len(self.top)
            for id, found in self.lists().items():
                assert_same_list(found, self.top.results(id))

    def message(self, words, at, later, again):
        self.now += later
        self.published += 1
        id = self.published if again else max(1, self.published - 9)
        return Message(id, keywords=words, at=at, time=self.now)

    def lists(self):
        return {id: self.broker.results(id) for id in ("a", "b", 1) if id in self.top}

    def forget(self, id):
        for index, remove in ((self.index, self.index.remove), (self.top, self.top.unsubscribe)):
            if id in index:
                remove(id)
                return True
        return False


TestComparison = Comparison.TestCase
TestComparison.settings = settings(max_examples=15, stateful_step_count=25)
