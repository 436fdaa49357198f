"""Eight or sixteen float32 in one register, as a value that kernels calculate with.

LLVM does not turn numba's loops over lanes into vector code, since it cannot know that the arrays do not
overlap. These types say it outright; they become SSE, AVX, AVX-512 or NEON, whatever the processor has, and
more than one register where sixteen do not fit into one. The order of every operation is fixed, so the bytes
are the same on all of them.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

WIDTH, WIDE = 8, 16
INDEX, LONG = ir.IntType(32), ir.IntType(64)


class Floats(types.Type):
    """The numba type of so many float32."""

    def __init__(self, width):
        self.width = width
        super().__init__(name=f"Floats{width}")


float8, float16 = Floats(WIDTH), Floats(WIDE)


def floats(width):
    """The LLVM type of so many float32."""
    return ir.VectorType(ir.FloatType(), width)


@register_model(Floats)
class _FloatsModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, floats(kind.width))


def shuffle(builder, x, y, lanes):
    """The named lanes of two vectors, taken as one twice as long."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(INDEX, len(lanes)), list(lanes)))


def load(builder, data, index, width):
    """So many neighbours from data[index] on."""
    return builder.load(builder.bitcast(builder.gep(data, [index]), floats(width).as_pointer()), align=4)


def data_of(context, builder, array_type, array):
    """Where an array begins."""
    return context.make_array(array_type)(context, builder, array).data


def splat(builder, value, vector):
    """The same number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    return shuffle(builder, builder.insert_element(nothing, value, INDEX(0)), nothing, [0] * vector.count)


def side_by_side(builder, vectors):
    """Two, four, eight ... vectors as one."""
    while len(vectors) > 1:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [shuffle(builder, x, y, range(2 * x.type.count)) for x, y in pairs]
    return vectors[0]


def _load_as(kind):
    @intrinsic
    def loaded(typing, array, index):
        """Neighbours in a C-contiguous float32 array, from a flat index on."""

        def generate(context, builder, signature, arguments):
            return load(builder, data_of(context, builder, array, arguments[0]), arguments[1], kind.width)

        return kind(array, types.int64), generate

    return loaded


def _store_as(kind):
    @intrinsic
    def stored(typing, array, index, value):
        """Write neighbours in a C-contiguous float32 array, from a flat index on."""

        def generate(context, builder, signature, arguments):
            place = builder.gep(data_of(context, builder, array, arguments[0]), [arguments[1]])
            builder.store(arguments[2], builder.bitcast(place, arguments[2].type.as_pointer()), align=4)
            return context.get_dummy_value()

        return types.void(array, types.int64, kind), generate

    return stored


def _splat_as(kind):
    @intrinsic
    def spread(typing, value):
        """The same number in every lane."""

        def generate(context, builder, signature, arguments):
            return splat(builder, arguments[0], floats(kind.width))

        return kind(types.float32), generate

    return spread


load8, load16 = _load_as(float8), _load_as(float16)
store8, store16 = _store_as(float8), _store_as(float16)
splat8, splat16 = _splat_as(float8), _splat_as(float16)


def _define(symbol, instruction):
    @intrinsic
    def combined(typing, a, b):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments)

        return a(a, a), generate

    @overload(symbol)
    def typed(a, b):
        if isinstance(a, Floats) and a == b:
            return lambda a, b: combined(a, b)
        return None


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")
