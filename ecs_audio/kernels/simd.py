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
_INDEX, _LONG = ir.IntType(32), ir.IntType(64)
_WORDS = ir.VectorType(_INDEX, WIDTH)


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


def _splat(builder, value, vector):
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, _INDEX(0))
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), _mask([0] * WIDTH))


def _low_words(builder, position, speed):
    """The fractions, 32 bits, of eight places that lie `speed` apart."""
    start = _splat(builder, builder.trunc(position, _INDEX), _WORDS)
    step = _splat(builder, builder.trunc(speed, _INDEX), _WORDS)
    return builder.add(start, builder.mul(step, ir.Constant(_WORDS, list(range(WIDTH)))))


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
        return _splat(builder, arguments[0], _FLOATS)

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
def lerp8(typing, array, position, speed):
    """A float32 array read at eight places from `position` on, `speed` apart, by straight lines [32.32].

    a + f (b - a) with f of 24 bits. Samples are loaded as pairs, which is faster than a hardware gather.
    """

    def generate(context, builder, signature, arguments):
        source, position, speed = arguments
        data = context.make_array(array)(context, builder, source).data
        pair = ir.VectorType(ir.FloatType(), 2)
        pairs = []
        for k in range(WIDTH):
            place = builder.add(position, builder.mul(speed, _LONG(k)))
            index = builder.lshr(place, _LONG(32))
            address = builder.bitcast(builder.gep(data, [index]), pair.as_pointer())
            pairs.append(builder.load(address, align=4))
        while len(pairs) > 1:  # two, four, then eight pairs side by side
            count = 2 * pairs[0].type.count
            together = _mask(list(range(count)))
            pairs = [
                builder.shuffle_vector(x, y, together) for x, y in zip(pairs[::2], pairs[1::2], strict=True)
            ]
        (all_pairs,) = pairs
        nothing = ir.Constant(all_pairs.type, ir.Undefined)
        a = builder.shuffle_vector(all_pairs, nothing, _mask(list(range(0, 16, 2))))
        b = builder.shuffle_vector(all_pairs, nothing, _mask(list(range(1, 16, 2))))
        low = builder.lshr(_low_words(builder, position, speed), ir.Constant(_WORDS, [8] * WIDTH))
        fraction = builder.fmul(builder.sitofp(low, _FLOATS), ir.Constant(_FLOATS, [2.0**-24] * WIDTH))
        return builder.fadd(a, builder.fmul(fraction, builder.fsub(b, a)))

    return float8(array, types.int64, types.int64), generate


@intrinsic
def sinc8(typing, array, start, table, position, speed):
    """A float32 array read at eight places from start + `position` on, `speed` apart, by eight weighted
    samples.

    table: (128, 16) float32, 8 weights for each phase and by what they grow to the next. The products are
    added up
    in the order of `sum8`.
    """

    def generate(context, builder, signature, arguments):
        source, start, weights, position, speed = arguments
        data = context.make_array(array)(context, builder, source).data
        phases = context.make_array(table)(context, builder, weights).data
        low = _low_words(builder, position, speed)
        rest = builder.sitofp(builder.and_(low, ir.Constant(_WORDS, [0x1FFFFFF] * WIDTH)), _FLOATS)
        rest = builder.fmul(rest, ir.Constant(_FLOATS, [2.0**-25] * WIDTH))
        rows = []
        for k in range(WIDTH):
            place = builder.add(position, builder.mul(speed, _LONG(k)))
            index = builder.add(start, builder.ashr(place, _LONG(32)))
            x = builder.load(builder.bitcast(builder.gep(data, [index]), _FLOATS.as_pointer()), align=4)
            row = builder.lshr(builder.and_(place, _LONG(0xFE000000)), _LONG(25 - 4))
            at = builder.bitcast(builder.gep(phases, [row]), _FLOATS.as_pointer())
            first, grows = builder.load(at, align=4), builder.load(builder.gep(at, [_INDEX(1)]), align=4)
            share = builder.shuffle_vector(rest, ir.Constant(_FLOATS, ir.Undefined), _mask([k] * WIDTH))
            rows.append(builder.fmul(x, builder.fadd(first, builder.fmul(share, grows))))
        for low, high in _HALVES:
            rows = [_pair_up(builder, x, y, low, high) for x, y in zip(rows[::2], rows[1::2], strict=True)]
        return rows[0]

    return float8(array, types.int64, table, types.int64, types.int64), generate


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


def _choose(condition):
    @intrinsic
    def chosen(typing, a, b):
        def generate(context, builder, signature, arguments):
            return builder.select(builder.fcmp_ordered(condition, *arguments), *arguments)

        return float8(float8, float8), generate

    return chosen


min8, max8 = _choose("<"), _choose(">")
min8.__doc__, max8.__doc__ = "The smaller of two, eight times.", "The larger of two, eight times."


@intrinsic
def flush8(typing, value, least):
    """Each of eight, or 0 where it is not above `least` in size."""

    def generate(context, builder, signature, arguments):
        x, least = arguments
        nothing = ir.Constant(_FLOATS, [0.0] * WIDTH)
        is_high = builder.fcmp_ordered(">", x, least)
        is_low = builder.fcmp_ordered("<", x, builder.fsub(nothing, least))
        return builder.select(builder.or_(is_high, is_low), x, nothing)

    return float8(float8, float8), generate


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
_define(operator.truediv, "fdiv")
