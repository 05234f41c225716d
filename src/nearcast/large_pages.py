"""Large arrays of kernels in large pages, as NumPy has its own.

Who reads here and there in hundreds of megabytes looks up addresses for a part of the time, a sixth
in `WordLists`, unless a page is megabytes long. NumPy asks the system for such pages, numba does
not.
"""

import mmap
import sys
from typing import Any

from numba import types

from nearcast.inner import inner

_PAGE = mmap.PAGESIZE
_LARGE = 1 << 22  # bytes from which on it is worth a system call

if sys.platform == "linux":
    _madvise = types.ExternalFunction("madvise", types.int32(types.uintp, types.uintp, types.int32))
    _ADVICE = mmap.MADV_HUGEPAGE

    @inner
    def in_large_pages(array: Any) -> Any:
        """The array that was given, which nobody has written to yet."""
        if array.nbytes >= _LARGE:
            begin = (array.ctypes.data + _PAGE - 1) // _PAGE * _PAGE
            _madvise(begin, array.ctypes.data + array.nbytes - begin, _ADVICE)
        return array

else:

    @inner
    def in_large_pages(array: Any) -> Any:
        """The array that was given: other systems see to it themselves, or not at all."""
        return array
