import pytest

from nearcast.model import Subscription
from nearcast.service.service import Service
from nearcast.service.settings import Settings
from nearcast.service.stores.subscriptions import Entry
from tests.service.outboxes import PretendPipeline


@pytest.fixture
def service(tmp_path):
    service = Service(Settings(data=str(tmp_path / "data")))
    yield service
    service.stop()


def test_a_second_service_over_the_same_folder_is_refused(service):
    with pytest.raises(ValueError, match="is in use by another service; stop that one"):
        Service(service.settings)


def test_the_folder_is_its_owners_alone(service):
    assert service.folder.path.stat().st_mode & 0o777 == 0o700


def test_counts_of_subscriptions_that_are_gone_are_forgotten(service):
    service.subscriptions.put("ann", [Entry(Subscription(id, "tea")) for id in ("kept", "gone")])
    pipeline = PretendPipeline(service)
    pipeline.match("ann", "tea", subscription="kept")
    pipeline.match("ann", "tea", subscription="gone")
    pipeline.close()
    service.subscriptions.remove("ann", ["gone"])
    service._prune()
    assert service.outbox.matched_ids() == {("ann", "kept")}
    assert service.outbox.matched("ann", "gone") == 0


def test_the_lag_is_what_is_accepted_and_not_processed(service):
    assert service.lag() is None
    service.subscriptions.put("ann", [Entry(Subscription("tea", "tea"))])
    service.pipeline._note(progress={"offset": 0})
    assert service.lag() == 1
