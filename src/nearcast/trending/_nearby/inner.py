"""Kernels that only kernels call."""

from numba import njit

inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""As `njit`, without what Python needs to call it, which takes long to compile."""
