import json
import time
from dataclasses import replace

import pytest

from nearcast.service.matching.supervisor import PipelineStatus


def _set_pipeline(api, **status):
    known = PipelineStatus(state="running", starts=1, heard=time.monotonic())
    api.service.pipeline._status = replace(known, **status)


@pytest.fixture
def pipeline(api):
    yield lambda **status: _set_pipeline(api, **status)
    api.service.pipeline._status = PipelineStatus()  # there is none to stop


def test_healthz(api):
    assert api.ask(None, "GET", "/healthz").json() == {"status": "alive"}


def test_ready_only_when_the_pipeline_runs(api, pipeline):
    assert api.ask(None, "GET", "/readyz").status_code == 503
    pipeline()
    assert api.ask(None, "GET", "/readyz").json() == {"status": "ready"}
    pipeline(state="failed", problem="no Java")
    answer = api.ask(None, "GET", "/readyz")
    assert answer.status_code == 503
    assert answer.json()["error"] == "the pipeline is failed: no Java"


def test_not_ready_when_the_pipeline_is_silent(api, pipeline):
    pipeline(heard=time.monotonic() - 60)
    answer = api.ask(None, "GET", "/readyz")
    assert answer.status_code == 503
    assert "silent for 60 s" in answer.json()["error"]


def test_not_ready_when_nothing_can_be_written(api, pipeline, monkeypatch):
    def fail(**_):
        raise OSError(28, "No space left on device")

    pipeline()
    monkeypatch.setattr("tempfile.TemporaryFile", fail)
    answer = api.ask(None, "GET", "/readyz")
    assert answer.status_code == 503
    assert "No space left" in answer.json()["error"]


def test_metrics(api, feature, pipeline):
    api.ask("ann", "PUT", "/v1/subscriptions/one", json=feature(at=None, keywords="tea"))
    lines = [json.dumps(feature(id, text="tea")) for id in ("a", "b", "a")]
    api.ask("paul", "POST", "/v1/messages/bulk", content="\n".join([*lines, "x"]))
    api.ask("paul", "POST", "/v1/messages", content="x")
    pipeline(progress={"milliseconds": 12.5, "hit_rate": 0.5, "offset": 1})
    answer = api.ask(None, "GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    found = dict(
        line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")
    )
    expected = {
        'nearcast_messages_total{result="accepted"}': 2,
        'nearcast_messages_total{result="duplicate"}': 1,
        'nearcast_messages_total{result="rejected"}': 2,
        "nearcast_subscriptions": 1,
        "nearcast_events_total": 0,
        "nearcast_deliveries_total": 0,
        "nearcast_delivery_failures_total": 0,
        "nearcast_dead_letters": 0,
        "nearcast_open_streams": 0,
        "nearcast_oldest_undelivered_webhook_event_seconds": 0,
        'nearcast_pipeline_state{state="running"}': 1,
        'nearcast_pipeline_state{state="failed"}': 0,
        "nearcast_pipeline_starts_total": 1,
        "nearcast_pipeline_lag_rows": 2,  # of a subscription and two messages one is processed
        "nearcast_pipeline_batch_milliseconds": 12.5,
        "nearcast_pipeline_hit_rate": 0.5,
    }
    put = 'nearcast_request_seconds_count{method="PUT",route="/v1/subscriptions/{id}",status="201"}'
    expected[put] = 1
    assert {name: float(found[name]) for name in expected} == expected


def test_the_api_is_documented(api):
    document = api.ask(None, "GET", "/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description"), f"{method} {path}"
