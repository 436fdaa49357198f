"""Samples weighted eight by eight, at eight places at once: what the sinc reader is made of."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ecs_audio.kernels.floats import LONG, WIDTH, data_of, float8, floats, load, shuffle, splat

LONGS = ir.VectorType(LONG, WIDTH)
ROWS = 64
"""Where the rows of the table stand in a plan, behind the samples' places for as many frames."""


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


def _sums(builder, rows):
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
def sinc8(typing, array, start, table, position, speed):
    """A float32 array read at eight places from start + `position` on, `speed` apart, by eight weighted
    samples.

    table: (128, 16) float32, 8 weights for each phase and by what they grow to the next. The products are
    added up in the order of `sum8`.
    """

    def generate(context, builder, signature, arguments):
        source, start, weights, position, speed = arguments
        data = data_of(context, builder, array, source)
        phases = data_of(context, builder, table, weights)
        samples, rows, shares = _look_up(builder, _places(builder, position, speed))
        samples = builder.add(samples, splat(builder, start, LONGS))
        found = []
        for k in range(WIDTH):
            sample, row = builder.extract_element(samples, LONG(k)), builder.extract_element(rows, LONG(k))
            share = shuffle(builder, shares, shares, [k] * WIDTH)
            found.append(_weighed(builder, data, phases, sample, row, share))
        return _sums(builder, found)

    return float8(array, types.int64, table, types.int64, types.int64), generate


@intrinsic
def plan8(typing, start, position, speed, plan, shares, at):
    """Note what `weigh8` needs for eight frames: all at once here, where `sinc8` works it out one by one.

    plan: float32 (256 or more,), read as int64. shares: float32. at: where the eight begin in shares; in
    plan, that modulo 64.
    """

    def generate(context, builder, signature, arguments):
        start, position, speed, noted, shared, at = arguments
        samples, rows, share = _look_up(builder, _places(builder, position, speed))
        samples = builder.add(samples, splat(builder, start, LONGS))
        for values, place in zip((samples, rows), _noted(context, builder, plan, noted, at), strict=True):
            builder.store(values, builder.bitcast(place, LONGS.as_pointer()), align=4)
        place = builder.gep(data_of(context, builder, shares, shared), [at])
        builder.store(share, builder.bitcast(place, share.type.as_pointer()), align=4)
        return context.get_dummy_value()

    wanted = types.int64, types.int64, types.int64, plan, shares, types.int64
    return types.void(*wanted), generate


@intrinsic
def weigh8(typing, array, table, plan, shares, at):
    """The eight frames of a plan, the same bits as those of `sinc8`."""

    def generate(context, builder, signature, arguments):
        data, phases, shared = (
            data_of(context, builder, kind, value)
            for kind, value in zip((array, table, shares), (*arguments[:2], arguments[3]), strict=True)
        )
        at, found = arguments[4], []
        sample_at, row_at = _noted(context, builder, plan, arguments[2], at)
        for k in range(WIDTH):
            sample = builder.load(builder.gep(sample_at, [LONG(k)]), align=4)
            row = builder.load(builder.gep(row_at, [LONG(k)]), align=4)
            share = builder.load(builder.gep(shared, [builder.add(at, LONG(k))]))
            found.append(_weighed(builder, data, phases, sample, row, splat(builder, share, floats(WIDTH))))
        return _sums(builder, found)

    return float8(array, table, plan, shares, types.int64), generate


def _noted(context, builder, plan, noted, at):
    """Where the places of samples and of rows stand in a plan for eight frames."""
    longs = builder.bitcast(data_of(context, builder, plan, noted), LONG.as_pointer())
    frame = builder.and_(at, LONG(ROWS - 1))
    return builder.gep(longs, [frame]), builder.gep(longs, [builder.add(frame, LONG(ROWS))])
