"""Asking for memory before it is needed, which NumPy and Numba have no word for.

A walk over millions of records waits for memory most of its time, unless the next lines are on
their way while the present ones are looked at.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_READ, _KEEP, _DATA = 0, 3, 1


@intrinsic
def prefetch_row(typing_context: Any, array: Any, row: Any) -> Any:
    """prefetch_row(array, row): have the cache line where array[row] begins brought near.

    Never faults, whatever the row; changes nothing but time.
    """
    signature = types.void(array, row)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        value = context.make_array(array_type)(context, builder, arguments[0])
        data = builder.ptrtoint(value.data, cgutils.intp_t)
        stride = builder.extract_value(value.strides, 0)
        index = context.cast(builder, arguments[1], signature.args[1], types.intp)
        address = builder.add(data, builder.mul(index, stride))
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", (byte,), ir.FunctionType(ir.VoidType(), (byte, flag, flag, flag))
        )
        builder.call(
            function, [builder.inttoptr(address, byte), flag(_READ), flag(_KEEP), flag(_DATA)]
        )
        return context.get_dummy_value()

    return signature, generate
