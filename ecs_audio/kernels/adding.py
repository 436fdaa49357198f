"""A quantum of sixteen lanes is muffled and added to the sums: at the ears, and into the reverbs.

Shelves are in transposed direct form II, which stays quiet while their coefficients move. A shelf waits for
itself half of the time, so those of one lane share a loop.
"""

from __future__ import annotations

from typing import Any

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.shelf import SILENT
from ecs_audio.kernels.simd import WIDE, flush16, load16, max16, min16, splat16, store16
from ecs_audio.kernels.strip import (
    BENT,
    FADE,
    FADE_TARGET,
    FAR,
    GAIN,
    LEFT,
    NEAR,
    OUTS,
    QUANTUM,
    RIGHT,
    S1,
    S2,
    SHELF,
    SHELF_ROWS,
    STEPS,
    are_alike,
    arrive,
    bend,
    hold,
    is_bending,
    is_muffled,
    rise,
    sent_by,
)

FRAME, ALL = OUTS * WIDE, QUANTUM * WIDE
"""Numbers in the sums for each frame; samples of sixteen lanes in a quantum."""


@law
def keep(signal: Array, first: int, lanes: int, shelf: int, s1: Any, s2: Any) -> None:
    """Note what sixteen shelves remember; denormals would cost a hundredfold."""
    row = (SHELF + SHELF_ROWS * shelf) * lanes + first
    store16(signal, row + S1 * lanes, flush16(s1, splat16(SILENT)))
    store16(signal, row + S2 * lanes, flush16(s2, splat16(SILENT)))


@law
def add(sums: Array, at: int, x: Any) -> None:
    """Add sixteen numbers to those from sums[at] on."""
    store16(sums, at, load16(sums, at) + x)


@law
def shelve(mono: Array, signal: Array, first: int, lanes: int, shelf: int, bent: Array, out: Array) -> None:
    """A quantum of sixteen lanes, mono (64 x 16,), through one of their shelves to its place in out
    (3 x 64 x 16,)."""
    row, at = (SHELF + SHELF_ROWS * shelf) * lanes + first, BENT * shelf
    b0, b1, b2 = load16(bent, at), load16(bent, at + 16), load16(bent, at + 32)
    a1, a2 = load16(bent, at + 48), load16(bent, at + 64)
    s1, s2 = load16(signal, row + S1 * lanes), load16(signal, row + S2 * lanes)
    at += STEPS
    for n in range(0, QUANTUM * WIDE, WIDE):
        b0, b1, b2 = b0 + load16(bent, at), b1 + load16(bent, at + 16), b2 + load16(bent, at + 32)
        a1, a2 = a1 + load16(bent, at + 48), a2 + load16(bent, at + 64)
        x = load16(mono, n)
        y = b0 * x + s1
        s1, s2 = (b1 * x + s2) - a1 * y, b2 * x - a2 * y
        store16(out, ALL * shelf + n, y)
    keep(signal, first, lanes, shelf, s1, s2)


@law
def add_ears(
    mono: Array, signal: Array, first: int, lanes: int, bent: Array, steps: Array | None,
    risen: Array, sums: Array,
) -> None:  # fmt: skip
    """Muffle a quantum of sixteen lanes and add it to the left and right sums.

    mono: (64 x 16,). signal: (37, lanes), moved on. bent, risen: what `bend` and `rise` left. steps: bent
    from STEPS on, or None where shelves are at rest. sums: (64 x 4 x 16,).
    """
    row, at = SHELF * lanes + first, GAIN * lanes + first
    b0, b1, b2 = load16(bent, 0), load16(bent, 16), load16(bent, 32)
    a1, a2 = load16(bent, 48), load16(bent, 64)
    s1, s2 = load16(signal, row + S1 * lanes), load16(signal, row + S2 * lanes)
    left, right = load16(signal, at), load16(signal, at + RIGHT * lanes)
    for n in range(QUANTUM):
        if steps is not None:
            b0, b1, b2 = b0 + load16(steps, 0), b1 + load16(steps, 16), b2 + load16(steps, 32)
            a1, a2 = a1 + load16(steps, 48), a2 + load16(steps, 64)
        x = load16(mono, WIDE * n)
        y = b0 * x + s1
        s1, s2 = (b1 * x + s2) - a1 * y, b2 * x - a2 * y
        left, right = left + load16(risen, WIDE * LEFT), right + load16(risen, WIDE * RIGHT)
        add(sums, FRAME * n, y * left)
        add(sums, FRAME * n + WIDE * RIGHT, y * right)
    keep(signal, first, lanes, 0, s1, s2)
    store16(signal, at, left)
    store16(signal, at + RIGHT * lanes, right)


@law
def add_sends(mono: Array, signal: Array, first: int, lanes: int, risen: Array, sums: Array) -> None:
    """Add a quantum of sixteen lanes, mono (64 x 16,), to what is sent into both reverbs, as it is."""
    at = GAIN * lanes + first
    to_near, to_far = load16(signal, at + NEAR * lanes), load16(signal, at + FAR * lanes)
    for n in range(QUANTUM):
        to_near, to_far = to_near + load16(risen, WIDE * NEAR), to_far + load16(risen, WIDE * FAR)
        x = load16(mono, WIDE * n)
        add(sums, FRAME * n + WIDE * NEAR, x * to_near)
        add(sums, FRAME * n + WIDE * FAR, x * to_far)
    store16(signal, at + NEAR * lanes, to_near)
    store16(signal, at + FAR * lanes, to_far)


@law
def add_both(
    mono: Array, signal: Array, first: int, lanes: int, bent: Array, steps: Array | None,
    risen: Array, sums: Array,
) -> None:  # fmt: skip
    """The same to all four sums, muffled for the ears, and once for both reverbs, whose shelves are alike."""
    row, at = SHELF * lanes + first, GAIN * lanes + first
    send, apart = row + SHELF_ROWS * lanes, BENT
    b0, b1, b2 = load16(bent, 0), load16(bent, 16), load16(bent, 32)
    a1, a2 = load16(bent, 48), load16(bent, 64)
    s1, s2 = load16(signal, row + S1 * lanes), load16(signal, row + S2 * lanes)
    c0, c1, c2 = load16(bent, apart), load16(bent, apart + 16), load16(bent, apart + 32)
    d1, d2 = load16(bent, apart + 48), load16(bent, apart + 64)
    t1, t2 = load16(signal, send + S1 * lanes), load16(signal, send + S2 * lanes)
    left, right = load16(signal, at), load16(signal, at + RIGHT * lanes)
    to_near, to_far = load16(signal, at + NEAR * lanes), load16(signal, at + FAR * lanes)
    for n in range(QUANTUM):
        if steps is not None:
            b0, b1, b2 = b0 + load16(steps, 0), b1 + load16(steps, 16), b2 + load16(steps, 32)
            a1, a2 = a1 + load16(steps, 48), a2 + load16(steps, 64)
            c0, c1 = c0 + load16(steps, apart), c1 + load16(steps, apart + 16)
            c2, d1 = c2 + load16(steps, apart + 32), d1 + load16(steps, apart + 48)
            d2 = d2 + load16(steps, apart + 64)
        x = load16(mono, WIDE * n)
        y = b0 * x + s1
        s1, s2 = (b1 * x + s2) - a1 * y, b2 * x - a2 * y
        z = c0 * x + t1
        t1, t2 = (c1 * x + t2) - d1 * z, c2 * x - d2 * z
        left, right = left + load16(risen, WIDE * LEFT), right + load16(risen, WIDE * RIGHT)
        to_near, to_far = to_near + load16(risen, WIDE * NEAR), to_far + load16(risen, WIDE * FAR)
        add(sums, FRAME * n, y * left)
        add(sums, FRAME * n + WIDE * RIGHT, y * right)
        add(sums, FRAME * n + WIDE * NEAR, z * to_near)
        add(sums, FRAME * n + WIDE * FAR, z * to_far)
    keep(signal, first, lanes, 0, s1, s2)
    keep(signal, first, lanes, 1, t1, t2)
    keep(signal, first, lanes, 2, t1, t2)
    store16(signal, at, left)
    store16(signal, at + RIGHT * lanes, right)
    store16(signal, at + NEAR * lanes, to_near)
    store16(signal, at + FAR * lanes, to_far)


@law
def add_strips(
    muffled: Array, signal: Array, first: int, lanes: int, step: float, risen: Array, sums: Array
) -> None:
    """Add a quantum of sixteen lanes, muffled already, to all four sums with attack and release.

    After the shelves, which would ring on. muffled: what `shelve` left. step: of attack and release, a frame.
    """
    at, step16 = GAIN * lanes + first, splat16(step)
    fade, goal = load16(signal, FADE * lanes + first), load16(signal, FADE_TARGET * lanes + first)
    left, right = load16(signal, at), load16(signal, at + RIGHT * lanes)
    to_near, to_far = load16(signal, at + NEAR * lanes), load16(signal, at + FAR * lanes)
    for n in range(QUANTUM):
        fade = min16(max16(goal, fade - step16), fade + step16)
        left, right = left + load16(risen, WIDE * LEFT), right + load16(risen, WIDE * RIGHT)
        to_near, to_far = to_near + load16(risen, WIDE * NEAR), to_far + load16(risen, WIDE * FAR)
        y = load16(muffled, WIDE * n) * fade
        add(sums, FRAME * n, y * left)
        add(sums, FRAME * n + WIDE * RIGHT, y * right)
        y = load16(muffled, ALL + WIDE * n) * fade
        z = load16(muffled, 2 * ALL + WIDE * n) * fade
        add(sums, FRAME * n + WIDE * NEAR, y * to_near)
        add(sums, FRAME * n + WIDE * FAR, z * to_far)
    store16(signal, FADE * lanes + first, fade)
    store16(signal, at, left)
    store16(signal, at + RIGHT * lanes, right)
    store16(signal, at + NEAR * lanes, to_near)
    store16(signal, at + FAR * lanes, to_far)


@law
def mix_sixteen(
    mono: Array, rest: Array, signal: Array, first: int, lanes: int, fresh: bool, fading: bool,
    part: float, a_frame: float, cos: float, alpha: float, step: float, bent: Array, risen: Array,
    sums: Array,
) -> int:  # fmt: skip
    """Muffle a quantum of sixteen lanes, mono (64 x 16,), and add it to the sums.

    rest: (3 x 64 x 16,) scratch. fresh: whether one has just begun, with coefficients that may be rounded
    otherwise than those of `bend`. Returns which reverbs it is sent into, bit 0 near, bit 1 far.
    """
    rise(signal, first, lanes, a_frame, risen)
    buses = 1 if sent_by(signal, first, lanes, NEAR) else 0
    buses |= 2 if sent_by(signal, first, lanes, FAR) else 0
    muffled = buses > 0 and (is_muffled(signal, first, lanes, 1) or is_muffled(signal, first, lanes, 2))
    alike, bending = muffled and are_alike(signal, first, lanes), False
    for shelf in range(3 if muffled or fading else 1):
        if fresh or is_bending(signal, first, lanes, shelf):
            bend(signal, first, lanes, shelf, part, cos, alpha, bent)
            bending = True
        else:
            hold(signal, first, lanes, shelf, bent)
    steps = bent[STEPS:]
    if fading or (muffled and not alike):
        for shelf in range(3):
            shelve(mono, signal, first, lanes, shelf, bent, rest)
        add_strips(rest, signal, first, lanes, step, risen, sums)
    elif muffled:
        if bending:
            add_both(mono, signal, first, lanes, bent, steps, risen, sums)
        else:
            add_both(mono, signal, first, lanes, bent, None, risen, sums)
    else:
        if bending:
            add_ears(mono, signal, first, lanes, bent, steps, risen, sums)
        else:
            add_ears(mono, signal, first, lanes, bent, None, risen, sums)
        if buses:
            add_sends(mono, signal, first, lanes, risen, sums)
    if part >= 1.0:
        arrive(signal, first, lanes)
    return buses
