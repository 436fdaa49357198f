"""Samples weighted eight by eight, at eight places at once: what the sinc reader is made of."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ecs_audio.kernels.floats import LONG, WIDTH, data_of, float8, floats, load, shuffle, splat

LONGS = ir.VectorType(LONG, WIDTH)
FRAMES = 64
"""In a plan."""


def _places(builder, position, speed):
    far = builder.mul(splat(builder, speed, LONGS), ir.Constant(LONGS, list(range(WIDTH))))
    return builder.add(splat(builder, position, LONGS), far)


def _look_up(builder, places):
    """For each place its sample, its row of the table, and its share of the way to the next row."""

    def all_of(value):
        return ir.Constant(LONGS, [value] * WIDTH)

    sample = builder.ashr(places, all_of(32))
    row = builder.and_(builder.lshr(places, all_of(25 - 4)), all_of(0x7F0))
    rest = builder.trunc(builder.and_(places, all_of(0x1FFFFFF)), ir.VectorType(ir.IntType(32), WIDTH))
    share = builder.fmul(builder.sitofp(rest, floats(WIDTH)), ir.Constant(floats(WIDTH), [2.0**-25] * WIDTH))
    return sample, row, share


def _weighed(builder, data, phases, sample, row, share):
    """The eight samples from a place on, each times its weight between two phases."""
    first, grows = load(builder, phases, row, WIDTH), load(builder, phases, builder.add(row, LONG(8)), WIDTH)
    weights = builder.fadd(first, builder.fmul(share, grows))
    return builder.fmul(load(builder, data, sample, WIDTH), weights)


def each_added(builder, rows):
    """The sum of each of eight vectors, in the order of `sum8`: halves on each other until one is left.

    Vectors are so paired that all steps but the first stay within 128 bits.
    """
    low, high = (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)
    rows = [_added(builder, x, y, low, high) for x, y in zip(rows[:4], rows[4:], strict=True)]
    for low, high in (
        ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)),
        ((0, 2, 8, 10, 4, 6, 12, 14), (1, 3, 9, 11, 5, 7, 13, 15)),
    ):
        rows = [_added(builder, x, y, low, high) for x, y in zip(rows[::2], rows[1::2], strict=True)]
    return rows[0]


def _added(builder, x, y, low, high):
    return builder.fadd(shuffle(builder, x, y, low), shuffle(builder, x, y, high))


@intrinsic
def plan8(typing, position, speed, plan, shares, at):
    """Note what `weigh8` needs for eight frames: all at once here, where it would work it out one by one.

    plan: float32 (128 or more,), read as int64: the place of a sample in its upper half, that of a row of the
    table in its lower one. shares: float32. at: where the eight begin in shares; in plan, that modulo 64.
    """

    def generate(context, builder, signature, arguments):
        position, speed, noted, shared, at = arguments
        samples, rows, share = _look_up(builder, _places(builder, position, speed))
        both = builder.or_(builder.shl(samples, ir.Constant(LONGS, [32] * WIDTH)), rows)
        place = _noted(context, builder, plan, noted, at)
        builder.store(both, builder.bitcast(place, LONGS.as_pointer()), align=4)
        place = builder.gep(data_of(context, builder, shares, shared), [at])
        builder.store(share, builder.bitcast(place, share.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, plan, shares, types.int64), generate


@intrinsic
def weigh8(typing, array, start, table, plan, shares, at):
    """A float32 array read from array[start] on at the eight places of a plan, by eight weighted samples.

    table: (128, 16) float32, 8 weights for each phase and by what they grow to the next. The products are
    added up in the order of `sum8`.
    """

    def generate(context, builder, signature, arguments):
        source, start, weights, noted, shared, at = arguments
        data = builder.gep(data_of(context, builder, array, source), [start])
        phases = data_of(context, builder, table, weights)
        planned = _noted(context, builder, plan, noted, at)
        found = []
        for k in range(WIDTH):
            both = builder.load(builder.gep(planned, [LONG(k)]), align=4)
            sample, row = builder.ashr(both, LONG(32)), builder.and_(both, LONG(0xFFFFFFFF))
            share = builder.gep(data_of(context, builder, shares, shared), [builder.add(at, LONG(k))])
            share = splat(builder, builder.load(share), floats(WIDTH))
            found.append(_weighed(builder, data, phases, sample, row, share))
        return each_added(builder, found)

    return float8(array, types.int64, table, plan, shares, types.int64), generate


def _noted(context, builder, plan, noted, at):
    """Where a plan for eight frames stands."""
    longs = builder.bitcast(data_of(context, builder, plan, noted), LONG.as_pointer())
    return builder.gep(longs, [builder.and_(at, LONG(FRAMES - 1))])
