"""schemathesis makes up requests from the documentation, good ones and bad ones."""

import math

import pytest
import requests
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from nearcast.service.api.app import ROUTERS
from nearcast.service.matching.supervisor import PipelineStatus

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def _documentation():
    app = FastAPI()
    for router in ROUTERS:
        app.include_router(router)
    return app.openapi()


@schemathesis.serializer("application/x-ndjson")
def _lines(context, value):
    return value.encode(errors="surrogatepass") if isinstance(value, str) else repr(value).encode()


# A stream does not end.
schema = schemathesis.openapi.from_dict(_documentation()).exclude(path="/v1/events/stream")


@pytest.fixture(scope="module")
def ready_api(shared_api):
    pipeline = shared_api.service.pipeline
    pipeline._status = PipelineStatus(state="running", heard=math.inf)
    yield shared_api
    pipeline._status = PipelineStatus()


@schema.parametrize()
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_api(case, ready_api):
    wanted = requests.Request(**case.as_transport_kwargs(base_url="http://test")).prepare()
    headers = {
        name: value for name, value in wanted.headers.items() if name.lower() != "authorization"
    }
    answer = ready_api.ask("all", wanted.method, wanted.url, headers=headers, content=wanted.body)
    case.validate_response(answer, checks=CHECKS)
