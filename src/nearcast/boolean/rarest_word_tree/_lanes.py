"""Several boxes against one place at once, which NumPy and Numba have no word for.

The wests of `width` boxes lie side by side, then their souths, easts and norths, 16 bits each: a
few instructions of the processor compare all of them. Answers are masks, a bit for each lane.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_SHORT, _WORD = ir.IntType(16), ir.IntType(64)


def _boxes_met(width: int) -> Any:
    """What tells which of `width` boxes a place meets."""

    @intrinsic
    def boxes_met(
        typing_context: Any, shorts: Any, at: Any, east: Any, north: Any, west: Any, south: Any
    ) -> Any:
        """boxes_met(shorts, at, east, north, west, south): those of the boxes whose borders begin
        at shorts[at], int16, that are west of `east`, south of `north` and so on, or touch it."""
        signature = types.int64(shorts, *[types.int64] * 5)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            met = None
            for border, (place, compare) in enumerate(
                zip(arguments[2:], ("<=", "<=", ">=", ">="), strict=True)
            ):
                offset = builder.add(arguments[1], _WORD(border * width))
                borders = _load(builder, data, offset, _SHORT, width)
                places = _in_each(builder, builder.trunc(place, _SHORT), width)
                here = builder.icmp_signed(compare, borders, places)
                met = here if met is None else builder.and_(met, here)
            return _as_mask(builder, met, width)

        return signature, generate

    return boxes_met


def _lanes_equal(width: int) -> Any:
    """What tells which of `width` numbers are equal to one."""

    @intrinsic
    def lanes_equal(typing_context: Any, ints: Any, at: Any, value: Any) -> Any:
        """lanes_equal(ints, at, value): which of the numbers from ints[at] on, int32, are it?"""
        signature = types.int64(ints, types.int64, types.int64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = ir.IntType(32)
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            numbers = _load(builder, data, arguments[1], number, width)
            wanted = _in_each(builder, builder.trunc(arguments[2], number), width)
            return _as_mask(builder, builder.icmp_signed("==", numbers, wanted), width)

        return signature, generate

    return lanes_equal


def _lanes_kept(width: int) -> Any:
    """What writes down those of `width` numbers that a mask has."""

    @intrinsic
    def keep_lanes(typing_context: Any, ints: Any, at: Any, mask: Any, kept: Any, to: Any) -> Any:
        """keep_lanes(ints, at, mask, kept, to): those of the numbers from ints[at] on, int32, that
        the mask has are in kept[to:] then; what follows there, up to the width, is overwritten."""
        signature = types.void(ints, types.int64, types.int64, kept, types.int64)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = ir.IntType(32)
            lanes = ir.VectorType(number, width)
            bits = ir.VectorType(ir.IntType(1), width)
            data, target = (
                context.make_array(signature.args[i])(context, builder, arguments[i]).data
                for i in (0, 3)
            )
            numbers = _load(builder, data, arguments[1], number, width)
            wanted = builder.bitcast(builder.trunc(arguments[2], ir.IntType(width)), bits)
            compress = builder.module.declare_intrinsic(
                f"llvm.experimental.vector.compress.v{width}i32",
                (),
                ir.FunctionType(lanes, (lanes, bits, lanes)),
            )
            kept = builder.call(compress, [numbers, wanted, ir.Constant(lanes, ir.Undefined)])
            first = builder.gep(target, [arguments[4]])
            builder.store(kept, builder.bitcast(first, lanes.as_pointer()), align=4)
            return context.get_dummy_value()

        return signature, generate

    return keep_lanes


def _load(builder: Any, data: Any, at: Any, kind: Any, width: int) -> Any:
    """`width` numbers that lie side by side."""
    first = builder.bitcast(builder.gep(data, [at]), ir.VectorType(kind, width).as_pointer())
    return builder.load(first, align=kind.width // 8)


def _in_each(builder: Any, value: Any, width: int) -> Any:
    """A value in all lanes."""
    lanes = ir.VectorType(value.type, width)
    one = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, ir.IntType(32)(0))
    all_first = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), all_first)


def _as_mask(builder: Any, bits: Any, width: int) -> Any:
    return builder.zext(builder.bitcast(bits, ir.IntType(width)), _WORD)


four_boxes_met, boxes_met = _boxes_met(4), _boxes_met(16)
four_lanes_equal, lanes_equal = _lanes_equal(4), _lanes_equal(16)
keep_four_lanes, keep_lanes = _lanes_kept(4), _lanes_kept(16)


@intrinsic
def lanes_in(typing_context: Any, mask: Any) -> Any:
    """lanes_in(mask): how many lanes a mask has."""
    signature = types.int64(types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.module.declare_intrinsic(
            "llvm.ctpop", (_WORD,), ir.FunctionType(_WORD, (_WORD,))
        )
        return builder.call(function, arguments)

    return signature, generate
