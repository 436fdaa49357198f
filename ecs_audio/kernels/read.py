"""Reading a clip at any speed: positions in 32.32 fixed point, two or eight samples for each frame."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law

ONE = 1 << 32
FRACTION = ONE - 1
TAPS = 8
PHASES = 128
UNIT = np.float32(2.0**-32)
PHASE_UNIT = np.float32(2.0**-25)


def sinc_table(cutoff: float = 0.92, beta: float = 8.0) -> Array:
    """Kaiser-windowed sinc, float32 (129, 8): weights of 8 samples for each of 128 phases and the next.

    cutoff: of the Nyquist frequency. beta: of the window. Each row sums to 1.
    """
    phase = np.arange(PHASES + 1)[:, None] / PHASES
    t = np.arange(TAPS)[None, :] - (TAPS // 2 - 1) - phase
    window = np.i0(beta * np.sqrt(np.clip(1 - (t / (TAPS / 2)) ** 2, 0, 1))) / np.i0(beta)
    weights = np.sinc(t * cutoff) * window
    return np.ascontiguousarray((weights / weights.sum(axis=1, keepdims=True)).astype(np.float32))


@law
def sample(bank: Array, base: int, length: int, looping: bool, i: int) -> float:
    """Sample i of a clip: silence before its start and after its end, or the loop again."""
    if i < 0 or (i >= length and not looping):
        return np.float32(0.0)
    return bank[base + (i % length if i >= length else i)]


@law
def read_linear(
    bank: Array,
    base: int,
    length: int,
    looping: bool,
    position: int,
    speed: int,
    out: Array,
    start: int,
    stop: int,
) -> int:
    """Fill out[start:stop] by straight lines between samples; returns the position after it."""
    wrapped = (position >> 32) // length * length if looping and position >= 0 else 0
    last = (position + speed * (stop - start)) >> 32
    inside = position >= 0 and last - wrapped + 1 < length
    for n in range(start, stop):
        i = (position >> 32) - wrapped
        f = np.float32(position & FRACTION) * UNIT
        if inside:
            a, b = bank[base + i], bank[base + i + 1]
        else:
            a = sample(bank, base, length, looping, i)
            b = sample(bank, base, length, looping, i + 1)
        out[n] = a + f * (b - a)
        position += speed
    return position


@law
def weigh(x: Array, at: int, table: Array, phase: int, f: float) -> float:
    """Sum of x[at] to x[at + 7], weighted between two phases; four sums, which LLVM keeps in one register."""
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for k in (0, 4):
        a += (table[phase, k] + f * (table[phase + 1, k] - table[phase, k])) * x[at + k]
        b += (table[phase, k + 1] + f * (table[phase + 1, k + 1] - table[phase, k + 1])) * x[at + k + 1]
        c += (table[phase, k + 2] + f * (table[phase + 1, k + 2] - table[phase, k + 2])) * x[at + k + 2]
        d += (table[phase, k + 3] + f * (table[phase + 1, k + 3] - table[phase, k + 3])) * x[at + k + 3]
    return (a + c) + (b + d)


@law
def read_sinc(
    bank: Array,
    table: Array,
    edge: Array,
    base: int,
    length: int,
    looping: bool,
    position: int,
    speed: int,
    out: Array,
    start: int,
    stop: int,
) -> int:
    """Fill out[start:stop] by eight weighted samples each; returns the position after it.

    edge: (8,) scratch.
    """
    first = (position >> 32) - 3
    wrapped = first // length * length if looping and first >= 0 else 0
    last = (position + speed * (stop - start)) >> 32
    inside = first >= 0 and last - wrapped + 4 < length
    for n in range(start, stop):
        i = (position >> 32) - wrapped - 3
        low = position & FRACTION
        phase = low >> 25
        f = np.float32(low & 0x1FFFFFF) * PHASE_UNIT
        if inside:
            out[n] = weigh(bank, base + i, table, phase, f)
        else:
            for k in range(TAPS):
                edge[k] = sample(bank, base, length, looping, i + k)
            out[n] = weigh(edge, 0, table, phase, f)
        position += speed
    return position
