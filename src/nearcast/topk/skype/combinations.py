"""Every dissemination with every re-evaluation."""

from nearcast.topk.skype.index import PiecedTopK
from nearcast.topk.skype.pieces import CIQ, IGPT, IPT, CostBased, Kmax, Skyband


class Skype(IGPT, CostBased, PiecedTopK):
    """Top-k spatial-keyword publish/subscribe over a sliding window: `IGPT` and `CostBased`.

    X. Wang, W. Zhang, Y. Zhang, X. Lin, Z. Huang: "Top-k spatial-keyword publish/subscribe over
    sliding window", VLDB Journal 2017.

    >>> from nearcast.model import Message, Point, Space, TopKSubscription
    >>> from nearcast.topk import CountWindow
    >>> index = Skype(CountWindow(2), max_dist=10.0, space=Space.PLANE)
    >>> here = Point(0, 0, space=Space.PLANE)
    >>> index.subscribe(TopKSubscription("s", "tea", here, k=1, alpha=0.5))
    []
    >>> index.publish(Message(1, text="tea", at=Point(4, 3, space=Space.PLANE)))
    [ListChange(subscription_id='s', results=((1, 0.75),), entered=(1,), left=())]
    >>> index.publish(Message(2, text="tea", at=here))[0].left
    (1,)
    """


class IGPTSkyband(IGPT, Skyband, PiecedTopK):
    """Groups of subscriptions; skybands of a fixed share."""


class IGPTKmax(IGPT, Kmax, PiecedTopK):
    """Groups of subscriptions; the k to kmax best messages."""


class IPTSkype(IPT, CostBased, PiecedTopK):
    """Subscriptions one by one; skybands of the least cost."""


class IPTSkyband(IPT, Skyband, PiecedTopK):
    """Subscriptions one by one; skybands of a fixed share."""


class IPTKmax(IPT, Kmax, PiecedTopK):
    """Subscriptions one by one; the k to kmax best messages."""


class CIQSkype(CIQ, CostBased, PiecedTopK):
    """Lists that are merged by subscription; skybands of the least cost."""


class CIQSkyband(CIQ, Skyband, PiecedTopK):
    """Lists that are merged by subscription; skybands of a fixed share."""


class CIQKmax(CIQ, Kmax, PiecedTopK):
    """Lists that are merged by subscription; the k to kmax best messages."""
