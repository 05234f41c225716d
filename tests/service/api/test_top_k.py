"""Top-k subscriptions over the API, with the part of the pipeline that keeps their lists."""

import pytest

from nearcast.service.service import Service
from nearcast.service.settings import Settings
from tests.service.outboxes import HostingPipeline

PATH = "/v1/subscriptions/lunch"


@pytest.fixture
def pipeline(api):
    pipeline = HostingPipeline(api.service)
    yield pipeline
    pipeline.close()


def put(api, feature, path=PATH, who="ann", **properties):
    document = feature(kind="top", **{"keywords": "ramen noodles", **properties})
    return api.ask(who, "PUT", path, json=document)


def say(api, feature, id, text, at=(2.0, 48.0)):
    answer = api.ask("paul", "POST", "/v1/messages", json=feature(id, at=at, text=text))
    assert answer.status_code == 201


def events(api, who="ann", after=0):
    return api.ask(who, "GET", f"/v1/events?after={after}").json()["events"]


def results(api, who="ann"):
    found = api.ask(who, "GET", f"{PATH}/results").json()["results"]
    return [(each["id"], round(each["score"], 6)) for each in found]


def test_what_is_put_can_be_got_and_put_again(api, feature):
    assert put(api, feature, k=5, alpha=0.25).status_code == 201
    got = api.ask("ann", "GET", PATH).json()
    about = {name: got["properties"][name] for name in ("kind", "keywords", "k", "alpha")}
    assert about == {"kind": "top", "keywords": "ramen noodles", "k": 5, "alpha": 0.25}
    assert got["geometry"] == {"type": "Point", "coordinates": [2.0, 48.0]}
    assert api.ask("ann", "PUT", PATH, json=got).status_code == 200
    assert put(api, feature, "/v1/subscriptions/short").json()["properties"]["k"] == 20


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        (
            {"kind": "best"},
            "kind 'best' is not one of match, top, moving, trending, nearby; give one",
        ),
        ({"kind": "top", "alpha": 1.5}, "alpha 1.5 is outside [0, 1]"),
        ({"kind": "top", "k": 0}, "k 0 is below 1"),
        ({"kind": "top", "k": "ten"}, "k 'ten' is not a whole number"),
        ({"kind": "top", "k": 101}, "k 101 is more than 100; give a smaller one"),
        ({"kind": "top", "keywords": "!"}, "hold no word; give at least one"),
        ({"kind": "top", "keywords": None}, "hold no word; give at least one"),
        ({"kind": "top", "radius": 5}, "unknown property 'radius'"),
        ({"k": 3}, "k is of kind 'top' or 'trending' or 'nearby'; give that kind"),
    ],
)
def test_what_breaks_a_rule_is_told(shared_api, feature, properties, text):
    document = feature(**{"keywords": "ramen", **properties})
    answer = shared_api.ask("ann", "PUT", PATH, json=document)
    assert answer.status_code == 400
    assert text in answer.json()["error"]


@pytest.mark.parametrize("place", [{"geometry": None}, {"geometry": None, "bbox": [0, 0, 1, 1]}])
def test_it_is_at_a_point(shared_api, place):
    properties = {"kind": "top", "keywords": "ramen"}
    document = {"type": "Feature", **place, "properties": properties}
    answer = shared_api.ask("ann", "PUT", PATH, json=document)
    assert answer.status_code == 400
    assert "Point" in answer.json()["error"]


def test_a_changed_list_is_an_event(api, feature, pipeline):
    say(api, feature, "m1", "noodles")
    put(api, feature, k=2, alpha=0.0)
    say(api, feature, "m2", "jazz")
    say(api, feature, "m3", "ramen noodles")
    say(api, feature, "m4", "ramen")
    pipeline.run()
    first, second, third = events(api)
    assert (first["kind"], first["subscription"], first["cause"]) == ("top", "lunch", None)
    assert first["results"] == [{"message": "m1", "score": pytest.approx(0.5**0.5)}]
    assert (second["cause"], second["entered"], second["left"]) == ("m3", ["m3"], [])
    assert [each["message"] for each in third["results"]] == ["m3", "m4"]
    assert (third["entered"], third["left"]) == (["m4"], ["m1"])
    assert results(api) == [("m3", 1.0), ("m4", 0.707107)]
    assert events(api, after=third["id"]) == []
    assert events(api, "bob") == []


def test_the_list_tells_what_its_messages_said(api, feature, pipeline):
    put(api, feature)
    say(api, feature, "m1", "ramen")
    pipeline.run()
    [only] = api.ask("ann", "GET", f"{PATH}/results").json()["results"]
    assert only["message"]["properties"]["text"] == "ramen"
    assert api.ask("bob", "GET", f"{PATH}/results").status_code == 404


def test_a_boolean_subscription_has_no_list(api, feature, pipeline):
    api.ask("ann", "PUT", PATH, json=feature(at=None, keywords="ramen"))
    answer = api.ask("ann", "GET", f"{PATH}/results")
    assert answer.status_code == 404
    assert "has no result" in answer.json()["error"]


def test_a_list_ends_with_its_subscription(api, feature, pipeline):
    put(api, feature)
    say(api, feature, "m1", "ramen")
    pipeline.run()
    api.ask("ann", "PUT", PATH, json=feature(at=None, keywords="ramen"))
    say(api, feature, "m2", "ramen")
    pipeline.run()
    assert [event["kind"] for event in events(api)] == ["top", "match"]
    put(api, feature)
    pipeline.run()
    lists = [event["entered"] for event in events(api) if event["kind"] == "top"]
    assert lists == [["m1"], ["m2", "m1"]]
    assert api.ask("ann", "DELETE", PATH).status_code == 204
    pipeline.run()
    assert api.service.outbox.result("ann", "lunch", "top") == []
    assert api.service.outbox.rejects(0, 10) == []


def test_explain_tells_the_parts_of_the_score(api, feature, pipeline):
    put(api, feature, alpha=0.5)
    say(api, feature, "m1", "ramen")
    say(api, feature, "m2", "jazz")
    pipeline.run()
    found = api.ask("ann", "GET", f"{PATH}/explain/m1").json()
    assert found["nearness"] == 1.0
    assert found["words"] == [{"word": "ramen", "wanted": pytest.approx(0.5**0.5), "said": 1.0}]
    assert found["score"] == pytest.approx(0.5 + 0.5 * 0.5**0.5)
    assert (found["place"], found["rank"]) == (1, 1)
    assert api.ask("ann", "GET", f"{PATH}/explain/m2").json()["rank"] is None


def test_there_is_nothing_to_estimate(shared_api, feature):
    document = feature(kind="top", keywords="ramen")
    answer = shared_api.ask("ann", "POST", "/v1/estimate", json=document)
    assert answer.status_code == 400
    assert "always has its k best" in answer.json()["error"]


def test_a_restart_keeps_the_list_and_repeats_nothing(api, feature):
    pipeline = HostingPipeline(api.service)
    put(api, feature, k=2)
    say(api, feature, "m1", "ramen")
    pipeline.run()
    told = events(api)
    pipeline.close()
    pipeline = HostingPipeline(api.service, pipeline.batches)  # the last batch comes again
    assert events(api) == told
    say(api, feature, "m2", "ramen noodles")
    pipeline.begin()
    pipeline.close()  # before it did anything
    pipeline = HostingPipeline(api.service, pipeline.batches)
    assert [event["cause"] for event in events(api)] == ["m1", "m2"]
    assert [id for id, _ in results(api)] == ["m2", "m1"]
    pipeline.close()


def test_lists_are_dropped_with_their_events(api, feature, pipeline):
    put(api, feature)
    for number in range(5):
        say(api, feature, f"m{number}", "ramen")
    pipeline.run()
    pipeline._sink._keep_events = 2
    pipeline.run()
    with pipeline._sink._database.reading() as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("events", "changes")
        ]
    assert counts == [2, 2]
    assert len(results(api)) == 5


def test_a_folder_keeps_its_window_and_its_scores(tmp_path):
    Service(Settings(data=str(tmp_path), window="60s")).stop()
    Service(Settings(data=str(tmp_path), window="60.0s")).stop()
    with pytest.raises(ValueError, match=r"window '10000', .* the results in .* have window '60s'"):
        Service(Settings(data=str(tmp_path)))
    with pytest.raises(ValueError, match=r"farthest 10, .*: the results in .* farthest 50000"):
        Service(Settings(data=str(tmp_path), window="60s", farthest=10))
    Service(Settings(data=str(tmp_path), window="60s")).stop()
    with pytest.raises(ValueError, match=r"window 'a day' is neither messages nor seconds"):
        Settings(data=str(tmp_path), window="a day")


def test_a_wrong_clock_does_not_make_everything_old(api, feature):
    answer = api.ask("paul", "POST", "/v1/messages", json=feature("m1", text="ramen", time=1e12))
    assert answer.status_code == 400
    assert "more than 300 s ahead of the clock" in answer.json()["error"]


def test_nearness_ends_at_the_farthest(api_with, feature):
    with api_with(farthest=1000.0) as api:
        pipeline = HostingPipeline(api.service)
        put(api, feature, alpha=0.5)
        say(api, feature, "far", "ramen noodles", at=(2.0, 49.0))
        pipeline.run()
        pipeline.close()
        assert results(api) == [("far", 0.5)]
        found = api.ask("ann", "GET", f"{PATH}/explain/far").json()
        assert (found["nearness"], found["score"]) == (0.0, pytest.approx(0.5))
