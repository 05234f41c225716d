import pickle

import numpy as np
import pytest
from hypothesis.vendor.pretty import pretty

from nearcast.model import (
    ANY,
    Box,
    Circle,
    NearbyTrendingSubscription,
    Point,
    Polygon,
    Subscription,
    TopKSubscription,
    TrendingSubscription,
)
from nearcast.text import ANYTHING, ExpressionError, parse

HERE = Point(2.35, 48.86)
REGIONS = [Box(0, 0, 1, 1), Circle(HERE, 5), Polygon([[(0, 0), (1, 0), (0, 1)]])]


@pytest.mark.parametrize("region", [None, *REGIONS])
@pytest.mark.parametrize(
    "keywords", ["tea AND cup", "cup tea", ["Tea", "cup"], {"tea", "cup"}, parse("tea AND cup")]
)
def test_a_subscription(keywords, region):
    subscription = Subscription("s", keywords, region)
    assert subscription.expression == parse("tea AND cup")
    assert (subscription.id, subscription.region) == ("s", region)


def test_hypothesis_can_print_a_subscription():
    """Or else it reports a failing test as flaky, and hides what failed."""
    printed = pretty(Subscription("s", "tea", Box(0, 0, 1, 1)))
    assert printed.startswith("Subscription(id='s'")
    assert "Box(" in printed
    assert "'tea'" in printed


def test_any_keywords_in_a_region():
    assert Subscription("s", ANY, REGIONS[0]).expression == ANYTHING
    assert repr(ANY) == "ANY"
    assert pickle.loads(pickle.dumps(ANY)) is ANY


@pytest.mark.parametrize("keywords", [ANY, ANYTHING])
def test_any_keywords_everywhere_is_refused(keywords):
    with pytest.raises(ValueError, match="subscription 's': ANY keywords everywhere is every "):
        Subscription("s", keywords)


@pytest.mark.parametrize("keywords", [None, 3])
def test_no_keywords_are_refused(keywords):
    message = f"subscription 's': keywords {keywords} are no words; give .* or ANY with a region"
    with pytest.raises(TypeError, match=message):
        Subscription("s", keywords, REGIONS[0])


@pytest.mark.parametrize(
    ("keywords", "error", "problem"),
    [
        ([], ValueError, "there are no keywords; give at least one word"),
        (["!"], ValueError, "keyword '!' has no letter or digit; leave it out"),
        ([3], TypeError, "keyword 3 is not a string"),
    ],
)
def test_words_refused(keywords, error, problem):
    with pytest.raises(error, match=f"subscription 's': {problem}"):
        Subscription("s", keywords, REGIONS[0])


def test_an_error_in_an_expression_names_the_subscription_and_the_column():
    with pytest.raises(ExpressionError) as caught:
        Subscription("cafe", "tea OR")
    assert caught.value.column == 7
    assert str(caught.value).splitlines() == [
        "subscription 'cafe', column 7: a word is missing here, at the end; add one",
        "    tea OR",
        "          ^",
    ]


def test_top_k():
    subscription = TopKSubscription("s", "Green tea, tea", HERE)
    assert subscription.keywords == ("green", "tea", "tea")
    assert (subscription.at, subscription.k, subscription.alpha) == (HERE, 20, 0.5)
    assert subscription == TopKSubscription("s", ["Green", "tea", "tea"], HERE, k=20, alpha=0.5)
    assert TopKSubscription("s", ["tea"], HERE, alpha=1).alpha == 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({"keywords": "!"}, ValueError, "keywords '!' hold no word; give at least one"),
        ({"keywords": []}, ValueError, r"keywords \[\] hold no word; give at least one"),
        ({"keywords": [3]}, TypeError, "keyword 3 is not a string"),
        ({"at": REGIONS[0]}, TypeError, "at Box.* is not a Point; give Point"),
        ({"alpha": 1.5}, ValueError, r"alpha 1.5 is outside \[0, 1\]; 0 is words alone"),
        ({"alpha": float("nan")}, ValueError, "alpha nan is not finite; give"),
        ({"alpha": "1"}, TypeError, "alpha '1' is not a number; give"),
    ],
)
def test_top_k_refused(arguments, error, problem):
    with pytest.raises(error, match=f"subscription 's': {problem}"):
        TopKSubscription("s", **{"keywords": "tea", "at": HERE} | arguments)


def test_trending():
    assert TrendingSubscription("s", REGIONS[1]).region == REGIONS[1]
    assert NearbyTrendingSubscription("s", HERE).at == HERE
    assert TrendingSubscription("s", REGIONS[1]).k == NearbyTrendingSubscription("s", HERE).k == 10


MAKERS = [
    lambda id="s", **k: TopKSubscription(id, "tea", HERE, **k),
    lambda id="s", **k: TrendingSubscription(id, REGIONS[0], **k),
    lambda id="s", **k: NearbyTrendingSubscription(id, HERE, **k),
]


@pytest.mark.parametrize("make", MAKERS)
def test_k_is_a_whole_number_from_1(make):
    assert type(make(k=np.int32(1)).k) is int
    with pytest.raises(ValueError, match="subscription 's': k 0 is below 1; give an int >= 1"):
        make(k=0)
    for k in (True, 2.0, "2", None):
        with pytest.raises(TypeError, match=r"subscription 's': k .* is not a whole number; give"):
            make(k=k)


@pytest.mark.parametrize("make", [*MAKERS, lambda id="s": Subscription(id, "tea")])
def test_every_kind_is_a_value_with_a_checked_id(make):
    assert pickle.loads(pickle.dumps(make())) == make()
    assert {make(), make()} == {make()}
    assert type(make(np.int64(3)).id) is int
    with pytest.raises(TypeError, match=r"subscription id 1\.5 is neither a string nor an integer"):
        make(1.5)
    with pytest.raises(AttributeError):
        make().id = "other"


@pytest.mark.parametrize("region", [HERE, (0, 0, 1, 1), "here"])
def test_what_is_no_region_is_refused(region):
    message = "subscription 's': region .* is no Box, Circle or Polygon; give one of them"
    with pytest.raises(TypeError, match=message):
        Subscription("s", "tea", region)
    with pytest.raises(TypeError, match=message):
        TrendingSubscription("s", region)


def test_what_is_no_point_is_refused():
    with pytest.raises(TypeError, match=r"subscription 's': at .* is not a Point; give Point"):
        NearbyTrendingSubscription("s", (1, 2))
