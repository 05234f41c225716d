import pytest

from nearcast.model import ANY, Box, Message, Point, Subscription
from nearcast.service.documents import (
    checked_id,
    message_document,
    message_from,
    subscription_document,
    subscription_from,
)

POINT = {"type": "Point", "coordinates": [1, 2]}
TRIANGLE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}


def feature(geometry=None, id="x", **properties):
    return {"type": "Feature", "id": id, "geometry": geometry, "properties": properties}


def test_a_message_goes_there_and_back():
    for message in (
        Message("m", text="Tea ☕", at=Point(1.25, -3), time=7.5, expires=9),
        Message("m", keywords=["tea", "tea"], at=Box(170, 0, -170, 1)),
    ):
        assert message_from(message_document(message), now=0.0) == message


def test_a_subscription_without_words_takes_everything_in_its_region():
    given = feature(TRIANGLE)
    assert (
        subscription_from(given, "s").expression
        == Subscription("s", ANY, Box(0, 0, 1, 1)).expression
    )
    assert subscription_document(subscription_from(given, "s"))["properties"] == {}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (7, "GeoJSON Feature"),
        ({"type": "Point"}, "not a GeoJSON Feature"),
        (feature(), "give a region"),
        (feature(keywords="a AND"), "a AND"),
        (feature(keywords=7), "neither a text nor a list"),
        (feature(POINT, keywords="a"), "property radius"),
        (feature(keywords="a", radius=5), "needs a Point"),
        (feature(POINT, keywords="a", radius="far"), "radius"),
        (feature(POINT, keywords="a", radius=-1), "-1"),
        (feature(keywords="a", colour="red"), "unknown property 'colour'"),
        (feature({"type": "Point", "coordinates": [200, 0]}, keywords="a", radius=1), "200"),
        ({**feature(keywords="a"), "bbox": [0, 0, 1]}, "bbox"),
        ({**feature(keywords="a"), "bbox": [0, 0, 1, "x"]}, "bbox"),
        ({**feature(keywords="a"), "bbox": [0, 5, 1, 4]}, "5"),
        ({**feature(keywords="a"), "properties": 7}, "properties 7"),
        (feature({"type": "Polygon", "coordinates": 7}, keywords="a"), "coordinates"),
        (feature(7, keywords="a"), "7"),
    ],
)
def test_a_bad_subscription_is_refused_with_its_reason(document, says):
    with pytest.raises(ValueError, match=says):
        subscription_from(document, "s")


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (7, "GeoJSON Feature"),
        (feature(POINT, id=7, text="a"), "message id 7 is not a text"),
        (feature(POINT, id="", text="a"), "0 letters"),
        (feature(POINT, id="x" * 201, text="a"), "201 letters"),
        (feature(POINT), "neither of text and keywords"),
        (feature(POINT, text="a", keywords=["b"]), "both"),
        (feature(POINT, text=7), "text 7"),
        (feature(POINT, keywords=[7]), "7"),
        (feature(POINT, text="a", time="now"), "now"),
        (feature(POINT, text="a", time=5, expires=4), "before time"),
        (feature(None, text="a"), "no place"),
        (feature(TRIANGLE, text="a"), "no place"),
        (feature({"type": "Point", "coordinates": [1]}, text="a"), "no place"),
        (feature({"type": "Point", "coordinates": "ab"}, text="a"), "a"),
        (feature({"type": "Point", "coordinates": [1, 95]}, text="a"), "95"),
        (feature({"type": "Point", "coordinates": [1, float("nan")]}, text="a"), "nan"),
        ({**feature(text="a"), "bbox": "abcd"}, "bbox"),
    ],
)
def test_a_bad_message_is_refused_with_its_reason(document, says):
    with pytest.raises((ValueError, TypeError), match=says):
        message_from(document, now=0.0)


@pytest.mark.parametrize("id", ["a/b", "a\nb", "\x00", "", None, 7, "x" * 201])
def test_bad_ids(id):
    with pytest.raises(ValueError, match="subscription id"):
        checked_id(id, "subscription")
