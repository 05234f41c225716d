"""What a shard costs: the model that plans minimise and `choose` compares.

The constants were measured with the AP-Tree of this repository on its synthetic tweets. They price
plans against each other; a machine twice as fast changes all of them alike. `RarestWordTree`, the
default, takes 1.1 µs a message and 0.8 more for a million, up to 20 million subscriptions. With
its numbers 16 shards of the synthetic tweets would keep 1.3 replicas instead of 1.5 and hear 1.6
copies of a message instead of one: what is saved in replicas would be paid in communication.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# A copy of a subscription is routed and shuffled to its shard, and put into its index.
SUBSCRIPTION_SECONDS = 3e-6 + 6e-6
# A copy of a message is routed, shuffled, and matched, however few subscriptions the shard has ...
MESSAGE_SECONDS = 1e-6 + 4e-6
# ... which takes longer for each one that it has: 5.6 µs more for a million.
PAIR_SECONDS = 5.6e-12

# Planned for when nobody says how much will come: enough that matching, the product of the two, is
# what costs, as the papers assume.
MANY = 10_000_000

Number = TypeVar("Number", float, NDArray[np.float64])


def shard_seconds(subscriptions: Number, messages: Number) -> Number:
    """How long a shard takes for so many subscriptions and messages: all in all, on one core.

    N(W) × p(W) of DSkype (equations 15 and 16), plus what a row costs by itself. It rises with both
    arguments, which may be arrays.

    >>> round(shard_seconds(1e6, 1e6), 1)
    19.6
    """
    by_themselves = SUBSCRIPTION_SECONDS * subscriptions + MESSAGE_SECONDS * messages
    return by_themselves + PAIR_SECONDS * subscriptions * messages
