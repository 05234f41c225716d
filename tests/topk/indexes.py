"""Every index of the room but the oracle, and settings with which a few subscriptions are many."""

from nearcast.topk import (
    CIQKmax,
    CIQSkyband,
    CIQSkype,
    IGPTKmax,
    IGPTSkyband,
    IPTKmax,
    IPTSkyband,
    IPTSkype,
    ParallelLists,
    Skype,
    WordLists,
)

_IGPT = {"leaf_capacity": 2, "groups": 3}
_IPT = {"leaf_capacity": 2}
_CIQ = {"levels": 2}

SMALL = {
    WordLists: {},
    Skype: _IGPT,
    IGPTSkyband: _IGPT | {"threshold_share": 0.9},
    IGPTKmax: _IGPT | {"buffer_factor": 1.5},
    IPTSkype: _IPT,
    IPTSkyband: _IPT | {"threshold_share": 1.0},
    IPTKmax: _IPT | {"buffer_factor": 2.0},
    CIQSkype: _CIQ,
    CIQSkyband: _CIQ,
    CIQKmax: _CIQ,
    ParallelLists: {"parts": 3},
}
INDEXES = [*SMALL]
PIECED = INDEXES[1:-1]
