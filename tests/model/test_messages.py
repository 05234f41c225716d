import pickle

import numpy as np
import pytest

from nearcast.batches import MessageBatch
from nearcast.model import Box, Circle, Message, Point, Space

HERE = Point(2.35, 48.86)


def test_text_becomes_a_bag_of_tokens():
    message = Message("m", text="Tea, #TEA or wi-fi?", at=HERE)
    assert message.keywords == ("tea", "tea", "or", "wi", "fi")
    assert message.text == "Tea, #TEA or wi-fi?"
    assert (message.id, message.at, message.time, message.expires) == ("m", HERE, 0.0, None)


def test_keywords_are_tokenised_one_by_one():
    message = Message("m", keywords=(word for word in ["Wi-Fi", "tea", "tea", "!"]), at=HERE)
    assert message.keywords == ("wi", "fi", "tea", "tea")
    assert message.text is None


@pytest.mark.parametrize("words", [{"text": ""}, {"text": "!!!"}, {"keywords": []}])
def test_a_message_may_have_no_words(words):
    assert Message("m", **words, at=HERE).keywords == ()


def test_a_message_is_a_value():
    box = Box(0, 0, 1, 1)
    message = Message(np.int64(7), text="tea", at=box, time=np.float32(5), expires=5)
    assert (type(message.id), type(message.time), type(message.expires)) == (int, float, float)
    assert message == Message(7, keywords=["tea"], at=box, time=5.0, expires=5.0)
    assert len({message, pickle.loads(pickle.dumps(message))}) == 1
    with pytest.raises(AttributeError):
        message.time = 3.0


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({}, ValueError, "neither of text and keywords given; give one of them"),
        ({"text": "a", "keywords": []}, ValueError, "both of text and keywords given; give one"),
        ({"text": ["a"]}, TypeError, r"text \['a'\] is not a string; for a list give keywords"),
        ({"keywords": "a"}, TypeError, "keywords 'a' are one string; give a list of strings"),
        ({"keywords": ["a", 3]}, TypeError, "keyword 3 is not a string"),
        ({"text": "a", "time": 5, "expires": 4.5}, ValueError, "expires 4.5 is before time 5.0; "),
        ({"text": "a", "time": float("nan")}, ValueError, "time nan is not finite; give"),
        ({"text": "a", "time": 10**400}, ValueError, "time inf is not finite; give"),
        ({"text": "a", "time": "5"}, TypeError, "time '5' is not a number; give"),
        ({"text": "a", "time": True}, TypeError, "time True is not a number; give"),
        ({"text": "a", "expires": float("inf")}, ValueError, "expires inf is not finite; give"),
        ({"text": "a", "at": (1, 2)}, TypeError, r"at \(1, 2\) is not a place; give a Point or"),
        ({"text": "a", "at": Circle(HERE, 5)}, TypeError, "at Circle.* is not a place; give"),
    ],
)
def test_a_message_refused(arguments, error, problem):
    with pytest.raises(error, match=f"message 'm': {problem}"):
        Message("m", **{"at": HERE} | arguments)


def test_a_bad_id_is_refused():
    with pytest.raises(TypeError, match="message id None is neither a string nor an integer"):
        Message(None, text="a", at=HERE)


def test_the_middle_of_a_box_stays_in_it():
    wide = Box(100, 0, 300, 10, space=Space.PLANE)
    assert Message(1, text="", at=wide).middle == Point(200, 5, space=Space.PLANE)
    assert Message(1, text="", at=Box(170, 0, -160, 10)).middle == Point(-175, 5)
    batch = MessageBatch.from_messages([Message(1, text="", at=wide)], space=Space.PLANE)
    assert batch.middles().tolist() == [[200, 5]]
