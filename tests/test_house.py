"""What holds for the repository as a whole."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nearcast

ROOT = Path(__file__).parent.parent
LOCK_FILES = ["requirements.lock", "requirements-java.lock"]


@pytest.mark.parametrize("name", LOCK_FILES)
def test_a_lock_file_holds_names_versions_and_hashes_alone(name):
    pinned = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*==[0-9][0-9a-z.]*")
    hashed = re.compile(r"--hash=sha256:[0-9a-f]{64}")
    requirements = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    assert requirements
    for requirement in requirements:
        first, *others = requirement.split()
        assert pinned.fullmatch(first), requirement
        assert others, f"{first} has no hash"
        for other in others:
            assert hashed.fullmatch(other), requirement


def test_every_room_imports_only_rooms_below_it():
    lint_imports = Path(sys.executable).with_name("lint-imports")
    if not lint_imports.exists():
        pytest.skip("import-linter is not installed beside this Python; run `make setup`")
    answer = subprocess.run(
        [lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_importing_nearcast_loads_neither_spark_nor_pandas_nor_a_web_stack():
    heavy = {"pyspark", "pandas", "numba", "pyarrow", "matplotlib", "shapely"}
    web = {"aiohttp", "fastapi", "flask", "starlette", "tornado", "uvicorn", "websockets"}
    code = "import sys, nearcast; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(answer.stdout.split())
    assert "nearcast" in loaded
    assert loaded & (heavy | web) == set()


@pytest.mark.parametrize("name", nearcast.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(nearcast, name) is not None
    assert name in dir(nearcast)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Brokr'"):
        nearcast.Brokr  # noqa: B018
