import json

import pytest

from nearcast.service.api import bodies, message_routes


def test_a_message_is_published_once_by_its_id(api, feature):
    first = api.ask("paul", "POST", "/v1/messages", json=feature("m", text="Hot tea"))
    again = api.ask("paul", "POST", "/v1/messages", json=feature("m", text="hot tea!"))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == {"id": "m", "offset": 0, "duplicate": False}
    assert again.json() == {"id": "m", "offset": 0, "duplicate": True}
    assert api.service.log.end == 1
    assert api.ask("ann", "GET", "/v1/messages/m").json()["properties"]["text"] == "Hot tea"


@pytest.mark.parametrize("other", [{"text": "Other words"}, {"text": "Hot tea", "at": (2.0, 48.1)}])
def test_the_id_of_another_message_is_taken(api, feature, other):
    api.ask("paul", "POST", "/v1/messages", json=feature("m", text="Hot tea"))
    answer = api.ask("all", "POST", "/v1/messages", json=feature("m", **other))
    assert answer.status_code == 409
    assert answer.json()["error"] == "id 'm' is taken by another message; give another id"
    lines = [feature("n", text="tea"), feature("m", **other), feature("m", keywords=["hot", "tea"])]
    bulk = api.ask(
        "paul", "POST", "/v1/messages/bulk", content="\n".join(["x", *map(json.dumps, lines)])
    ).json()
    assert (bulk["accepted"], bulk["duplicates"], bulk["rejected_count"]) == (1, 1, 2)
    assert [each["line"] for each in bulk["rejected"]] == [1, 3]
    assert "'m' is taken" in bulk["rejected"][1]["reason"]
    assert api.service.log.end == 2


def test_a_message_of_keywords_is_known_again_after_a_crash(api_with, feature, monkeypatch):
    message = feature("m", keywords=["Tea cake", "milk", "milk"])

    def crash(*_):
        raise OSError("crash")

    with api_with() as api, monkeypatch.context() as patch:
        patch.setattr(api.service.messages, "_insert", crash)
        assert api.ask("paul", "POST", "/v1/messages", json=message).status_code == 500
        patch.undo()
        assert api.ask("paul", "POST", "/v1/messages", json=message).json()["duplicate"]


def test_an_unknown_message_is_a_404(api):
    assert api.ask("ann", "GET", "/v1/messages/none").status_code == 404


def test_bulk_takes_the_good_lines_and_tells_of_the_others(api, feature):
    lines = [
        json.dumps(feature("a", text="tea")),
        "{",
        "",
        json.dumps(feature("b", text="cake")),
        json.dumps(feature("c", at=(200, 0), text="far")),
        json.dumps(feature("a", text="tea")),
        '{"type": "Feature", "id": "d", "properties": {"text": "\\udc00"}}',
    ]
    answer = api.ask("paul", "POST", "/v1/messages/bulk", content="\n".join(lines)).json()
    assert (answer["accepted"], answer["duplicates"], answer["rejected_count"]) == (2, 1, 3)
    assert [each["line"] for each in answer["rejected"]] == [2, 5, 7]
    assert "200" in answer["rejected"][1]["reason"]
    assert api.service.log.end == 2


def test_bulk_lists_only_the_first_reasons(api, monkeypatch):
    monkeypatch.setattr(message_routes, "MOST_REASONS", 2)
    answer = api.ask("paul", "POST", "/v1/messages/bulk", content="x\n" * 5).json()
    assert answer["rejected_count"] == 5
    assert [each["line"] for each in answer["rejected"]] == [1, 2]


def test_bulk_has_a_most_of_lines(api, monkeypatch):
    monkeypatch.setattr(bodies, "MOST_LINES", 4)
    answer = api.ask("paul", "POST", "/v1/messages/bulk", content="x\n" * 5)
    assert answer.status_code == 413
    assert "4 lines" in answer.json()["error"]


def test_recent_messages_come_in_pages_newest_first(api, feature):
    lines = [json.dumps(feature(f"m{i}", text="tea")) for i in range(5)]
    api.ask("paul", "POST", "/v1/messages/bulk", content="\n".join(lines))
    seen, query = [], ""
    while True:
        page = api.ask("ann", "GET", f"/v1/messages?limit=2{query}").json()
        seen += [each["id"] for each in page["features"]]
        if page["next"] is None:
            break
        query = f"&before={page['next']}"
    assert seen == ["m4", "m3", "m2", "m1", "m0"]


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"null",
        b'{"type": "Feature", "id": 7}',
        b'{"type": "Feature", "id": "a/b", "properties": {"text": "x"}}',
        b'{"type": "Feature", "id": "a", "properties": {"text": "x"}}',
        b'{"type": "Feature", "id": "a", "properties": {"text": "x"}, "bbox": [1, 2, "3", 4]}',
        b'{"type": "Feature", "id": "a", "properties": {"text": ["x"]}, "bbox": [1, 2, 3, 4]}',
        b'{"type": "Feature", "id": "a", "properties": {"text": "x", "time": true},'
        b' "bbox": [1, 2, 3, 4]}',
        b'{"type": "Feature", "id": "a", "properties": {"text": "x", "time": 1' + b"0" * 400 + b"},"
        b' "bbox": [1, 2, 3, 4]}',
    ],
)
def test_a_bad_message_is_a_400_and_not_published(shared_api, body):
    answer = shared_api.ask("paul", "POST", "/v1/messages", content=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]
    assert shared_api.service.log.end == 0
