import pytest

from nearcast.service.data_folder import DataFolder
from nearcast.service.stores import dead_letters
from nearcast.service.stores.dead_letters import DeadLetter
from nearcast.service.stores.deliveries import Deliveries


@pytest.fixture
def deliveries(tmp_path):
    deliveries = Deliveries(DataFolder.open(tmp_path / "data"))
    yield deliveries
    deliveries.close()


def letter(sequence, webhook="hook", parked=1.0):
    return DeadLetter("ann", webhook, sequence, "cafe", "{}", "timeout", 8, parked)


def test_a_cursor_only_goes_forward(deliveries):
    assert deliveries.cursor("ann") == 0
    assert deliveries.acknowledge("ann", 7, {"cafe": 2, "bar": 1})
    assert not deliveries.acknowledge("ann", 7, {"cafe": 2})
    assert not deliveries.acknowledge("ann", 5, {"cafe": 2})
    assert deliveries.cursor("ann") == 7
    assert deliveries.cursor("ann", "hook") == 0
    assert deliveries.counts("ann", "cafe") == (2, 0)
    assert deliveries.totals() == (3, 0)


def test_webhooks_keep_their_secret(deliveries):
    made, is_new = deliveries.put_webhook("ann", "hook", "https://a.example/", begin=5)
    assert is_new
    moved, is_new = deliveries.put_webhook("ann", "hook", "https://b.example/", begin=9)
    assert not is_new
    assert (moved.url, moved.secret) == ("https://b.example/", made.secret)
    assert deliveries.cursor("ann", "hook") == 5
    assert deliveries.webhook("ann", "hook") == moved
    assert deliveries.webhook("bob", "hook") is None
    assert deliveries.webhooks() == deliveries.webhooks("ann") == [moved]
    assert deliveries.remove_webhook("ann", "hook")
    assert not deliveries.remove_webhook("ann", "hook")
    assert deliveries.cursor("ann", "hook") == 0


def test_dead_letters_move_the_cursor_and_can_be_asked_for_again(deliveries):
    deliveries.put_webhook("ann", "hook", "https://a.example/", begin=0)
    deliveries.park([letter(3), letter(4)])
    deliveries.park([letter(4)])  # again, after a crash
    assert deliveries.cursor("ann", "hook") == 4
    assert deliveries.counts("ann", "cafe") == (0, 2)
    assert [each.sequence for each in deliveries.dead_letters("ann")] == [3, 4]
    assert deliveries.dead_letters("ann", "other") == []
    assert deliveries.dead_letters("bob") == []
    assert deliveries.redeliver("ann", "hook", [4, 99]) == 1
    [wanted] = deliveries.dead_letters("ann", "hook", wanted=True)
    deliveries.redelivered(wanted)
    assert [each.sequence for each in deliveries.dead_letters("ann")] == [3]
    assert deliveries.counts("ann", "cafe") == (1, 2)
    assert deliveries.redeliver("ann", "hook", None) == 1
    assert deliveries.count_dead_letters() == 1
    assert deliveries.forget_dead_letters(parked_before=2.0) == 1
    assert deliveries.count_dead_letters() == 0


def test_the_oldest_dead_letters_of_a_webhook_make_room(deliveries, monkeypatch):
    monkeypatch.setattr(dead_letters, "MOST_KEPT", 3)
    deliveries.park([letter(number, "other") for number in (1, 2)])
    deliveries.park([letter(number) for number in range(1, 6)])
    assert [each.sequence for each in deliveries.dead_letters("ann", "hook")] == [3, 4, 5]
    deliveries.park([letter(6)])
    assert [each.sequence for each in deliveries.dead_letters("ann", "hook")] == [4, 5, 6]
    assert len(deliveries.dead_letters("ann", "other")) == 2
    assert deliveries.count_dead_letters() == 5
    assert deliveries.cursor("ann", "hook") == 6
    assert deliveries.remove_webhook("ann", "hook") is False
    assert deliveries.count_dead_letters() == 2


def test_totals_are_those_of_the_file(deliveries, tmp_path):
    deliveries.acknowledge("ann", 7, {"cafe": 2, "bar": 1})
    deliveries.acknowledge("bob", 7, {"cafe": 4})
    deliveries.park([letter(3), letter(4)])
    [first, _] = deliveries.dead_letters("ann")
    deliveries.redelivered(first)
    deliveries.redelivered(first)  # it was gone by then
    assert (deliveries.totals(), deliveries.count_dead_letters()) == ((9, 2), 1)
    again = Deliveries(DataFolder.open(tmp_path / "data"))
    assert (again.totals(), again.count_dead_letters()) == ((9, 2), 1)
    again.close()


def test_what_is_not_written_is_not_counted(deliveries):
    with pytest.raises(Exception, match="NOT NULL"):
        deliveries.park([letter(1), DeadLetter("ann", "hook", 2, "cafe", None, "", 8, 1.0)])
    assert (deliveries.totals(), deliveries.count_dead_letters()) == ((0, 0), 0)


def test_a_subscription_that_is_forgotten_begins_anew_and_totals_stay(deliveries, tmp_path):
    deliveries.acknowledge("ann", 7, {"cafe": 2, "bar": 1})
    deliveries.park([letter(3)])
    for _ in range(2):
        deliveries.forget_subscription("ann", "cafe")
        assert deliveries.counts("ann", "cafe") == (0, 0)
    deliveries.forget_subscription("ann", "bar")
    deliveries.acknowledge("ann", 8, {"cafe": 1})
    assert deliveries.counts("ann", "cafe") == (1, 0)
    assert deliveries.totals() == (4, 1)
    again = Deliveries(DataFolder.open(tmp_path / "data"))
    assert again.totals() == (4, 1)
    again.close()
