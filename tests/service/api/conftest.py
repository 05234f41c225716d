"""An app in this process, without Spark and without a network, and somebody to ask it."""

import asyncio
from contextlib import contextmanager

import httpx
import pytest

from nearcast.service.api.app import create_app
from nearcast.service.service import Service
from nearcast.service.settings import Settings
from nearcast.service.stores.tokens import ROLES


class Api:
    """Asks an app, as one of the people who have tokens: `ann`, `bob`, `paul`, `root`, `all`."""

    def __init__(self, service, app, runner):
        self.service = service
        self.app = app
        self._runner = runner
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://test"
        )
        people = {
            "ann": ["subscriber"],
            "bob": ["subscriber"],
            "paul": ["publisher"],
            "root": ["admin"],
            "all": ROLES,
        }
        self.secrets = {who: service.tokens.create(who, roles)[1] for who, roles in people.items()}

    def ask(self, who, method, path, **request):
        headers = dict(request.pop("headers", {}))
        if who is not None:
            headers["Authorization"] = f"Bearer {self.secrets[who]}"
        return self._runner.run(self._client.request(method, path, headers=headers, **request))


@contextmanager
def running_api(folder, **settings):
    service = Service(Settings(data=str(folder), **settings))
    app = create_app(service, page=False)
    with asyncio.Runner() as runner:
        lifespan = app.router.lifespan_context(app)
        runner.run(lifespan.__aenter__())
        try:
            yield Api(service, app, runner)
        finally:
            runner.run(lifespan.__aexit__(None, None, None))
            service.stop()


@pytest.fixture
def api(tmp_path):
    with running_api(tmp_path) as api:
        yield api


@pytest.fixture(scope="module")
def shared_api(tmp_path_factory):
    """For questions that change nothing; making an app takes a moment."""
    with running_api(tmp_path_factory.mktemp("data"), requests_per_second=1e6) as api:
        yield api


@pytest.fixture
def api_with(tmp_path):
    """For other settings: `with api_with(most_subscriptions=2) as api`."""
    return lambda **settings: running_api(tmp_path, **settings)


@pytest.fixture
def feature():
    """Makes a subscription's or a message's Feature."""

    def make(id=None, at=(2.0, 48.0), **properties):
        geometry = None if at is None else {"type": "Point", "coordinates": list(at)}
        document = {"type": "Feature", "geometry": geometry, "properties": properties}
        return document if id is None else {"id": id, **document}

    return make
