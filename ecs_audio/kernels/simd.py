"""What kernels do with eight or sixteen float32 at once, beyond arithmetic. See `floats` for the type."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ecs_audio.kernels.floats import (
    INDEX,
    LONG,
    WIDE,
    WIDTH,
    Floats,
    data_of,
    float8,
    float16,
    load,
    load8,
    load16,
    shuffle,
    side_by_side,
    splat8,
    splat16,
    store8,
    store16,
)
from ecs_audio.kernels.lines import lerp8, lerp16
from ecs_audio.kernels.weights import each_added, plan8, weigh8

__all__ = [
    "WIDE", "WIDTH", "by_turns", "flush8", "flush16", "lerp8", "lerp16", "load8", "load16", "max8", "max16",
    "min8", "min16", "plan8", "prefetch", "splat8", "splat16", "store8", "store16", "sum8", "sum16", "sums16",
    "transpose8", "transpose16", "weigh8",
]  # fmt: skip


def _halves_added(builder, x, until):
    while x.type.count > until:
        half = x.type.count // 2
        x = builder.fadd(shuffle(builder, x, x, range(half)), shuffle(builder, x, x, range(half, 2 * half)))
    return x


@intrinsic
def sum8(typing, value):
    """Sum of all lanes: halves on each other until one is left, ((0+4)+(2+6))+((1+5)+(3+7))."""

    def generate(context, builder, signature, arguments):
        return builder.extract_element(_halves_added(builder, arguments[0], 1), INDEX(0))

    return types.float32(value), generate


sum16 = sum8


@intrinsic
def sums16(typing, array, start, stride):
    """The sums of eight times sixteen neighbours, `stride` apart, the same bits as eight times `sum16`."""

    def generate(context, builder, signature, arguments):
        source, start, stride = arguments
        data, halves = data_of(context, builder, array, source), []
        for k in range(WIDTH):
            low = builder.add(start, builder.mul(stride, LONG(k)))
            high = builder.add(low, LONG(WIDTH))
            halves.append(builder.fadd(load(builder, data, low, WIDTH), load(builder, data, high, WIDTH)))
        return each_added(builder, halves)

    return float8(array, types.int64, types.int64), generate


@intrinsic
def by_turns(typing, a, b):
    """Eight and eight numbers as sixteen: the first of a, the first of b, the second of a ..."""

    def generate(context, builder, signature, arguments):
        x, y = arguments
        return shuffle(builder, x, y, [n // 2 + WIDTH * (n % 2) for n in range(WIDE)])

    return float16(a, b), generate


def _transpose_as(width):
    """Blocks of four by four are loaded beside each other, so that only these are left to be transposed."""

    @intrinsic
    def transposed(typing, array, start, stride, out, at):
        """Write the vectors that lie `stride` apart in array as the columns of as many rows in out."""

        def generate(context, builder, signature, arguments):
            source, start, stride, target, at = arguments
            read = data_of(context, builder, array, source)
            written = data_of(context, builder, out, target)
            for column in range(0, width, 4):
                rows = []
                for k in range(4):
                    places = [builder.mul(stride, stride.type(lane)) for lane in range(k, width, 4)]
                    first = builder.add(start, start.type(column))
                    fours = [load(builder, read, builder.add(first, place), 4) for place in places]
                    rows.append(side_by_side(builder, fours))
                for step in (2, 1):  # swap blocks of 2 and 1 across the diagonal of each
                    for k in range(4):
                        if k & step:
                            continue
                        x, y = rows[k], rows[k + step]
                        keep = [n if not n & step else n - step + width for n in range(width)]
                        swap = [n + step if not n & step else n + width for n in range(width)]
                        rows[k], rows[k + step] = shuffle(builder, x, y, keep), shuffle(builder, x, y, swap)
                for k, row in enumerate(rows):
                    place = builder.gep(written, [builder.add(at, at.type(width * (column + k)))])
                    builder.store(row, builder.bitcast(place, row.type.as_pointer()), align=4)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64, out, types.int64), generate

    return transposed


transpose8, transpose16 = _transpose_as(WIDTH), _transpose_as(WIDE)


def _choose(condition, meaning):
    @intrinsic
    def chosen(typing, a, b):
        def generate(context, builder, signature, arguments):
            return builder.select(builder.fcmp_ordered(condition, *arguments), *arguments)

        return (a(a, a), generate) if isinstance(a, Floats) and a == b else None

    chosen.__doc__ = meaning
    return chosen


min8 = min16 = _choose("<", "The smaller of two, in every lane.")
max8 = max16 = _choose(">", "The larger of two, in every lane.")


@intrinsic
def flush8(typing, value, least):
    """Each lane, or 0 where it is not above `least` in size."""

    def generate(context, builder, signature, arguments):
        x, least = arguments
        nothing = ir.Constant(x.type, [0.0] * x.type.count)
        is_high = builder.fcmp_ordered(">", x, least)
        is_low = builder.fcmp_ordered("<", x, builder.fsub(nothing, least))
        return builder.select(builder.or_(is_high, is_low), x, nothing)

    return value(value, value), generate


flush16 = flush8


@intrinsic
def prefetch(typing, array, index):
    """Ask for the cache line that holds a place of a float32 array, which may lie outside of it."""

    def generate(context, builder, signature, arguments):
        place = builder.gep(data_of(context, builder, array, arguments[0]), [arguments[1]])
        byte = ir.IntType(8).as_pointer()
        function = builder.module.declare_intrinsic(
            "llvm.prefetch.p0", (), ir.FunctionType(ir.VoidType(), [byte, INDEX, INDEX, INDEX])
        )
        builder.call(function, [builder.bitcast(place, byte), INDEX(0), INDEX(2), INDEX(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
