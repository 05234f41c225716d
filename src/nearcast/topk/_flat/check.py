"""Does the window agree with itself?  For tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearcast.topk._flat.window import LIVE, NEXT, OLDEST, Messages, Rings, mark


def check_messages(messages: Messages, rings: Rings) -> list[int]:
    """Assert what `window` promises: the arrivals that live."""
    oldest, following = int(messages.ends[OLDEST]), int(messages.ends[NEXT])
    held: dict[int, list[int]] = {}
    live = []
    for seq in range(oldest, following):
        m = seq & (len(messages.live) - 1)
        if messages.live[m]:
            live.append(seq)
        for word in np.unique(words_of(messages, m)):
            held.setdefault(int(word), []).append(seq)
            assert messages.marks[m] & mark(word)
    assert len(live) == int(messages.ends[LIVE])
    for word, (start, head, count, room, heaviest) in enumerate(rings.rings.tolist()):
        at = start + (head + np.arange(count)) % max(1, room)
        assert rings.seq[at].tolist() == held.get(word, []), word
        assert rings.weight[at].max(initial=0) <= heaviest
    return live


def words_of(messages: Messages, m: int) -> NDArray[np.int32]:
    """The words of the message at m, as it says them."""
    at = int(messages.first[m]) + np.arange(int(messages.words[m]))
    return messages.word[at % len(messages.word)]
