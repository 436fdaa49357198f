"""A channel strip for eight lanes at once: muffling, fade, gains at the ears and into the reverbs."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.shelf import SILENT
from ecs_audio.kernels.simd import WIDTH, flush8, load8, max8, min8, splat8, store8, sum8

QUANTUM = 64
"""Frames mixed together; all that happens inside begins at a multiple of it."""
SHARE = np.float32(1.0 / QUANTUM)
OUTS = 4
"""Sums of lanes: left, right, near, far."""

# Rows of the matrix `signal` of `Voices`, one column a lane: attack and release and their targets, gains to
# the ears and into the reverbs and theirs, then three shelves, of the direct sound and of each send.
FADE, FADE_TARGET, GAIN, TARGET, GAINS = 0, 1, 2, 6, 4
LEFT, RIGHT, NEAR, FAR = range(GAINS)
SHELF = 10
SHELVES, SHELF_ROWS = 3, 9
# Rows of a shelf: sqrt(gain_hf) and its target, coefficients, memory.
HF, HF_TARGET, B0, B1, B2, A1, A2, S1, S2 = range(SHELF_ROWS)
ROWS = SHELF + SHELVES * SHELF_ROWS
BENT = 10 * WIDTH
"""Numbers that `bend` leaves for eight shelves."""

_ONE, _TWO, _ZERO = np.float32(1.0), np.float32(2.0), np.float32(0.0)


@law
def bend(
    signal: Array, first: int, lanes: int, shelf: int, part: float, cos: float, alpha: float, out: Array
) -> None:
    """Move eight shelves on their way; what they add to their coefficients a frame goes to out, 5 x 8
    numbers,
    then where they arrive.

    signal: (37, lanes). first: of the eight. shelf: 0 of the direct sound, 1 near, 2 far; out: from 80
    times that
    on. part: share of the way from hf to its target, 1 is there exactly. cos, alpha: of the corner, see
    `corner_of`. Robert Bristow-Johnson's cookbook, high shelf with slope 1. At hf = 1 the coefficients
    are exactly those of a wire: b0 = 1, b1 = a1, b2 = a2.
    """
    row, to = (SHELF + SHELF_ROWS * shelf) * lanes + first, BENT * shelf
    h, target = load8(signal, row + HF * lanes), load8(signal, row + HF_TARGET * lanes)
    h = h + (target - h) * splat8(part) if part < _ONE else target
    store8(signal, row + HF * lanes, h)
    a = h * h
    one, two = splat8(_ONE), splat8(_TWO)
    plus, minus = a + one, a - one
    tilt, slope = minus * splat8(cos), h * splat8(_TWO * alpha)
    spread = plus * splat8(cos)
    below = (plus - tilt) + slope
    twice = a * two
    b0 = (a * ((plus + tilt) + slope)) / below
    b1 = (splat8(_ZERO) - twice * (minus + spread)) / below
    b2 = (a * ((plus + tilt) - slope)) / below
    a1 = (two * (minus - spread)) / below
    a2 = ((plus - tilt) - slope) / below
    share, at = splat8(SHARE), row + B0 * lanes
    store8(out, to, (b0 - load8(signal, at)) * share)
    store8(out, to + 8, (b1 - load8(signal, at + lanes)) * share)
    store8(out, to + 16, (b2 - load8(signal, at + 2 * lanes)) * share)
    store8(out, to + 24, (a1 - load8(signal, at + 3 * lanes)) * share)
    store8(out, to + 32, (a2 - load8(signal, at + 4 * lanes)) * share)
    store8(out, to + 40, b0)
    store8(out, to + 48, b1)
    store8(out, to + 56, b2)
    store8(out, to + 64, a1)
    store8(out, to + 72, a2)


@law
def settle(signal: Array, first: int, lanes: int, shelf: int, bent: Array) -> None:
    """After a quantum: the coefficients of eight shelves are where `bend` said."""
    row = (SHELF + SHELF_ROWS * shelf + B0) * lanes + first
    for k in range(5):
        store8(signal, row + k * lanes, load8(bent, BENT * shelf + WIDTH * (5 + k)))


@law
def rise(signal: Array, first: int, lanes: int, share: float, out: Array) -> None:
    """What eight lanes add to each of their gains a frame, to out (4 x 8,): a share of what is missing."""
    for k in range(GAINS):
        now = load8(signal, (GAIN + k) * lanes + first)
        store8(out, WIDTH * k, (load8(signal, (TARGET + k) * lanes + first) - now) * splat8(share))


@law
def arrive(signal: Array, first: int, lanes: int) -> None:
    """Eight lanes have reached their gains."""
    for k in range(GAINS):
        store8(signal, (GAIN + k) * lanes + first, load8(signal, (TARGET + k) * lanes + first))


@law
def is_muffled(signal: Array, first: int, lanes: int, shelf: int) -> bool:
    """Whether one of eight shelves is more than a wire now or soon, or remembers something."""
    row, one = (SHELF + SHELF_ROWS * shelf) * lanes + first, splat8(_ONE)
    off = (one - load8(signal, row)) + (one - load8(signal, row + HF_TARGET * lanes))
    s1, s2 = load8(signal, row + S1 * lanes), load8(signal, row + S2 * lanes)
    kept = max8(max8(s1, splat8(_ZERO) - s1), max8(s2, splat8(_ZERO) - s2))
    return sum8(max8(off, kept)) != _ZERO


@law
def shelve(mono: Array, signal: Array, first: int, lanes: int, shelf: int, bent: Array, out: Array) -> None:
    """A quantum of eight lanes, mono (64 x 8,), through one of their shelves to out (64 x 8,).

    Transposed direct form II, which stays quiet while its coefficients move.
    """
    row, at = (SHELF + SHELF_ROWS * shelf) * lanes + first, BENT * shelf
    b0, b1 = load8(signal, row + B0 * lanes), load8(signal, row + B1 * lanes)
    b2, a1 = load8(signal, row + B2 * lanes), load8(signal, row + A1 * lanes)
    a2, s1 = load8(signal, row + A2 * lanes), load8(signal, row + S1 * lanes)
    s2 = load8(signal, row + S2 * lanes)
    for n in range(0, QUANTUM * WIDTH, WIDTH):
        b0, b1, b2 = b0 + load8(bent, at), b1 + load8(bent, at + 8), b2 + load8(bent, at + 16)
        a1, a2 = a1 + load8(bent, at + 24), a2 + load8(bent, at + 32)
        x = load8(mono, n)
        y = b0 * x + s1
        s1 = (b1 * x + s2) - a1 * y
        s2 = b2 * x - a2 * y
        store8(out, n, y)
    least = splat8(SILENT)  # denormals would cost a hundredfold
    store8(signal, row + S1 * lanes, flush8(s1, least))
    store8(signal, row + S2 * lanes, flush8(s2, least))


@law
def add_ears(
    mono: Array, signal: Array, first: int, lanes: int, bent: Array, risen: Array, sums: Array
) -> None:
    """Muffle a quantum of eight lanes and add it to the left and right sums.

    mono: (64 x 8,). signal: (37, lanes), moved on. bent, risen: what `bend` and `rise` left.
    sums: (64 x 4 x 8,).
    """
    row, at = SHELF * lanes + first, GAIN * lanes + first
    b0, b1 = load8(signal, row + B0 * lanes), load8(signal, row + B1 * lanes)
    b2, a1 = load8(signal, row + B2 * lanes), load8(signal, row + A1 * lanes)
    a2, s1 = load8(signal, row + A2 * lanes), load8(signal, row + S1 * lanes)
    s2 = load8(signal, row + S2 * lanes)
    left, right = load8(signal, at), load8(signal, at + RIGHT * lanes)
    for n in range(QUANTUM):
        b0, b1, b2 = b0 + load8(bent, 0), b1 + load8(bent, 8), b2 + load8(bent, 16)
        a1, a2 = a1 + load8(bent, 24), a2 + load8(bent, 32)
        x = load8(mono, 8 * n)
        y = b0 * x + s1
        s1 = (b1 * x + s2) - a1 * y
        s2 = b2 * x - a2 * y
        left, right = left + load8(risen, 8 * LEFT), right + load8(risen, 8 * RIGHT)
        store8(sums, 32 * n, load8(sums, 32 * n) + y * left)
        store8(sums, 32 * n + 8, load8(sums, 32 * n + 8) + y * right)
    least = splat8(SILENT)
    store8(signal, row + S1 * lanes, flush8(s1, least))
    store8(signal, row + S2 * lanes, flush8(s2, least))
    store8(signal, at, left)
    store8(signal, at + RIGHT * lanes, right)


@law
def add_sends(mono: Array, signal: Array, first: int, lanes: int, risen: Array, sums: Array) -> None:
    """Add a quantum of eight lanes, mono (64 x 8,), to what is sent into both reverbs, as it is."""
    at = GAIN * lanes + first
    to_near, to_far = load8(signal, at + NEAR * lanes), load8(signal, at + FAR * lanes)
    for n in range(QUANTUM):
        to_near, to_far = to_near + load8(risen, 8 * NEAR), to_far + load8(risen, 8 * FAR)
        x = load8(mono, 8 * n)
        store8(sums, 32 * n + 16, load8(sums, 32 * n + 16) + x * to_near)
        store8(sums, 32 * n + 24, load8(sums, 32 * n + 24) + x * to_far)
    store8(signal, at + NEAR * lanes, to_near)
    store8(signal, at + FAR * lanes, to_far)


@law
def add_muffled(
    mono: Array, signal: Array, first: int, lanes: int, bent: Array, risen: Array, sums: Array
) -> None:
    """Muffle a quantum of eight lanes three times and add it to all four sums: all in one loop, since a shelf
    waits for itself half of the time."""
    row, at = SHELF * lanes + first, GAIN * lanes + first
    near, far = row + SHELF_ROWS * lanes, row + 2 * SHELF_ROWS * lanes
    b0, b1 = load8(signal, row + B0 * lanes), load8(signal, row + B1 * lanes)
    b2, a1 = load8(signal, row + B2 * lanes), load8(signal, row + A1 * lanes)
    a2, s1 = load8(signal, row + A2 * lanes), load8(signal, row + S1 * lanes)
    c0, c1 = load8(signal, near + B0 * lanes), load8(signal, near + B1 * lanes)
    c2, d1 = load8(signal, near + B2 * lanes), load8(signal, near + A1 * lanes)
    d2, t1 = load8(signal, near + A2 * lanes), load8(signal, near + S1 * lanes)
    e0, e1 = load8(signal, far + B0 * lanes), load8(signal, far + B1 * lanes)
    e2, f1 = load8(signal, far + B2 * lanes), load8(signal, far + A1 * lanes)
    f2, u1 = load8(signal, far + A2 * lanes), load8(signal, far + S1 * lanes)
    s2, t2, u2 = (
        load8(signal, row + S2 * lanes),
        load8(signal, near + S2 * lanes),
        load8(signal, far + S2 * lanes),
    )
    left, right = load8(signal, at), load8(signal, at + RIGHT * lanes)
    to_near, to_far = load8(signal, at + NEAR * lanes), load8(signal, at + FAR * lanes)
    for n in range(QUANTUM):
        x = load8(mono, 8 * n)
        b0, b1, b2 = b0 + load8(bent, 0), b1 + load8(bent, 8), b2 + load8(bent, 16)
        a1, a2 = a1 + load8(bent, 24), a2 + load8(bent, 32)
        y = b0 * x + s1
        s1 = (b1 * x + s2) - a1 * y
        s2 = b2 * x - a2 * y
        left, right = left + load8(risen, 8 * LEFT), right + load8(risen, 8 * RIGHT)
        store8(sums, 32 * n, load8(sums, 32 * n) + y * left)
        store8(sums, 32 * n + 8, load8(sums, 32 * n + 8) + y * right)
        c0, c1, c2 = c0 + load8(bent, 80), c1 + load8(bent, 88), c2 + load8(bent, 96)
        d1, d2 = d1 + load8(bent, 104), d2 + load8(bent, 112)
        y = c0 * x + t1
        t1 = (c1 * x + t2) - d1 * y
        t2 = c2 * x - d2 * y
        to_near = to_near + load8(risen, 8 * NEAR)
        store8(sums, 32 * n + 16, load8(sums, 32 * n + 16) + y * to_near)
        e0, e1, e2 = e0 + load8(bent, 160), e1 + load8(bent, 168), e2 + load8(bent, 176)
        f1, f2 = f1 + load8(bent, 184), f2 + load8(bent, 192)
        y = e0 * x + u1
        u1 = (e1 * x + u2) - f1 * y
        u2 = e2 * x - f2 * y
        to_far = to_far + load8(risen, 8 * FAR)
        store8(sums, 32 * n + 24, load8(sums, 32 * n + 24) + y * to_far)
    least = splat8(SILENT)
    store8(signal, row + S1 * lanes, flush8(s1, least))
    store8(signal, row + S2 * lanes, flush8(s2, least))
    store8(signal, near + S1 * lanes, flush8(t1, least))
    store8(signal, near + S2 * lanes, flush8(t2, least))
    store8(signal, far + S1 * lanes, flush8(u1, least))
    store8(signal, far + S2 * lanes, flush8(u2, least))
    store8(signal, at, left)
    store8(signal, at + RIGHT * lanes, right)
    store8(signal, at + NEAR * lanes, to_near)
    store8(signal, at + FAR * lanes, to_far)


@law
def add_fading(
    direct: Array, near: Array, far: Array, signal: Array, first: int, lanes: int, step: float, risen: Array,
    sums: Array,
) -> None:  # fmt: skip
    """Add a quantum of eight lanes, each as muffled as it is to be, to all four sums with attack and release.

    After the shelves, which would ring on. step: what attack and release move a frame.
    """
    at, step8 = GAIN * lanes + first, splat8(step)
    fade, goal = load8(signal, FADE * lanes + first), load8(signal, FADE_TARGET * lanes + first)
    left, right = load8(signal, at), load8(signal, at + RIGHT * lanes)
    to_near, to_far = load8(signal, at + NEAR * lanes), load8(signal, at + FAR * lanes)
    for n in range(QUANTUM):
        fade = min8(max8(goal, fade - step8), fade + step8)
        left, right = left + load8(risen, 8 * LEFT), right + load8(risen, 8 * RIGHT)
        to_near, to_far = to_near + load8(risen, 8 * NEAR), to_far + load8(risen, 8 * FAR)
        y = load8(direct, 8 * n) * fade
        store8(sums, 32 * n, load8(sums, 32 * n) + y * left)
        store8(sums, 32 * n + 8, load8(sums, 32 * n + 8) + y * right)
        y, z = load8(near, 8 * n) * fade, load8(far, 8 * n) * fade
        store8(sums, 32 * n + 16, load8(sums, 32 * n + 16) + y * to_near)
        store8(sums, 32 * n + 24, load8(sums, 32 * n + 24) + z * to_far)
    store8(signal, FADE * lanes + first, fade)
    store8(signal, at, left)
    store8(signal, at + RIGHT * lanes, right)
    store8(signal, at + NEAR * lanes, to_near)
    store8(signal, at + FAR * lanes, to_far)
