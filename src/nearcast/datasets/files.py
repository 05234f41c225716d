"""Where the real data sets lie: they are not part of the project."""

import os
from pathlib import Path

VARIABLE = "NEARCAST_DATA"
_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[4] / "shared" / "data"


class DataAbsentError(FileNotFoundError):
    """A real data set is not on this machine; the seeded generators always are."""


def data_file(name: str) -> Path:
    """The path of a data file: in `$NEARCAST_DATA`, else in `../shared/data` beside the project."""
    folder = Path(os.environ[VARIABLE]) if VARIABLE in os.environ else _BESIDE_THE_PROJECT
    path = folder / name
    if not path.is_file():
        raise DataAbsentError(
            f"{path} does not exist; set {VARIABLE} to the folder that holds {name}, "
            "or use the synthetic nearcast.datasets.Tweets"
        )
    return path
