import json

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from nearcast.batches import BadRows, ExpressionColumn, SubscriptionBatch
from nearcast.model import ANY, Box, Circle, Point, Polygon, Space, Subscription
from nearcast.space import RegionColumn, region_to_geojson
from nearcast.text.expression import ExpressionError, parse
from tests.batches.strategies import WORDS, arrow_forms, expression_texts, id_lists
from tests.space.strategies import SPACES, boxes, circles, polygons, regions


def parses(text):
    try:
        parse(text)
    except ExpressionError:
        return False
    return True


GOOD_TEXTS = expression_texts().filter(parses)
KEYWORDS = {
    pa.string(): GOOD_TEXTS | st.none(),
    pa.list_(pa.string()): st.lists(WORDS, min_size=1, max_size=4) | st.none(),
}


def geojson(region):
    return json.dumps(region_to_geojson(region))


def wkb(polygon):
    return shapely.to_wkb(shapely.Polygon(polygon.rings[0], polygon.rings[1:]))


def box_columns(all_boxes):
    return {
        name: pa.array([box and getattr(box, name) for box in all_boxes], pa.float64())
        for name in ("west", "south", "east", "north")
    }


REGIONS = {
    "none": (lambda space: st.none(), lambda values: {}),
    "boxes": (boxes, box_columns),
    "geojson": (
        lambda space: circles(space) | polygons(space),
        lambda values: {"region": pa.array([v and geojson(v) for v in values], pa.string())},
    ),
    "wkb": (
        polygons,
        lambda values: {"region": pa.array([v and wkb(v) for v in values], pa.binary())},
    ),
}


@st.composite
def tables_and_subscriptions(draw):
    space = draw(st.sampled_from(SPACES))
    make, columns = REGIONS[draw(st.sampled_from(sorted(REGIONS)))]
    kind = draw(st.sampled_from(list(KEYWORDS)))
    rows = []
    for id in draw(st.integers(1, 5).flatmap(id_lists)):
        keywords, region = draw(KEYWORDS[kind]), draw(make(space) | st.none())
        if keywords is None and region is None:
            keywords = "tea" if kind == pa.string() else ["tea"]
        rows.append((id, keywords, region))
    table = pa.table(
        {
            "id": [id for id, _, _ in rows],
            "keywords": pa.array([keywords for _, keywords, _ in rows], kind),
            **columns([region for _, _, region in rows]),
        }
    )
    subscriptions = [
        Subscription(id, ANY if keywords is None else keywords, region)
        for id, keywords, region in rows
    ]
    return space, draw(arrow_forms(table)), subscriptions


def same(one, other):
    """Equal, but for where a polygon's ring starts and turns, which WKB does not keep."""
    assert one.id == other.id
    assert one.expression.clauses == other.expression.clauses
    if isinstance(one.region, Polygon):
        assert len(one.region.rings) == len(other.region.rings)
        for ring, other_ring in zip(one.region.rings, other.region.rings, strict=True):
            assert sorted(ring) == sorted(other_ring)
    else:
        assert one.region == other.region


@given(tables_and_subscriptions())
def test_from_arrow_like_objects(case):
    space, table, subscriptions = case
    batch = SubscriptionBatch.from_arrow(table, space=space)
    assert len(batch) == len(subscriptions)
    assert batch.space is space
    for row, subscription in enumerate(subscriptions):
        same(batch.subscription(row), subscription)


@given(st.lists(expression_texts(), max_size=8))
def test_texts_like_the_parser(texts):
    """Whatever the text: the parser's clauses, or the parser's error for this row."""
    table = pa.table({"id": range(len(texts)), "keywords": pa.array(texts, pa.string())})
    good = [row for row, text in enumerate(texts) if parses(text)]
    try:
        batch = SubscriptionBatch.from_arrow(table)
    except BadRows as error:
        bad = dict(error.rejects)
        assert sorted(bad) == [row for row in range(len(texts)) if row not in good]
        for row, reason in bad.items():
            with pytest.raises(ExpressionError) as alone:
                parse(texts[row])
            assert reason == str(alone.value)
        batch = SubscriptionBatch.from_arrow(table.take(pa.array(good, pa.int64())))
    assert len(batch) == len(good)
    for number, row in enumerate(good):
        assert batch.subscription(number).expression == parse(texts[row])


@st.composite
def subscription_lists(draw):
    space = draw(st.sampled_from(SPACES))
    keywords = st.one_of(GOOD_TEXTS, st.lists(WORDS, min_size=1, max_size=3))
    made = []
    for id in draw(st.integers(0, 5).flatmap(id_lists)):
        region = draw(st.none() | regions(space))
        words = draw(keywords if region is None else keywords | st.just(ANY))
        made.append(Subscription(id, words, region))
    return space, made


def all_of(batch):
    return [batch.subscription(row) for row in range(len(batch))]


@given(subscription_lists())
def test_from_subscriptions_and_back(case):
    space, subscriptions = case
    assert all_of(SubscriptionBatch.from_subscriptions(subscriptions, space=space)) == subscriptions


@given(subscription_lists(), st.data())
def test_take_and_concat(case, data):
    space, subscriptions = case
    batch = SubscriptionBatch.from_subscriptions(subscriptions, space=space)
    rows = data.draw(st.permutations(range(len(subscriptions))))
    cut = data.draw(st.integers(0, len(rows)))
    some, others = batch.take(rows[:cut]), batch.take(np.array(rows[cut:], np.int32))
    assert all_of(some) == [subscriptions[row] for row in rows[:cut]]
    used = {
        word
        for subscription in all_of(some)
        for clause in subscription.expression.clauses
        for word in clause.required | clause.forbidden
    }
    assert set(some.lexicon.to_pylist()) == used
    both = SubscriptionBatch.concat([some, others])
    assert all_of(both) == [subscriptions[row] for row in rows]
    assert len(set(both.lexicon.to_pylist())) == len(both.lexicon)


def everywhere(**columns):
    n = len(next(iter(columns.values())))
    return pa.table({"id": range(n), "keywords": ["tea"] * n} | columns)


def test_many_rows_of_few_shapes():
    """Shapes, words that repeat, words of several tokens, and rows without a shape, mixed."""
    makers = [
        "{0}", "{0} {1}", "{0} AND ({1} OR {2})", "{0} OR {0} AND {1}", "NOT {1} AND {0}",
        "({0} AND NOT {1}) OR ({1} AND NOT {0})", "wi-{0} OR NOT ({1}-fi) AND {2}",
    ]  # fmt: skip
    rng = np.random.default_rng(7)
    texts = [
        makers[rng.integers(len(makers))].format(*(f"v{word}" for word in rng.integers(30, size=3)))
        for _ in range(2000)
    ]
    texts = [text for text in texts if parses(text)]
    batch = SubscriptionBatch.from_arrow(everywhere(keywords=texts))
    assert [batch.subscription(row).expression for row in range(len(texts))] == [
        parse(text) for text in texts
    ]


def test_more_words_than_a_shape_can_name():
    texts = [" OR ".join(f"v{word}" for word in range(count)) for count in (249, 250, 251, 600)]
    batch = SubscriptionBatch.from_arrow(everywhere(keywords=texts))
    assert np.diff(batch.clause_start).tolist() == [249, 250, 251, 600]
    assert batch.subscription(3).expression == parse(texts[3])


def test_same_region_in_many_rows():
    city = Polygon([[(0, 0), (4, 0), (0, 3)]])
    table = everywhere(region=[geojson(city), None, geojson(city)])
    batch = SubscriptionBatch.from_arrow(table)
    assert [row.region for row in all_of(batch)] == [city, None, city]


def test_dictionary_encoded_items_of_lists():
    items = pa.array(["tea", "Hot-Cake", "tea"]).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3]), items)
    fixed = pa.array([["tea", "cake"], None], pa.list_(pa.string(), 2))
    batch = SubscriptionBatch.from_arrow(everywhere(keywords=lists))
    assert [row.expression for row in all_of(batch)] == [parse("tea hot cake"), parse("tea")]
    boxes = {name: [0, 1] for name in ("west", "south", "east", "north")}
    batch = SubscriptionBatch.from_arrow(everywhere(keywords=fixed, **boxes))
    assert batch.subscription(0).expression == parse("tea cake")
    assert batch.subscription(1) == Subscription(1, ANY, Box(1, 1, 1, 1))


def test_null_lists_that_hide_items():
    hidden = pa.Array.from_buffers(
        pa.list_(pa.string()),
        2,
        [pa.py_buffer(b"\x02"), pa.py_buffer(np.array([0, 1, 2], np.int32))],
        children=[pa.array(["gone", "tea"])],
    )
    boxes = {name: [0, 1] for name in ("west", "south", "east", "north")}
    batch = SubscriptionBatch.from_arrow(everywhere(keywords=hidden, **boxes))
    assert all_of(batch) == [
        Subscription(0, ANY, Box(0, 0, 0, 0)),
        Subscription(1, "tea", Box(1, 1, 1, 1)),
    ]


def test_empty_tables():
    typed = everywhere(id=[1]).slice(0, 0)
    untyped = pa.table({name: pa.array([], pa.null()) for name in ("id", "keywords", "region")})
    lists = pa.table(
        {"id": pa.array([], pa.string()), "keywords": pa.array([], pa.list_(pa.null()))}
    )
    for table in (typed, untyped, lists, pa.Table.from_batches([], typed.schema)):
        batch = SubscriptionBatch.from_arrow(table)
        assert len(batch) == 0
        assert len(batch.take([])) == 0
        assert len(SubscriptionBatch.concat([batch, batch])) == 0
    assert len(SubscriptionBatch.from_subscriptions([])) == 0


def test_arrays_are_writable_and_of_the_promised_types():
    batch = SubscriptionBatch.from_arrow(everywhere(keywords=["tea NOT iced", "(tea OR cake) x"]))
    for name in ("clause_start", "required_start", "forbidden_start"):
        assert getattr(batch, name).dtype == np.int64
    for name in ("required", "forbidden"):
        assert getattr(batch, name).dtype == np.int32
        assert getattr(batch, name).flags.writeable
    assert batch.lexicon.type == pa.large_string()
    assert sorted(batch.lexicon.to_pylist()) == ["cake", "iced", "tea", "x"]


def test_concat_of_nothing_and_of_different_kinds():
    numbers = SubscriptionBatch.from_arrow(everywhere(id=[1]))
    strings = SubscriptionBatch.from_arrow(everywhere(id=["1"]))
    plane = SubscriptionBatch.from_arrow(everywhere(id=[2]), space=Space.PLANE)
    with pytest.raises(ValueError, match="at least one"):
        SubscriptionBatch.concat([])
    with pytest.raises(ValueError, match="integer ids and batches with string ids"):
        SubscriptionBatch.concat([numbers, strings])
    with pytest.raises(ValueError, match="use one space"):
        SubscriptionBatch.concat([numbers, plane])
    with pytest.raises(BadRows, match="id 1 is that of row 0 too"):
        SubscriptionBatch.concat([numbers, numbers])
    with pytest.raises(IndexError, match="row 1 is outside a batch of 1"):
        numbers.subscription(1)


def test_objects_of_another_space_and_mixed_ids():
    here = Subscription(1, "tea")
    plane = Circle(Point(0, 0, space=Space.PLANE), 1)
    with pytest.raises(BadRows, match=r"row 1, subscription 2: .* is not in Space.EARTH"):
        SubscriptionBatch.from_subscriptions([here, Subscription(2, "tea", plane)])
    with pytest.raises(BadRows, match=r"row 1, subscription 'b': .* as ids, not both"):
        SubscriptionBatch.from_subscriptions([here, Subscription("b", "tea")])


def test_columns_given_directly_are_checked():
    good = SubscriptionBatch.from_arrow(everywhere(id=[1]))
    region = RegionColumn.of_boxes([[0, 0, 1, 1]], Space.EARTH)
    with pytest.raises(ValueError, match="2 ids, 1 expressions and 1 regions"):
        SubscriptionBatch(pa.array([1, 2]), good.expressions, good.regions)
    arrays = {
        name: getattr(good.expressions, name)
        for name in (
            "lexicon", "clause_start", "required_start", "required", "forbidden_start", "forbidden",
        )
    }  # fmt: skip
    twice = {"required": np.zeros(2, np.int32), "required_start": np.array([0, 2])}
    negative = {
        "required": np.empty(0, np.int32), "required_start": np.array([0, 0]),
        "forbidden": np.zeros(1, np.int32), "forbidden_start": np.array([0, 1]),
    }  # fmt: skip
    bad = [
        ({"required": np.array([3], np.int32)}, "expression 0 has a code that is not a position"),
        ({"required": np.array([-1], np.int32)}, "expression 0 has a code that is not a position"),
        ({"required_start": np.array([0, 5])}, "required_start must rise from 0 to 1"),
        (twice, "expression 0 has a clause with the same word twice"),
        (negative, "expression 0 has a clause without a required word"),
        ({"clause_start": np.array([0, 0, 1])}, "expression 0 has no clause"),
    ]
    for change, problem in bad:
        with pytest.raises(ValueError, match=problem):
            ExpressionColumn(**{**arrays, **change})
    nothing = {"required": np.empty(0, np.int32), "required_start": np.array([0, 0])}
    anything = ExpressionColumn(**{**arrays, **nothing})
    assert SubscriptionBatch(good.ids, anything, region).subscription(0).region is not None
    with pytest.raises(BadRows, match="any keywords everywhere is every message"):
        SubscriptionBatch(good.ids, anything, good.regions)
