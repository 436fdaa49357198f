"""What sixteen channel strips are set to: muffling, fade, gains at the ears and into the reverbs."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.shelf import shelf_of
from ecs_audio.kernels.simd import WIDE, load16, max16, splat16, store16, sum16

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
BENT, STEPS = 10 * WIDE, 5 * WIDE
"""Numbers that `bend` and `hold` leave for sixteen shelves: coefficients, and their steps a frame."""

ONE, TWO, ZERO = np.float32(1.0), np.float32(2.0), np.float32(0.0)


@law
def bend(
    signal: Array, first: int, lanes: int, shelf: int, part: float, cos: float, alpha: float, out: Array
) -> None:
    """Move sixteen shelves on their way; their coefficients go to out, 5 x 16 numbers, then what is added to
    them a frame.

    signal: (37, lanes). first: of the sixteen. shelf: 0 of the direct sound, 1 near, 2 far; out: from
    160 times that on. part: share of the way from hf to its target, 1 is there exactly. cos, alpha: of the
    corner, see `corner_of`.
    """
    row, to = (SHELF + SHELF_ROWS * shelf) * lanes + first, BENT * shelf
    h, target = load16(signal, row + HF * lanes), load16(signal, row + HF_TARGET * lanes)
    h = h + (target - h) * splat16(part) if part < ONE else target
    store16(signal, row + HF * lanes, h)
    coefficients = shelf_of(h, splat16(cos), splat16(alpha), splat16(ONE), splat16(TWO))
    at, share = row + B0 * lanes, splat16(SHARE)
    for k in range(5):
        now = load16(signal, at + k * lanes)
        store16(out, to + WIDE * k, now)
        store16(out, to + STEPS + WIDE * k, (coefficients[k] - now) * share)
        store16(signal, at + k * lanes, coefficients[k])


@law
def hold(signal: Array, first: int, lanes: int, shelf: int, out: Array) -> None:
    """The same for sixteen shelves at rest: what `bend` would say, which would divide for it."""
    at, to = (SHELF + SHELF_ROWS * shelf + B0) * lanes + first, BENT * shelf
    for k in range(5):
        store16(out, to + WIDE * k, load16(signal, at + k * lanes))
        store16(out, to + STEPS + WIDE * k, splat16(ZERO))


@law
def differ(signal: Array, a: int, b: int) -> bool:
    """Whether sixteen neighbours from a on are others than those from b on."""
    off = load16(signal, a) - load16(signal, b)
    return sum16(max16(off, splat16(ZERO) - off)) != ZERO


@law
def is_bending(signal: Array, first: int, lanes: int, shelf: int) -> bool:
    """Whether one of sixteen shelves is on its way."""
    row = (SHELF + SHELF_ROWS * shelf) * lanes + first
    return differ(signal, row + HF * lanes, row + HF_TARGET * lanes)


@law
def is_muffled(signal: Array, first: int, lanes: int, shelf: int) -> bool:
    """Whether one of sixteen shelves is more than a wire now or soon, or remembers something."""
    row, one = (SHELF + SHELF_ROWS * shelf) * lanes + first, splat16(ONE)
    off = (one - load16(signal, row)) + (one - load16(signal, row + HF_TARGET * lanes))
    s1, s2 = load16(signal, row + S1 * lanes), load16(signal, row + S2 * lanes)
    kept = max16(max16(s1, splat16(ZERO) - s1), max16(s2, splat16(ZERO) - s2))
    return sum16(max16(off, kept)) != ZERO


@law
def are_alike(signal: Array, first: int, lanes: int) -> bool:
    """Whether the near and the far shelves of sixteen lanes are the same, and remember the same."""
    near, apart = (SHELF + SHELF_ROWS) * lanes + first, SHELF_ROWS * lanes
    for row in (HF, HF_TARGET, S1, S2):
        if differ(signal, near + row * lanes, near + row * lanes + apart):
            return False
    return True


@law
def sent_by(signal: Array, first: int, lanes: int, bus: int) -> bool:
    """Whether one of sixteen lanes sends into a reverb, NEAR or FAR, now or soon."""
    now, target = load16(signal, (GAIN + bus) * lanes + first), load16(signal, (TARGET + bus) * lanes + first)
    return sum16(max16(now, target)) != ZERO


@law
def rise(signal: Array, first: int, lanes: int, share: float, out: Array) -> None:
    """What sixteen lanes add to each of their gains a frame, to out (4 x 16,): a share of what is missing."""
    for k in range(GAINS):
        now = load16(signal, (GAIN + k) * lanes + first)
        store16(out, WIDE * k, (load16(signal, (TARGET + k) * lanes + first) - now) * splat16(share))


@law
def arrive(signal: Array, first: int, lanes: int) -> None:
    """Sixteen lanes have reached their gains."""
    for k in range(GAINS):
        store16(signal, (GAIN + k) * lanes + first, load16(signal, (TARGET + k) * lanes + first))
