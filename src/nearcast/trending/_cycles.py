"""How long does a part of a kernel take?  In cycles of the processor's clock, if somebody asks.

The last three of an index's `counts`: IS_ASKED, 0 or 1; cycles of documents that came or were
forgotten, as a WHOLE; those among them that changed lists, UPDATING, the rest of which found out
whose lists these are.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from nearcast.inner import melting

IS_ASKED, WHOLE, UPDATING = -3, -2, -1


@intrinsic
def _cycles(typing_context: Any) -> Any:
    """_cycles(): what the clock of the processor shows."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.module.declare_intrinsic(
            "llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), ())
        )
        return builder.call(function, ())

    return types.int64(), generate


@melting
def begins(counts):
    """When a part begins; 0 where nobody asks how long it takes."""
    return _cycles() if counts[IS_ASKED] != 0 else np.int64(0)


@melting
def ends(counts, part, begin):
    """A part has ended that began then."""
    if begin != 0:
        counts[part] += _cycles() - begin
