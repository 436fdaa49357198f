"""Straight lines between samples, at eight or sixteen places at once."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ecs_audio.kernels.floats import (
    INDEX,
    LONG,
    WIDE,
    WIDTH,
    data_of,
    float8,
    float16,
    floats,
    load,
    shuffle,
    side_by_side,
    splat,
)

FINE = 27
"""Bits that are left of a place between two samples beside its place among 32 of them."""


def _words(*values):
    return ir.Constant(ir.VectorType(INDEX, len(values)), list(values))


def _line(builder, a, b, share, bits):
    """a + f (b - a), the share being f in so many bits."""
    f = builder.fmul(builder.sitofp(share, a.type), ir.Constant(a.type, [2.0**-bits] * a.type.count))
    return builder.fadd(a, builder.fmul(f, builder.fsub(b, a)))


def _pairs(builder, data, places):
    """The samples at some places, and those after them: loaded as pairs, faster than by a hardware gather."""
    pairs, count = side_by_side(builder, [load(builder, data, place, 2) for place in places]), len(places)
    return [shuffle(builder, pairs, pairs, range(side, 2 * count, 2)) for side in (0, 1)]


@intrinsic
def lerp8(typing, array, position, speed):
    """A float32 array read at eight places from `position` on, `speed` apart, by straight lines [32.32].

    a + f (b - a) with f of 24 bits.
    """

    def generate(context, builder, signature, arguments):
        source, position, speed = arguments
        places = [builder.add(position, builder.mul(speed, LONG(k))) for k in range(WIDTH)]
        whole = [builder.lshr(place, LONG(32)) for place in places]
        a, b = _pairs(builder, data_of(context, builder, array, source), whole)
        words = _words(*range(WIDTH)).type
        far = builder.mul(splat(builder, builder.trunc(speed, INDEX), words), _words(*range(WIDTH)))
        low = builder.add(splat(builder, builder.trunc(position, INDEX), words), far)
        return _line(builder, a, b, builder.lshr(low, _words(*[8] * WIDTH)), 24)

    return float8(array, types.int64, types.int64), generate


@intrinsic
def lerp16(typing, array, position, speed):
    """The same at sixteen places no more than 2 apart; place and speed are taken in steps of 2^-27.

    So a place among 32 samples is a number of 32 bits. All of these samples have to exist, though not all are
    used: AVX-512 and AVX2 load them as they are, and have instructions that pick some of them by number.
    """

    def generate(context, builder, signature, arguments):
        source, position, speed = arguments
        data = data_of(context, builder, array, source)
        first, mask = builder.lshr(position, LONG(32)), LONG((1 << FINE) - 1)
        low = builder.and_(builder.lshr(position, LONG(32 - FINE)), mask)
        step = builder.lshr(speed, LONG(32 - FINE))
        words, numbers = ir.VectorType(INDEX, WIDE), _words(*range(WIDE))
        far = builder.mul(splat(builder, builder.trunc(step, INDEX), words), numbers)
        places = builder.add(splat(builder, builder.trunc(low, INDEX), words), far)
        whole = builder.lshr(places, _words(*[FINE] * WIDE))
        features = context.codegen().magic_tuple()[2].split(",")
        if "+avx512f" in features:
            a, b = _picked(builder, data, first, whole)
        elif "+avx2" in features:
            halves = []
            for k in (0, WIDTH):
                start = builder.lshr(builder.add(low, builder.mul(step, LONG(k))), LONG(FINE))
                half = shuffle(builder, whole, whole, range(k, k + WIDTH))
                half = builder.sub(half, splat(builder, builder.trunc(start, INDEX), half.type))
                halves.append(_picked(builder, data, builder.add(first, start), half))
            a, b = (side_by_side(builder, list(side)) for side in zip(*halves, strict=True))
        else:
            far = [builder.add(low, builder.mul(step, LONG(k))) for k in range(WIDE)]
            index = [builder.add(first, builder.lshr(place, LONG(FINE))) for place in far]
            a, b = _pairs(builder, data, index)
        share = builder.and_(places, _words(*[(1 << FINE) - 1] * WIDE))
        return _line(builder, a, b, share, FINE)

    return float16(array, types.int64, types.int64), generate


def _picked(builder, data, first, numbers):
    """The samples with these numbers among those of two registers from `first` on, and those after them."""
    width = numbers.type.count
    low, high = load(builder, data, first, width), load(builder, data, builder.add(first, LONG(width)), width)
    next_ones = builder.add(numbers, _words(*[1] * width))
    return [_of_two(builder, low, high, each) for each in (numbers, next_ones)]


def _of_two(builder, low, high, numbers):
    vector, width = floats(numbers.type.count), numbers.type.count
    if width == WIDE:
        kind = ir.FunctionType(vector, [vector, numbers.type, vector])
        function = builder.module.declare_intrinsic("llvm.x86.avx512.vpermi2var.ps.512", (), kind)
        return builder.call(function, [low, numbers, high])
    kind = ir.FunctionType(vector, [vector, numbers.type])
    function = builder.module.declare_intrinsic("llvm.x86.avx2.permps", (), kind)
    is_low = builder.icmp_signed("<", numbers, _words(*[width] * width))
    return builder.select(
        is_low, builder.call(function, [low, numbers]), builder.call(function, [high, numbers])
    )
