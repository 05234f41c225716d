import pytest

from nearcast.model import ANY, Box, Message, Point, Subscription
from nearcast.pipeline.log import Log
from nearcast.service.data_folder import DataFolder
from nearcast.service.estimate import Estimator
from nearcast.service.stores.messages import Messages

EVERYWHERE = Subscription("all", ANY, Box(-180, -90, 180, 90))


@pytest.fixture
def messages(tmp_path):
    folder = DataFolder.open(tmp_path)
    log = Log(folder.log)
    messages = Messages(folder, log)
    yield messages
    messages.close()
    log.close()


def publish(messages, ids, text="tea", times=None):
    ids = list(ids)
    messages.publish(
        [
            Message(f"m{id}", text=text, at=Point(1, 2), time=time)
            for id, time in zip(ids, times or ids, strict=True)
        ]
    )


def test_nothing_is_known_before_the_first_message(messages):
    found = Estimator(messages).estimate(EVERYWHERE)
    assert (found.per_day, found.matches, found.messages, found.examples) == (None, 0, 0, ())


def test_one_moment_is_too_short_to_tell(messages):
    publish(messages, range(5), times=[7.0] * 5)
    found = Estimator(messages).estimate(EVERYWHERE)
    assert (found.per_day, found.matches) == (None, 5)


def test_new_messages_are_read_and_old_ones_forgotten(messages):
    estimator = Estimator(messages, keep=4)
    publish(messages, range(3))
    assert estimator.estimate(EVERYWHERE).examples == ("m2", "m1", "m0")
    publish(messages, range(3, 5))
    found = estimator.estimate(EVERYWHERE)
    assert found.examples == ("m4", "m3", "m2", "m1", "m0")  # one small batch by now
    publish(messages, range(5, 15))
    found = estimator.estimate(EVERYWHERE)
    assert (found.messages, found.examples) == (4, ("m14", "m13", "m12", "m11"))


def test_whole_batches_are_forgotten(messages, monkeypatch):
    monkeypatch.setattr("nearcast.service.estimate._SMALL_BATCH", 1)
    estimator = Estimator(messages, keep=4)
    for begin in range(0, 12, 3):
        publish(messages, range(begin, begin + 3))
        found = estimator.estimate(EVERYWHERE)
    assert found.messages == 6
    assert found.examples[-1] == "m6"


def test_a_few_wrong_clocks_do_not_matter(messages):
    publish(messages, range(100), times=[0.0, 1e12, *(1_000_000.0 + i for i in range(98))])
    assert Estimator(messages).estimate(EVERYWHERE).seconds == pytest.approx(98, rel=0.05)
