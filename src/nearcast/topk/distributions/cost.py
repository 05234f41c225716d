"""What messages cost a shard and the router: the model that plans balance and `choose` compares.

Measured with `WordLists` on synthetic tweets. They price one plan against another; a machine twice
as fast changes all of them alike.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# A copy of a message is packed and sent by the router, and comes into the window of a shard and
# leaves it again, however few subscriptions the shard has ...
SEND_SECONDS = 5e-6
COPY_SECONDS = 30e-6
# ... which takes longer for each one that it has.
PAIR_SECONDS = 1.6e-10

Number = TypeVar("Number", float, NDArray[np.float64])


def shard_seconds(share: Number, subscriptions: Number) -> Number:
    """What a message of the stream costs a shard that gets a share of them, on average.

    N(W) x p(W) of DSkype (Equations 15 and 16), and what a message costs by itself.

    >>> round(shard_seconds(0.5, 1e6) * 1e6)
    95
    """
    return share * (COPY_SECONDS + PAIR_SECONDS * subscriptions)
