"""Kernels that only kernels call."""

from numba import njit

inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""As `njit`, without what Python needs to call it: with many arrays that takes longer to compile
than the kernel itself. Python must not call it."""

leaf = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
"""As `inner`, and without counting who holds arrays, whose atomic increments would cost more than
what a short kernel does. It must not make an array, nor return one."""

melting = njit(
    cache=True,
    nogil=True,
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    _nrt=False,
    forceinline=True,
)
"""As `leaf`, and melted into the kernel that calls it: to hand over tuples of arrays takes longer
than the few lines that it has."""
