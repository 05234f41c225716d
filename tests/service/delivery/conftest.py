import pytest

from nearcast.service.service import Service
from nearcast.service.settings import Settings
from tests.service.delivery.web import Receiver, Web, impatient
from tests.service.outboxes import PretendPipeline


@pytest.fixture
def service(tmp_path):
    service = Service(Settings(data=str(tmp_path / "data")))
    yield service
    service.stop()


@pytest.fixture
def pipeline(service):
    pipeline = PretendPipeline(service)
    yield pipeline
    pipeline.close()


@pytest.fixture
def web(tmp_path):
    with Web(tmp_path / "data") as web:
        yield web


@pytest.fixture
def hasty(tmp_path):
    """A service that does not pause between attempts; `hasty.pauses` has what it would."""
    pace, pauses = impatient()
    with Web(tmp_path / "data", pace=pace, webhook_attempts=3) as web:
        web.pauses = pauses
        yield web


@pytest.fixture
def make_receiver():
    receivers = []

    def make(*answers):
        receivers.append(Receiver(*answers))
        return receivers[-1]

    yield make
    for receiver in receivers:
        receiver.close()
