"""Finding the class of a partitioning that was saved."""

from __future__ import annotations

import os

from nearcast import storage
from nearcast.pipeline.partitioning.hash import Hash
from nearcast.pipeline.partitioning.keyword import Keyword
from nearcast.pipeline.partitioning.location import Location
from nearcast.pipeline.partitioning.partitioning import Partitioning

_CLASSES: dict[str, type[Partitioning]] = {
    kind.__name__: kind for kind in (Hash, Location, Keyword)
}


def load_partitioning(path: str | os.PathLike[str]) -> Partitioning:
    """The partitioning that `save` wrote, whatever its class.  O(size).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Hash(7).save(folder + "/p.near")
    ...     load_partitioning(folder + "/p.near")
    Hash(shards=7)
    """
    kind = storage.read_kind(path)
    if kind not in _CLASSES:
        raise storage.BadFile(
            f"{os.fspath(path)} holds a {kind}, which is no partitioning; give a file that one of "
            f"{', '.join(_CLASSES)} saved"
        )
    return _CLASSES[kind].load(path)
