import pytest

from nearcast.explain import explain
from nearcast.model import ANY, Box, Circle, Message, Point, Polygon, Space, Subscription

HERE = Point(2.35, 48.86)


def message(text, at=HERE):
    return Message(7, text=text, at=at)


def first_line(subscription, text, at=HERE):
    return str(explain(subscription, message(text, at))).partition("\n")[0]


def wants(keywords, region=None):
    return Subscription("s", keywords, region)


@pytest.mark.parametrize(
    ("keywords", "text", "verdict"),
    [
        ("tea", "tea time", "match: has 'tea'; everywhere"),
        ("tea cake", "cake and tea", "match: has 'cake' and 'tea'; everywhere"),
        ("tea NOT bag", "tea time", "match: has 'tea' and no 'bag'; everywhere"),
        ("tea OR cake", "cake", "match: has 'cake'; everywhere"),
        ("tea", "cake", "no match: needs 'tea'"),
        ("tea", "", "no match: needs 'tea'"),
        ("tea cake", "time", "no match: needs 'cake' and 'tea'"),
        ("tea cake", "tea time", "no match: needs 'cake'"),
        ("tea NOT bag", "tea bag", "no match: needs no 'bag'"),
        ("tea NOT bag", "bag", "no match: needs 'tea' and no 'bag'"),
        ("ipad (discount OR sale)", "ipad", "no match: needs 'discount' or 'sale'"),
        ("ipad (discount OR sale)", "case", "no match: needs 'ipad' and ('discount' or 'sale')"),
        # What asks for more than something else does is left out.
        ("tea OR (cake AND cream)", "cream", "no match: needs 'cake' or 'tea'"),
        ("(tea cup) OR (tea cake)", "time", "no match: needs 'tea' and ('cake' or 'cup')"),
        ("tea OR (cake cream) OR (ham NOT egg)", "egg jam",
         "no match: needs 'tea' or ('cake' and 'cream') or ('ham' and no 'egg')"),
        ("a OR b OR c OR d OR e OR f", "x",
         "no match: needs 'a' or 'b' or 'c' or 'd' or one of 2 other ways"),
    ],
)  # fmt: skip
def test_words_are_told_in_words(keywords, text, verdict):
    assert first_line(wants(keywords), text) == verdict


@pytest.mark.parametrize(
    ("region", "at", "place"),
    [
        (Circle(HERE, 500), HERE, "inside the region"),
        (Circle(HERE, 0), Point(2.35, 48.860001), "less than 1 m outside the region"),
        (Circle(HERE, 500), Point(2.35, 48.87), "612 m outside the region"),
        (Circle(HERE, 500), Point(2.35, 48.90), "3.9 km outside the region"),
        (Circle(HERE, 500), Point(-77, 38.9), "6,162 km outside the region"),
        (Box(2, 48, 2.3, 49), HERE, "3.7 km outside the region"),
        (Box(179, -1, -179, 1), Point(180, 0), "inside the region"),
        (Box(178, -1, 179, 1), Box(-179.5, 0, -179, 0), "167 km outside the region"),
        (Polygon([[(2, 48), (2.3, 48), (2.3, 49), (2, 49)]]), HERE, "3.7 km outside the region"),
    ],
)
def test_places_are_told_in_lengths(region, at, place):
    line = first_line(wants("tea", region), "tea", at)
    assert line == (f"match: has 'tea'; {place}" if "inside" in place else f"no match: {place}")


def test_both_reasons_are_told():
    line = first_line(wants("tea", Circle(HERE, 500)), "cake", Point(2.35, 48.87))
    assert line == "no match: needs 'tea'; 612 m outside the region"


def test_the_other_lines_say_what_was_wanted_and_what_was_said():
    lines = str(explain(wants("tea", Box(2, 48, 3, 49)), message("Tea!"))).splitlines()
    assert lines[1:] == [
        "  wanted: tea, in the box 2, 48, 3, 49",
        "  said:   'Tea!', at 2.35, 48.86",
    ]
    by_keywords = Message(7, keywords=["tea", "time"], at=Box(1, 2, 3, 4))
    lines = str(explain(wants("tea"), by_keywords)).splitlines()
    assert lines[1:] == ["  wanted: tea, everywhere", "  said:   'tea time', in the box 1, 2, 3, 4"]
    triangle = Polygon([[(2, 48), (3, 48), (3, 49)]])
    assert "in the polygon from 2, 48" in str(explain(wants("tea", triangle), by_keywords))


def test_any_words_will_do():
    explanation = explain(wants(ANY, Circle(HERE, 500)), message("whatever"))
    assert explanation.matches
    assert str(explanation).startswith("match: any words will do; inside the region\n")


def test_the_parts_are_there_for_programs():
    explanation = explain(wants("(tea NOT bag) OR cake", Circle(HERE, 500)), message("tea bag"))
    assert not explanation.matches
    assert not explanation.words_match
    assert explanation.in_region
    assert explanation.distance == 0.0
    assert [(set(c.missing), set(c.unwanted), c.holds) for c in explanation.clauses] == [
        ({"cake"}, set(), False),
        (set(), {"bag"}, False),
    ]


def test_the_plane_has_units():
    square = Box(0, 0, 2, 2, space=Space.PLANE)
    line = first_line(wants("tea", square), "tea", Point(5, 0, space=Space.PLANE))
    assert line == "no match: 3 units outside the region"


def test_two_spaces_have_nothing_in_common():
    with pytest.raises(ValueError, match="different spaces"):
        explain(wants("tea", Box(0, 0, 1, 1)), message("tea", Point(0, 0, space=Space.PLANE)))
