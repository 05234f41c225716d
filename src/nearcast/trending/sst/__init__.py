"""The classes of the paper for nearness, and their kernels."""

from nearcast.trending.sst.index import FTS, SST, TS, NearbyBaseline

__all__ = ["FTS", "SST", "TS", "NearbyBaseline"]
