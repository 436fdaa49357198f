"""Reading a clip at any speed: positions in 32.32 fixed point, two or eight samples for each frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.simd import (
    WIDE,
    lerp8,
    lerp16,
    load8,
    plan8,
    splat8,
    store8,
    store16,
    sum8,
    weigh8,
)

ONE = 1 << 32
FRACTION = ONE - 1
TAPS = 8
PHASES = 128
UNIT = np.float32(2.0**-24)
ONWARD = np.uint64(1)
PHASE_UNIT = np.float32(2.0**-25)


def sinc_table(beta: float = 7.0) -> Array:
    """Kaiser-windowed sinc, float32 (128, 16): weights of 8 samples for each phase, and by what they grow
    to the next.

    beta: of the window; 7 gives 80 dB of signal to error at 1 and 10 kHz, 65 dB at 5. Each row sums to 1.
    At phase 0 the weights are exactly 0 and 1, so that a clip at its own speed is read to the bit.
    """
    phase = np.arange(PHASES + 1)[:, None] / PHASES
    t = np.arange(TAPS)[None, :] - (TAPS // 2 - 1) - phase
    window = np.i0(beta * np.sqrt(np.clip(1 - (t / (TAPS / 2)) ** 2, 0, 1))) / np.i0(beta)
    weights = np.where(np.rint(t) == t, t == 0.0, np.sinc(t)) * window
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return np.concatenate([weights[:-1], weights[1:] - weights[:-1]], axis=1)


@law
def sample(bank: Array, base: int, length: int, looping: bool, spill: int, i: int) -> float:
    """Sample i of a clip: silence before its start and after its end, or the loop again.

    spill: frames by which what lies in the bank goes on before and after; in a loop they sound together
    with the turns
    before and after.
    """
    if i < 0 or (i >= length and not looping):
        return np.float32(0.0)
    m = i % length if i >= length else i
    total = bank[base + m]
    later, earlier = m + length, m - length
    while later < length + spill:
        total += bank[base + later]
        later += length
    while earlier >= -spill:
        total += bank[base + earlier]
        earlier -= length
    return total


@law
def silence(position: int, speed: int, out: Array, start: int, stop: int) -> int:
    """Fill out[start:stop] with zeros: the sound has not arrived yet, or is over."""
    for n in range(start, stop):
        out[n] = 0.0
    return position + speed * (stop - start)


@law
def draw_lines(bank: Array, at: int, speed: int, out: Array, start: int, stop: int) -> None:
    """Fill out[start:stop] by straight lines between samples from bank[at] on [32.32], all of which exist."""
    n = start
    if speed == ONE:  # eight neighbours at once
        i, f = at >> 32, splat8(np.float32(np.int32((at >> 8) & 0xFFFFFF)) * UNIT)
        while n + 8 <= stop:
            low = load8(bank, i)
            store8(out, n, low + f * (load8(bank, i + 1) - low))
            n, i, at = n + 8, i + 8, at + (ONE << 3)
    while n + WIDE <= stop and speed <= 2 * ONE and (at >> 32) + 2 * WIDE <= bank.shape[0]:
        store16(out, n, lerp16(bank, at, speed))
        n, at = n + WIDE, at + (speed << 4)
    while n + 8 <= stop:
        store8(out, n, lerp8(bank, at, speed))
        n, at = n + 8, at + (speed << 3)
    while n < stop:
        j = np.uint64(at >> 32)  # unsigned: numba need not look whether it counts from the end
        a, b = bank[j], bank[j + ONWARD]
        out[n] = a + np.float32(np.int32((at >> 8) & 0xFFFFFF)) * UNIT * (b - a)
        n, at = n + 1, at + speed


@law
def read_linear(
    bank: Array,
    base: int,
    length: int,
    looping: bool,
    spill: int,
    position: int,
    speed: int,
    out: Array,
    start: int,
    stop: int,
) -> int:
    """Fill out[start:stop] by straight lines between samples; returns the position after it."""
    wrapped = (position >> 32) // length * length if looping and position >> 32 >= length else 0
    first, last = (position >> 32) - wrapped, ((position + speed * (stop - start)) >> 32) - wrapped
    inside = position >= 0 and first >= spill and last + 1 < length - spill
    if last + 1 < 0 or (first >= length and not looping):
        return silence(position, speed, out, start, stop)
    if inside:
        draw_lines(bank, position + ((base - wrapped) << 32), speed, out, start, stop)
        return position + speed * (stop - start)
    for k in range(start, stop):
        i = (position >> 32) - wrapped
        a = sample(bank, base, length, looping, spill, i)
        b = sample(bank, base, length, looping, spill, i + 1)
        out[k] = a + np.float32(np.int32((position >> 8) & 0xFFFFFF)) * UNIT * (b - a)
        position += speed
    return position


@law
def weighed(x: Array, at: int, table: Array, position: int) -> Any:
    """The eight samples from x[at] on, each times its weight between two phases."""
    low = position & FRACTION
    row = 2 * TAPS * (low >> 25)
    f = splat8(np.float32(low & 0x1FFFFFF) * PHASE_UNIT)
    return load8(x, at) * (load8(table, row) + f * load8(table, row + TAPS))


@law
def weight(table: Array, position: int, k: int) -> float:
    """Weight of sample k of eight, the same as in `weighed`."""
    low = position & FRACTION
    phase = low >> 25
    f = np.float32(low & 0x1FFFFFF) * PHASE_UNIT
    return table[phase, k] + f * table[phase, TAPS + k]


@law
def draw_sinc(
    bank: Array, at: int, table: Array, edge: Array, place: int, speed: int, out: Array, start: int, stop: int
) -> None:
    """Fill out[start:stop], a multiple of 8 frames, by eight samples each, the first at bank[at + place].

    At a clip's own speed all frames have the same weights. They are added up in one order at any speed.
    """
    if speed == ONE:
        w0, w1 = splat8(weight(table, place, 0)), splat8(weight(table, place, 1))
        w2, w3 = splat8(weight(table, place, 2)), splat8(weight(table, place, 3))
        w4, w5 = splat8(weight(table, place, 4)), splat8(weight(table, place, 5))
        w6, w7 = splat8(weight(table, place, 6)), splat8(weight(table, place, 7))
        i = at + (place >> 32)
        for n in range(start, stop, 8):
            even = (load8(bank, i) * w0 + load8(bank, i + 4) * w4) + (
                load8(bank, i + 2) * w2 + load8(bank, i + 6) * w6
            )
            odd = (load8(bank, i + 1) * w1 + load8(bank, i + 5) * w5) + (
                load8(bank, i + 3) * w3 + load8(bank, i + 7) * w7
            )
            store8(out, n, even + odd)
            i += 8
    else:
        for n in range(start, stop, 8):
            plan8(place, speed, edge, out, n)
            place += speed << 3
        for n in range(start, stop, 8):
            store8(out, n, weigh8(bank, at, table, edge, out, n))


@law
def read_sinc(
    bank: Array,
    table: Array,
    edge: Array,
    base: int,
    length: int,
    looping: bool,
    spill: int,
    position: int,
    speed: int,
    out: Array,
    start: int,
    stop: int,
) -> int:
    """Fill out[start:stop] by eight weighted samples each; returns the position after it.

    edge: (144 or more,) scratch. out: from start to stop no more than 64 frames.
    """
    first = (position >> 32) - 3
    wrapped = first // length * length if looping and first >= length else 0
    last = (position + speed * (stop - start)) >> 32
    inside = first - wrapped >= spill and last - wrapped + 4 < length - spill
    if last + 4 < 0 or (first >= length and not looping):
        return silence(position, speed, out, start, stop)
    n, p = start, position
    if inside:
        n = start + (stop - start) // 8 * 8
        draw_sinc(bank, base - wrapped - 3, table, edge, p, speed, out, start, n)
        p += speed * (n - start)
    while n < stop:
        i = (p >> 32) - wrapped - 3
        for k in range(TAPS):
            edge[k] = sample(bank, base, length, looping, spill, i + k)
        out[n] = sum8(weighed(edge, 0, table, p))
        n, p = n + 1, p + speed
    return p
