import json
import time

import pytest

SQUARE = [[[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]]


@pytest.mark.parametrize(
    ("place", "properties"),
    [
        ({"geometry": {"type": "Polygon", "coordinates": SQUARE}}, {"keywords": "tea"}),
        ({"geometry": {"type": "Point", "coordinates": [2.0, 3.0]}}, {"radius": 50.0}),
        ({"geometry": None, "bbox": [170.0, -10.0, -170.0, 10.0]}, {"keywords": "whale"}),
        ({"geometry": None}, {"keywords": "(cake AND tea) OR milk"}),
    ],
)
def test_what_is_put_can_be_got(api, place, properties):
    document = {"type": "Feature", **place, "properties": properties}
    put = api.ask("ann", "PUT", "/v1/subscriptions/one", json=document)
    got = api.ask("ann", "GET", "/v1/subscriptions/one")
    assert (put.status_code, got.status_code) == (201, 200)
    found = got.json()
    assert found["id"] == "one"
    assert {name: found["properties"][name] for name in properties} == properties
    assert {name: found.get(name) for name in place} == place
    assert found["properties"]["expires"] is None
    assert found["properties"]["delivery"] == {
        "matched": 0,
        "delivered": 0,
        "failed": 0,
        "oldest_undelivered": None,
    }


def test_what_is_got_can_be_put_again(api, feature):
    typed = " AND ".join(f"(a{i} OR b{i})" for i in range(8))
    document = feature(keywords=typed, radius=50, lifetime=1000)
    api.ask("ann", "PUT", "/v1/subscriptions/one", json=document)
    got = api.ask("ann", "GET", "/v1/subscriptions/one").json()
    assert got["properties"]["keywords"] == typed
    assert api.ask("ann", "PUT", "/v1/subscriptions/one", json=got).status_code == 200
    assert api.ask("ann", "GET", "/v1/subscriptions/one").json() == got


@pytest.mark.parametrize("expires", [1, "soon", True, 1e300])
def test_the_end_is_yet_to_come(shared_api, feature, expires):
    document = feature(at=None, keywords="tea", expires=expires)
    answer = shared_api.ask("ann", "PUT", "/v1/subscriptions/one", json=document)
    assert answer.status_code == 400
    assert "expires" in answer.json()["error"]


def test_a_second_put_replaces(api, feature):
    first = api.ask("ann", "PUT", "/v1/subscriptions/one", json=feature(at=None, keywords="tea"))
    again = api.ask("ann", "PUT", "/v1/subscriptions/one", json=feature(at=None, keywords="cake"))
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["properties"]["keywords"] == "cake"
    assert again.json()["properties"]["created"] == first.json()["properties"]["created"]


def test_a_lifetime_ends_it(api, feature):
    before = time.time()
    document = feature(at=None, keywords="tea", lifetime=60)
    answer = api.ask("ann", "PUT", "/v1/subscriptions/short", json=document)
    expires = answer.json()["properties"]["expires"]
    assert before + 60 <= expires <= time.time() + 60
    api.service.subscriptions.expire(expires + 1)
    assert api.ask("ann", "GET", "/v1/subscriptions/short").status_code == 404


@pytest.mark.parametrize("lifetime", [0, -1, "long", True, 1e300, [1]])
def test_a_lifetime_is_a_number_of_seconds(shared_api, feature, lifetime):
    document = feature(at=None, keywords="tea", lifetime=lifetime)
    answer = shared_api.ask("ann", "PUT", "/v1/subscriptions/short", json=document)
    assert answer.status_code == 400
    assert "lifetime" in answer.json()["error"]


def test_delete(api, feature):
    api.ask("ann", "PUT", "/v1/subscriptions/one", json=feature(at=None, keywords="tea"))
    assert api.ask("ann", "DELETE", "/v1/subscriptions/one").status_code == 204
    assert api.ask("ann", "DELETE", "/v1/subscriptions/one").status_code == 404
    assert api.ask("ann", "GET", "/v1/subscriptions/one").status_code == 404


def test_pages_in_the_order_of_ids(api, feature):
    lines = [json.dumps(feature(f"s{i}", at=None, keywords="tea")) for i in range(5)]
    counts = api.ask("ann", "POST", "/v1/subscriptions", content="\n".join(lines))
    assert counts.json() == {"created": 5, "replaced": 0}
    seen, after = [], ""
    while after is not None:
        page = api.ask("ann", "GET", f"/v1/subscriptions?limit=2&after={after}").json()
        assert page["type"] == "FeatureCollection"
        seen += [each["id"] for each in page["features"]]
        after = page["next"]
    assert seen == ["s0", "s1", "s2", "s3", "s4"]


def test_bulk_is_all_or_none(api, feature):
    good, bad = feature("good", at=None, keywords="tea"), feature("bad", at=None, keywords="tea OR")
    answer = api.ask(
        "ann", "POST", "/v1/subscriptions", content=f"{json.dumps(good)}\n\n{json.dumps(bad)}"
    )
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("line 3: ")
    assert api.service.subscriptions.count() == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "send an object"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"type": "Feature", "properties": {"keywords": "\\ud800"}}', "surrogate"),
        (b'{"type": "Feature", "properties": {"keywords": NaN}}', "NaN"),
        (b'{"type": "Point"}', "Feature"),
        (b'{"type": "Feature", "id": "other", "properties": {"keywords": "tea"}}', "'other'"),
        (b'{"type": "Feature", "properties": {"keywords": "tea OR"}}', "one"),
        (b'{"type": "Feature", "properties": {"colour": "red"}}', "colour"),
        (b'{"type": "Feature", "properties": {"keywords": {"a": 1}}}', "keywords"),
        (
            b'{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1e999, 2]},'
            b' "properties": {"radius": 5}}',
            "lon",
        ),
        (
            b'{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1'
            + b"0" * 400
            + b', 2]}, "properties": {"radius": 5}}',
            "",
        ),
        (
            b'{"type": "Feature", "properties": {}, "geometry": '
            + b'{"a":' * 900
            + b"1"
            + b"}" * 901,
            "",
        ),
    ],
)
def test_a_bad_body_is_a_400_that_says_why(shared_api, body, reason):
    answer = shared_api.ask("ann", "PUT", "/v1/subscriptions/one", content=body)
    assert answer.status_code == 400, answer.text
    assert reason in answer.json()["error"]


@pytest.mark.parametrize("id", ["x" * 201, "a%00b", "a%0Ab"])
def test_an_id_fits_into_an_address_and_a_log(shared_api, feature, id):
    answer = shared_api.ask(
        "ann", "PUT", f"/v1/subscriptions/{id}", json=feature(at=None, keywords="tea")
    )
    assert answer.status_code == 400
    assert "id" in answer.json()["error"]


def test_explain(api, feature):
    api.ask("ann", "PUT", "/v1/subscriptions/one", json=feature(keywords="tea cake", radius=100))
    api.ask("paul", "POST", "/v1/messages", json=feature("m", text="Tea"))
    found = api.ask("ann", "GET", "/v1/subscriptions/one/explain/m").json()
    assert (found["matches"], found["words_match"], found["in_region"]) == (False, False, True)
    assert found["clauses"][0]["missing"] == ["cake"]
    assert found["text"].startswith("no match: needs 'cake'")
    assert api.ask("ann", "GET", "/v1/subscriptions/one/explain/x").status_code == 404
    assert api.ask("bob", "GET", "/v1/subscriptions/one/explain/m").status_code == 404


def test_estimate(api, feature):
    lines = [
        json.dumps(feature(f"m{i}", text="tea" if i % 4 else "cake", time=i)) for i in range(101)
    ]
    api.ask("paul", "POST", "/v1/messages/bulk", content="\n".join(lines))
    found = api.ask("ann", "POST", "/v1/estimate", json=feature(at=None, keywords="cake")).json()
    assert (found["matches"], found["messages"], found["seconds"]) == (26, 101, pytest.approx(100))
    assert found["per_day"] == pytest.approx(26 * 864)
    assert found["examples"][:2] == ["m100", "m96"]
    refused = api.ask("ann", "POST", "/v1/estimate", json=feature(at=None, keywords="cake OR"))
    assert refused.status_code == 400
