import pytest

from tests.demo.fake_service import FakeService


@pytest.fixture
def service():
    made = FakeService()
    yield made
    made.close()
