"""Ids that are to be unsubscribed and that nobody knows: rejects that several have to agree on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from nearcast.model import Id
from nearcast.pipeline.rows import REJECTS

VOTES = "votes"
"""How many have to find an id unknown before it is: those that it might be with."""

STEP_REJECTS = REJECTS.append(pa.field("position", pa.int64())).append(pa.field(VOTES, pa.int64()))


def unknown_ids(ids: Sequence[Id], position: Any, votes: int) -> pa.Table:
    """One voice for each id."""
    rejected = pa.table(
        {
            "side": ["subscription"] * len(ids),
            "id": [str(id) for id in ids],
            "reason": [f"id {id!r} is not subscribed; there is nothing to remove" for id in ids],
            "row": [json.dumps({"kind": "unsubscribe", "id": id}) for id in ids],
        },
        schema=REJECTS,
    )
    return with_votes(rejected, position, votes)


def with_votes(rejects: pa.Table, position: Any, votes: int) -> pa.Table:
    """Rejects that are certain when so many say the same."""
    table = rejects.append_column("position", pa.array(position))
    return table.append_column(VOTES, pa.array(np.full(len(rejects), votes))).cast(STEP_REJECTS)
