"""Trending and moving subscriptions over the API, with the part of the pipeline that hosts them."""

import json

import pytest

from tests.service.outboxes import HostingPipeline

HERE, THERE = (2.0, 48.0), (2.1, 48.0)  # 7.4 km apart


@pytest.fixture
def pipeline(api):
    pipeline = HostingPipeline(api.service)
    yield pipeline
    pipeline.close()


def put(api, id, document, who="ann"):
    return api.ask(who, "PUT", f"/v1/subscriptions/{id}", json=document)


def say(api, feature, id, text, at=HERE, **more):
    answer = api.ask("paul", "POST", "/v1/messages", json=feature(id, at=at, text=text, **more))
    assert answer.status_code == 201


def move(api, *positions, who="ann"):
    lines = "\n".join(map(json.dumps, positions))
    return api.ask(who, "POST", "/v1/positions", content=lines).json()


def events(api, who="ann"):
    return api.ask(who, "GET", "/v1/events?after=0").json()["events"]


def results(api, id, who="ann"):
    return api.ask(who, "GET", f"/v1/subscriptions/{id}/results").json()


def entered_and_left(found):
    return sorted((each["kind"], each["subscription"], each["message_id"]) for each in found)


@pytest.mark.parametrize(
    "properties",
    [
        {"kind": "trending", "radius": 500.0, "k": 3},
        {"kind": "nearby", "k": 10},
        {"kind": "moving", "keywords": "Tea OR cake", "radius": 500.0},
    ],
)
def test_what_is_put_can_be_got_and_put_again(api, feature, properties):
    assert put(api, "x", feature(**properties)).status_code == 201
    got = api.ask("ann", "GET", "/v1/subscriptions/x").json()
    assert got["properties"].items() >= properties.items()
    assert got["geometry"] == {"type": "Point", "coordinates": list(HERE)}
    assert put(api, "x", got).status_code == 200


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({"kind": "trending"}, "GeoJSON type 'Point' is not a region"),
        ({"kind": "trending", "radius": 5, "k": 101}, "k 101 is more than 100; give a smaller one"),
        ({"kind": "trending", "radius": 5, "k": 0}, "k 0 is below 1"),
        ({"kind": "trending", "radius": 5, "keywords": "tea"}, "unknown property 'keywords'"),
        ({"kind": "nearby", "radius": 5}, "unknown property 'radius'"),
        ({"kind": "moving", "keywords": "tea OR", "radius": 5}, "a word is missing"),
        ({"kind": "moving", "keywords": "tea", "radius": -5}, "radius -5.0 is negative"),
        ({"kind": "moving", "keywords": "tea", "k": 5}, "unknown property 'k'"),
    ],
)
def test_what_breaks_a_rule_is_told(shared_api, feature, properties, text):
    answer = put(shared_api, "x", feature(**properties))
    assert answer.status_code == 400
    assert text in answer.json()["error"]


def test_terms_of_everywhere_need_a_region(shared_api, feature):
    answer = put(shared_api, "x", feature(at=None, kind="trending"))
    assert "no region whose terms these are" in answer.json()["error"]


def test_a_changed_list_of_terms_is_an_event(api, feature, pipeline):
    put(api, "in", feature(kind="trending", radius=500, k=2))
    put(api, "by", feature(kind="nearby", k=2))
    say(api, feature, "m1", "jazz tonight", time=0.0)
    say(api, feature, "m2", "the jazz", at=THERE, time=1.0)
    pipeline.run()
    found = events(api)
    first = found[0]
    assert (first["kind"], first["subscription"], first["cause"]) == ("trend", "in", "m1")
    assert first["terms"] == [{"term": "jazz", "score": 1.0}, {"term": "tonight", "score": 1.0}]
    assert (first["entered"], first["left"], first["moved"]) == (["jazz", "tonight"], [], [])
    assert [each["subscription"] for each in found] == ["in", "by"]
    assert [each["term"] for each in results(api, "by")["terms"]] == ["jazz", "tonight"]
    assert api.ask("bob", "GET", "/v1/subscriptions/in/results").status_code == 404


def test_scores_are_current_though_nothing_is_told(api, feature, pipeline):
    put(api, "in", feature(kind="trending", radius=500, k=1))
    for number in range(3):
        say(api, feature, f"m{number}", "jazz", time=0.0)
        pipeline.run()
        [term] = results(api, "in")["terms"]
        assert term == {"term": "jazz", "score": pytest.approx(number + 1)}
    assert [each["kind"] for each in events(api)] == ["trend"]


def test_no_message_matches_a_list_of_terms(api, feature):
    put(api, "in", feature(kind="trending", radius=500))
    say(api, feature, "m1", "jazz")
    answer = api.ask("ann", "GET", "/v1/subscriptions/in/explain/m1")
    assert (answer.status_code, "list of terms" in answer.json()["error"]) == (400, True)
    answer = api.ask("ann", "POST", "/v1/estimate", json=feature(kind="nearby"))
    assert "is of kind 'nearby'" in answer.json()["error"]


def test_messages_enter_and_leave_who_moves(api, feature, pipeline):
    put(api, "walk", feature(kind="moving", keywords="tea", radius=500))
    say(api, feature, "m1", "Tea!")
    say(api, feature, "m2", "tea", at=THERE)
    pipeline.run()
    [first] = events(api)
    assert (first["kind"], first["cause"], first["message_id"]) == ("enter", "m1", "m1")
    assert first["message"]["properties"]["text"] == "Tea!"
    there = feature("walk", at=THERE, radius=500, time=5.0)
    assert move(api, there) == {"moved": 1, "rejected_count": 0, "rejected": []}
    pipeline.run()
    _, *found = events(api)
    assert entered_and_left(found) == [("enter", "walk", "m2"), ("leave", "walk", "m1")]
    assert [each["id"] for each in results(api, "walk")["results"]] == ["m2"]
    got = api.ask("ann", "GET", "/v1/subscriptions/walk").json()
    assert (got["geometry"]["coordinates"], got["properties"]["moved"]) == (list(THERE), 5.0)
    assert events(api, "bob") == []


def test_a_message_leaves_when_it_expires(api, feature, pipeline):
    put(api, "walk", feature(kind="moving", keywords="tea", radius=500))
    say(api, feature, "m1", "tea", time=0.0, expires=60.0)
    pipeline.run()
    assert pipeline.next_expiry == 60.0
    status = api.service.pipeline
    status._note(progress={"next_expiry": 60.0})
    for _ in range(2):  # the pipeline is told once
        api.service._let_time_pass(61.0)
    assert api.service.log.end == 3
    pipeline.run()
    assert [each["kind"] for each in events(api)] == ["enter", "leave"]


def test_bad_positions_change_nothing_and_good_ones_count(api, feature, pipeline):
    put(api, "walk", feature(kind="moving", keywords="tea", radius=500))
    put(api, "still", feature(keywords="tea", radius=500))
    put(api, "by", feature(kind="nearby"))
    put(api, "bobs", feature(kind="nearby"), who="bob")
    answer = move(
        api,
        feature("walk", at=THERE, radius=400, time=7.0),
        feature("walk", at=HERE, radius=400, time=6.0),
        feature("walk", at=THERE),
        feature("still", at=THERE, radius=500),
        feature("by", at=THERE, radius=500),
        feature("bobs", at=THERE),
        feature("by", at=(200, 0)),
        feature("by", at=THERE, speed=5),
        feature("by", at=THERE, time="now"),
        {"type": "Feature", "id": "walk", "geometry": None, "properties": {}},
        feature("by", at=THERE),
    )
    assert (answer["moved"], answer["rejected_count"]) == (2, 9)
    reasons = {each["line"]: each["reason"] for each in answer["rejected"]}
    for line, text in {
        2: "a position of time 6.0 comes after one of 7.0; send positions in order",
        3: "subscription 'walk' has a region; give a radius",
        4: "subscription 'still' stands still; put it with kind 'moving'",
        5: "subscription 'by' is at a Point",
        6: "you have no subscription 'bobs'",
        7: "longitude 200.0 is outside [-180, 180]",
        8: "unknown property 'speed'",
        9: "time 'now' is not a number of seconds",
        10: "no place; give a Point, a Polygon or a bbox",
    }.items():
        assert text in reasons[line]
    got = api.ask("ann", "GET", "/v1/subscriptions/walk").json()
    assert (got["geometry"]["coordinates"], got["properties"]["radius"]) == (list(THERE), 400.0)
    pipeline.run()
    assert api.service.outbox.rejects(0, 10) == []


def test_another_kind_begins_without_a_result(api, feature, pipeline):
    put(api, "x", feature(kind="top", keywords="tea"))
    say(api, feature, "m1", "tea")
    pipeline.run()
    put(api, "x", feature(kind="moving", keywords="tea", radius=500))
    assert results(api, "x") == {"results": []}  # the pipeline has yet to hear of it
    pipeline.run()
    assert [each["id"] for each in results(api, "x")["results"]] == ["m1"]
    put(api, "x", feature(kind="trending", radius=500))
    assert results(api, "x") == {"terms": []}


def test_each_position_of_a_bulk_counts(api, feature, pipeline):
    put(api, "walk", feature(kind="moving", keywords="tea", radius=500))
    say(api, feature, "m1", "tea", at=THERE)
    move(api, feature("walk", at=THERE, radius=500), feature("walk", at=HERE, radius=500))
    pipeline.run()
    assert [each["kind"] for each in events(api)] == ["enter", "leave"]


def test_too_many_positions_wait(api_with, feature):
    with api_with(messages_per_second=1.0) as api:
        put(api, "by", feature(kind="nearby"))
        move(api, *[feature("by", at=THERE)] * 5)
        answer = api.ask("ann", "POST", "/v1/positions", content="{}")
        assert (answer.status_code, "positions a second" in answer.text) == (429, True)


def test_a_restart_keeps_results_and_repeats_nothing(api, feature):
    pipeline = HostingPipeline(api.service)
    put(api, "walk", feature(kind="moving", keywords="tea", radius=500))
    put(api, "in", feature(kind="trending", radius=500))
    say(api, feature, "m1", "tea")
    pipeline.run()
    told = events(api)
    pipeline.close()
    pipeline = HostingPipeline(api.service, pipeline.batches)  # the last batch comes again
    assert events(api) == told
    move(api, feature("walk", at=THERE, radius=500))
    say(api, feature, "m2", "tea", at=THERE)
    pipeline.begin()
    pipeline.close()  # before it did anything
    pipeline = HostingPipeline(api.service, pipeline.batches)
    kinds = [(each["kind"], each.get("message_id")) for each in events(api)[len(told) :]]
    assert kinds == [("leave", "m1"), ("enter", "m2")]
    assert [each["id"] for each in results(api, "walk")["results"]] == ["m2"]
    pipeline.close()


def test_what_a_crash_kept_from_the_log_is_logged_again(api, feature, monkeypatch):
    put(api, "walk", feature(kind="moving", keywords="tea", radius=500))
    store, end = api.service.subscriptions, api.service.log.end
    monkeypatch.setattr(store, "_log_marked", lambda: None)
    move(api, feature("walk", at=THERE, radius=500, safe=True))
    monkeypatch.undo()
    store.log_again()
    [row] = api.service.log.read(end, api.service.log.end).to_pylist()
    assert (row["kind"], json.loads(row["region"])["properties"]) == (
        "move",
        {"safe": True, "radius": 500.0},
    )
