"""What a failure looks like from outside, and in the log."""

import errno
import io
import json
import logging

import pytest

from nearcast.service.logs import JsonLines
from nearcast.storage import BadFile


@pytest.fixture
def log_lines():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("nearcast")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel("DEBUG")
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(before)


def _failing(error):
    def fail(*_, **__):
        raise error

    return fail


def test_an_unknown_failure_shows_nothing_but_an_id(api, monkeypatch, log_lines):
    monkeypatch.setattr(api.service.messages, "get", _failing(RuntimeError("secret path /x")))
    answer = api.ask("ann", "GET", "/v1/messages/m")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    id = answer.headers["x-request-id"]
    assert id in answer.json()["error"]
    [trace] = [line["trace"] for line in log_lines() if "trace" in line]
    assert "secret path /x" in trace
    assert all(line["request_id"] == id for line in log_lines())


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x: /x"),
        TypeError("/x"),
        OverflowError("/x"),
        RecursionError("/x"),
        BadFile("/x"),
    ],
)
def test_a_mistake_of_ours_does_not_look_like_one_of_the_sender(api, feature, monkeypatch, error):
    monkeypatch.setattr(api.service.messages, "publish", _failing(error))
    monkeypatch.setattr(api.service.subscriptions, "put", _failing(error))
    monkeypatch.setattr(api.service.outbox, "last_sequence", _failing(BadFile("/x")))
    answers = [
        api.ask("paul", "POST", "/v1/messages", json=feature("m", text="tea")),
        api.ask("ann", "PUT", "/v1/subscriptions/one", json=feature(at=None, keywords="tea")),
        api.ask("ann", "POST", "/v1/events/ack", json={"id": 0}),
    ]
    for answer in answers:
        assert answer.status_code == 500
        assert "/x" not in answer.text


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_507(api, feature, monkeypatch, code):
    monkeypatch.setattr(api.service.messages, "publish", _failing(OSError(code, "full", "/x")))
    answer = api.ask("paul", "POST", "/v1/messages", json=feature("m", text="tea"))
    assert answer.status_code == 507
    assert "disk is full" in answer.json()["error"]
    assert "/x" not in answer.text


def test_another_failure_of_the_disk_is_a_500(api, feature, monkeypatch):
    monkeypatch.setattr(api.service.messages, "publish", _failing(OSError(errno.EIO, "bad", "/x")))
    answer = api.ask("paul", "POST", "/v1/messages", json=feature("m", text="tea"))
    assert answer.status_code == 500
    assert "/x" not in answer.text


def test_an_address_that_is_not_there(api):
    answer = api.ask("ann", "GET", "/v1/nothing")
    assert answer.status_code == 404
    assert answer.json()["error"] == "GET /v1/nothing: not found; /openapi.json lists what there is"


def test_a_method_that_is_not_there(api):
    answer = api.ask("ann", "PATCH", "/v1/subscriptions/x")
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "DELETE, GET, PUT"


def test_the_log_has_requests_without_secrets(api, log_lines):
    api.ask("ann", "GET", "/v1/subscriptions?limit=7&after=hidden")
    [line] = log_lines()
    [ann] = [token.id for token in api.service.tokens.all() if token.name == "ann"]
    assert line["message"] == "request"
    assert (line["method"], line["path"], line["status"]) == ("GET", "/v1/subscriptions", 200)
    assert line["token_id"] == ann
    assert line["milliseconds"] > 0
    assert {"time", "level", "logger", "request_id"} <= set(line)
    text = json.dumps(line)
    assert "hidden" not in text
    assert api.secrets["ann"] not in text
