"""`Skype`, the index of the paper, and those it is compared with."""

from nearcast.topk.skype.combinations import (
    CIQKmax,
    CIQSkyband,
    CIQSkype,
    IGPTKmax,
    IGPTSkyband,
    IPTKmax,
    IPTSkyband,
    IPTSkype,
    Skype,
)

__all__ = [
    "CIQKmax",
    "CIQSkyband",
    "CIQSkype",
    "IGPTKmax",
    "IGPTSkyband",
    "IPTKmax",
    "IPTSkyband",
    "IPTSkype",
    "Skype",
]
