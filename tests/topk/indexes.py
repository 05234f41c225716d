"""Every index of the room but the oracle."""

from nearcast.topk import (
    CIQKmax,
    CIQSkyband,
    CIQSkype,
    IGPTKmax,
    IGPTSkyband,
    IPTKmax,
    IPTSkyband,
    IPTSkype,
    Skype,
    WordLists,
)

PIECED = [
    Skype, IGPTSkyband, IGPTKmax, IPTSkype, IPTSkyband, IPTKmax, CIQSkype, CIQSkyband, CIQKmax,
]  # fmt: skip
INDEXES = [WordLists, *PIECED]
