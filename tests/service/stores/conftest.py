import pytest

from nearcast.pipeline.log import Log
from nearcast.service.data_folder import DataFolder


@pytest.fixture
def folder(tmp_path):
    return DataFolder.open(tmp_path / "data")


@pytest.fixture
def log(folder):
    with Log(folder.log) as log:
        yield log
