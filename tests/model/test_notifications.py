import pickle

import pytest

from nearcast.model import Notification


@pytest.mark.parametrize("kind", ["match", "enter", "leave", "top", "trend"])
def test_kinds(kind):
    notification = Notification("s", kind, 7)
    assert notification == Notification("s", kind, 7, score=None, terms=None, time=0.0)
    assert pickle.loads(pickle.dumps(notification)) == notification


def test_a_changed_list_of_terms_has_no_message():
    notification = Notification("s", "trend", None, terms=[("tea", 2), ("cup", 1.5)], time=3)
    assert notification.terms == (("tea", 2.0), ("cup", 1.5))
    assert (notification.message_id, notification.time) == (None, 3.0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("s", "matched", 7), ValueError, "kind 'matched' is unknown; it is one of match, enter, "),
        ((None, "match", 7), TypeError, "subscription id None is neither"),
        (("s", "match", 7.5), TypeError, r"message id 7\.5 is neither"),
        (("s", "top", 7, float("nan")), ValueError, "notification score nan is not finite; give"),
        (("s", "match", 7, None, None, "now"), TypeError, "notification time 'now' is not a num"),
    ],
)
def test_a_notification_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Notification(*arguments)
