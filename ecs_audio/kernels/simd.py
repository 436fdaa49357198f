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


def _pair_up(builder, x, y, low, high):
    """Sum of the `low` and the `high` lanes of two vectors, taken as sixteen."""
    return builder.fadd(builder.shuffle_vector(x, y, _mask(low)), builder.shuffle_vector(x, y, _mask(high)))


_HALVES = (
    ([0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]),
    ([0, 1, 4, 5, 8, 9, 12, 13], [2, 3, 6, 7, 10, 11, 14, 15]),
    ([0, 2, 4, 6, 8, 10, 12, 14], [1, 3, 5, 7, 9, 11, 13, 15]),
)


@intrinsic
def sums8(typing, a, b, c, d, e, f, g, h):
    """The sums of eight vectors as one vector, each in the order of `sum8`, in a third of its steps."""

    def generate(context, builder, signature, arguments):
        rows = list(arguments)
        for low, high in _HALVES:
            rows = [_pair_up(builder, x, y, low, high) for x, y in zip(rows[::2], rows[1::2], strict=True)]
        return rows[0]

    return float8(*[float8] * WIDTH), generate


@intrinsic
def transpose8(typing, array, start, stride, out, at):
    """Write the eight vectors that lie `stride` apart in array as the columns of eight rows in out."""

    def generate(context, builder, signature, arguments):
        source, start, stride, target, at = arguments
        rows = []
        for k in range(WIDTH):
            place = builder.add(start, builder.mul(stride, stride.type(k)))
            rows.append(builder.load(_pointer(context, builder, array, source, place), align=4))
        for step in (4, 2, 1):  # swap blocks of 4, 2 and 1 across the diagonal
            for k in range(WIDTH):
                if k & step:
                    continue
                x, y = rows[k], rows[k + step]
                keep = [n if not n & step else n - step + WIDTH for n in range(WIDTH)]
                swap = [n + step if not n & step else n + WIDTH for n in range(WIDTH)]
                rows[k] = builder.shuffle_vector(x, y, _mask(keep))
                rows[k + step] = builder.shuffle_vector(x, y, _mask(swap))
        for k, row in enumerate(rows):
            place = builder.add(at, at.type(WIDTH * k))
            builder.store(row, _pointer(context, builder, out, target, place), align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, out, types.int64), generate


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
