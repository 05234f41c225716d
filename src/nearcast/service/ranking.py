"""How the pipeline scores messages for top-k lists."""

from __future__ import annotations

from nearcast.model import Space
from nearcast.service.settings import Settings
from nearcast.topk import Scoring


def scoring_of(settings: Settings) -> Scoring:
    """On the Earth, nearness up to `farthest`, all words weigh the same.

    >>> scoring_of(Settings(data="here")).max_dist
    50000.0
    """
    return Scoring.of(Space.EARTH, settings.farthest, None)
