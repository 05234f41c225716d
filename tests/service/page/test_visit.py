"""What a person does at the page is for those who may, and not too often."""

import asyncio

import pytest
from fastapi import HTTPException

from nearcast.service.api.rates import RateLimit
from nearcast.service.delivery.hub import Hub
from nearcast.service.page.visit import Visit
from nearcast.service.service import Service
from nearcast.service.settings import Settings


@pytest.fixture
def service(tmp_path):
    service = Service(Settings(data=str(tmp_path)))
    yield service
    service.stop()


def visit(service, token=None):
    rate = RateLimit("actions", per_second=1, clock=lambda: 0.0)
    return Visit(service, Hub(service), None, "ann", token, rate)


def act(visit):
    return asyncio.run(visit.act(lambda first, second: first + second, 1, second=2))


def test_a_revoked_token_changes_nothing_more(service):
    token, _ = service.tokens.create("ann", ["subscriber"])
    hers = visit(service, token)
    assert act(hers) == 3
    service.tokens.revoke(token.id)
    with pytest.raises(HTTPException, match="401: the token was revoked; sign in with another"):
        act(hers)


def test_nobody_acts_too_often(service):
    visitor = visit(service)
    assert [act(visitor), act(visitor)] == [3, 3]
    with pytest.raises(HTTPException, match="429: more than 1 actions a second; try again in 1 s"):
        act(visitor)
