"""Eight float32 in one register, as a value that kernels calculate with.

LLVM does not turn numba's loops over lanes into vector code, since it cannot know that the arrays do not
overlap. This type says it outright; it becomes SSE, AVX, AVX-512 or NEON, whatever the processor has. The
order of every operation is fixed, so the bytes are the same on all of them.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

WIDTH = 8
_FLOATS = ir.VectorType(ir.FloatType(), WIDTH)
_INDEX = ir.IntType(32)


class Float8(types.Type):
    """The numba type of eight float32."""

    def __init__(self):
        super().__init__(name="Float8")


float8 = Float8()


@register_model(Float8)
class _Float8Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLOATS)


def _mask(lanes):
    return ir.Constant(ir.VectorType(_INDEX, len(lanes)), lanes)


def _pointer(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _FLOATS.as_pointer())


@intrinsic
def load8(typing, array, index):
    """Eight neighbours of a C-contiguous float32 array, from a flat index on."""

    def generate(context, builder, signature, arguments):
        return builder.load(_pointer(context, builder, array, *arguments), align=4)

    return float8(array, types.int64), generate


@intrinsic
def store8(typing, array, index, value):
    """Write eight neighbours of a C-contiguous float32 array, from a flat index on."""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _pointer(context, builder, array, *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, float8), generate


@intrinsic
def splat8(typing, value):
    """The same number eight times."""

    def generate(context, builder, signature, arguments):
        one = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), arguments[0], _INDEX(0))
        return builder.shuffle_vector(one, ir.Constant(_FLOATS, ir.Undefined), _mask([0] * WIDTH))

    return float8(types.float32), generate


@intrinsic
def sum8(typing, value):
    """Sum of all eight: halves on each other until one is left, ((0+4)+(2+6))+((1+5)+(3+7))."""

    def generate(context, builder, signature, arguments):
        (x,) = arguments
        for half in (4, 2, 1):
            nothing = ir.Constant(x.type, ir.Undefined)
            low = builder.shuffle_vector(x, nothing, _mask(list(range(half))))
            high = builder.shuffle_vector(x, nothing, _mask(list(range(half, 2 * half))))
            x = builder.fadd(low, high)
        return builder.extract_element(x, _INDEX(0))

    return types.float32(float8), generate


def _define(symbol, instruction):
    @intrinsic
    def combined(typing, a, b):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments)

        return float8(float8, float8), generate

    @overload(symbol)
    def typed(a, b):
        if isinstance(a, Float8) and isinstance(b, Float8):
            return lambda a, b: combined(a, b)
        return None


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
