"""Reverberation: a feedback delay network behind a pre-delay and four all-passes; it sleeps in silence.

Every delay is longer than a quantum: so a quantum is taken out of all of them, worked on, and put in again.
"""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.hadamard import (
    AWAKE,
    BEFORE,
    CLOSES,
    CLOSING,
    END,
    FACTOR,
    FADING,
    LEFT,
    LINES,
    MOVED,
    NOW,
    OPENING,
    PLACE,
    QUANTUM,
    QUIET,
    QUIETEST,
    RIGHT,
    ROWS,
    SENT,
    STEP,
    WANTED,
    absorb,
    absorb_moving,
    approach,
    behind,
    feed,
    hush,
    listen,
    restrain,
)  # fmt: skip
from ecs_audio.kernels.jit import F4_1, F4_2, I8, I8_1, Array, kernel, law
from ecs_audio.kernels.simd import WIDTH, by_turns, load8, load16, splat8, store8, store16, sum8

ALL_PASSES = 4
PRE_DELAY = LINES + ALL_PASSES
"""Place of the pre-delay among the rings; lines and all-passes come before it."""
DIFFUSION = np.float32(0.6)
FADE = 1024
"""Frames of a change of the pre-delay."""
DEAF = 5
"""After a closing, nothing is let in for so many times as long: until what was sent before has faded."""
CALM = 1024
"""Frames for which filters are watched after their coefficients moved."""


@law
def turn(rings: Array, clock: Array) -> None:
    """Go on to the next quantum of all rings, after one was written.

    The first quantum stands a second time behind the last one, so that any 64 frames are in one piece.
    """
    stride = rings.shape[1]
    if clock[PLACE] == 0:
        for first in range(0, rings.shape[0] * stride, stride):
            for n in range(first, first + QUANTUM, WIDTH):
                store8(rings, n + stride - QUANTUM, load8(rings, n))
    clock[PLACE] = (clock[PLACE] + QUANTUM) % (stride - QUANTUM)


@law
def delay(rings: Array, clock: Array, scratch: Array) -> None:
    """Put what is sent into the ring of the pre-delay, and in its stead what was sent a while ago.

    A change of the delay is a cross-fade between two places in the ring.
    """
    to = behind(rings, clock, PRE_DELAY, 0)
    for n in range(0, QUANTUM, WIDTH):
        store8(rings, to + n, hush(load8(scratch, SENT + n)))
        if clock[PLACE] == 0:
            store8(rings, to + n + rings.shape[1] - QUANTUM, hush(load8(scratch, SENT + n)))
    wanted = min(max(clock[WANTED], 0), rings.shape[1] - 2 * QUANTUM)
    if clock[FADING] == 0 and clock[NOW] != wanted:
        clock[BEFORE], clock[NOW], clock[FADING] = clock[NOW], wanted, FADE
    after = behind(rings, clock, PRE_DELAY, clock[NOW])
    before = behind(rings, clock, PRE_DELAY, clock[BEFORE])
    for n in range(0, QUANTUM, WIDTH):
        store8(scratch, SENT + n, load8(rings, after + n))
    if clock[FADING] > 0:
        for n in range(QUANTUM):  # what is left of the old one, where the left ear's samples will be
            scratch[LEFT + n] = (clock[FADING] - n) * np.float32(1.0 / FADE)
        for n in range(0, QUANTUM, WIDTH):
            x = load8(scratch, SENT + n)
            store8(scratch, SENT + n, x + (load8(rings, before + n) - x) * load8(scratch, LEFT + n))
        clock[FADING] -= QUANTUM


@law
def smear(rings: Array, clock: Array, k: int, frames: int, scratch: Array) -> None:
    """Schroeder's all-pass (1962) over what is sent, (g + z^-d) / (1 + g z^-d), in ring k."""
    g, at, to = splat8(DIFFUSION), behind(rings, clock, k, frames), behind(rings, clock, k, 0)
    for n in range(0, QUANTUM, WIDTH):
        past = load8(rings, at + n)
        x = load8(scratch, SENT + n) - g * past
        store8(rings, to + n, hush(x))
        store8(scratch, SENT + n, past + g * x)


@law
def take(sent: Array, at: int, clock: Array, scratch: Array) -> bool:
    """Take a quantum that is sent, rising after a closing; returns whether there is sound in it."""
    energy = splat8(np.float32(0.0))
    for n in range(0, QUANTUM, WIDTH):
        x = load8(sent, at + n)
        energy = energy + x * x
        store8(scratch, SENT + n, x)
    if clock[OPENING] > 0:
        for n in range(QUANTUM):
            left = min(max(clock[OPENING] - n, 0), clock[CLOSES])
            scratch[SENT + n] *= np.float32(1.0 - left / clock[CLOSES])
        clock[OPENING] = max(clock[OPENING] - QUANTUM, 0)
    return not sum8(energy) <= QUIETEST


@law
def give(clock: Array, scratch: Array, out: Array, at: int) -> bool:
    """Add left and right to out, fading while the bus is closing; returns whether it has just closed."""
    if clock[CLOSING] > 0:
        for n in range(QUANTUM):
            left = max(clock[CLOSING] - n, 0)
            scratch[LEFT + n] *= np.float32(left / clock[CLOSES])
            scratch[RIGHT + n] *= np.float32(left / clock[CLOSES])
    for n in range(0, QUANTUM, WIDTH):
        ears, to = by_turns(load8(scratch, LEFT + n), load8(scratch, RIGHT + n)), 2 * (at + n)
        store16(out, to, load16(out, to) + ears)
    closing = clock[CLOSING] > 0
    clock[CLOSING] = max(clock[CLOSING] - QUANTUM, 0)
    return closing and clock[CLOSING] == 0


@law
def forget(clock: Array, rings: Array, memory: Array, scratch: Array) -> None:
    """Sleep: nothing is left anywhere."""
    for k in range(rings.shape[0]):
        for n in range(rings.shape[1]):
            rings[k, n] = 0.0
    for n in range(memory.shape[0]):
        memory[n] = 0.0
    for n in range(scratch.shape[0]):
        scratch[n] = 0.0
    clock[AWAKE] = clock[CLOSING] = clock[FADING] = clock[QUIET] = clock[MOVED] = 0


@law
def wake(clock: Array, now: Array, target: Array, longest: int) -> None:
    """Nothing sounds: coefficients and the pre-delay are where they are to be."""
    for n in range(now.shape[0]):
        now[n] = target[n]
    clock[NOW], clock[AWAKE] = min(max(clock[WANTED], 0), longest), 1


@kernel(I8, I8, F4_1, I8_1, F4_2, F4_1, F4_1, F4_1, I8_1, F4_1, F4_2)
def reverberate(
    quanta: int,
    ramp: int,
    sent: Array,
    length: Array,
    rings: Array,
    memory: Array,
    now: Array,
    target: Array,
    clock: Array,
    scratch: Array,
    out: Array,
) -> int:
    """Add the next quanta of one bus to out; returns 1 while it is awake, 0 while it sleeps.

    ramp: frames until the coefficients reach their targets, in a line; 64 or fewer are one quantum.
    sent: (64 x quanta or more,) what goes in. out: (64 x quanta or more, 2). The others: attributes of `Bus`.

    A bus in which nothing above 1e-15 was put for longer than it takes to pass through is emptied and sleeps.
    Asleep it costs nothing, and what is sent next finds coefficients and pre-delay at their targets. What was
    sent until it has closed is forgotten, and for 50 ms nothing is let in; what is sent then rises.
    """
    passing = 2 * rings.shape[1]
    for k in range(LINES, PRE_DELAY):
        passing += length[k]
    for q in range(quanta):
        part = np.float32(QUANTUM / ramp) if ramp > QUANTUM else np.float32(1.0)
        ramp -= QUANTUM
        loud = take(sent, QUANTUM * q, clock, scratch)
        if clock[AWAKE] == 0:
            if not loud:
                continue
            wake(clock, now, target, rings.shape[1] - 2 * QUANTUM)
        delay(rings, clock, scratch)
        for k in range(LINES, PRE_DELAY):
            smear(rings, clock, k, length[k], scratch)
        listen(rings, clock, length, scratch)
        moving = approach(now, target, part, scratch)
        if moving:
            absorb_moving(now, memory, scratch)
        else:
            absorb(now, memory, scratch)
        clock[MOVED] = CALM if moving else max(clock[MOVED] - QUANTUM, 0)
        if clock[MOVED] > 0:
            restrain(scratch)
        loud = feed(rings, clock, now[FACTOR], scratch[STEP + FACTOR], scratch) or loud
        turn(rings, clock)
        if moving:
            for n in range(0, ROWS * LINES, WIDTH):
                store8(now, n, load8(scratch, END + n))
        closed = give(clock, scratch, out, QUANTUM * q)
        clock[QUIET] = 0 if loud else clock[QUIET] + QUANTUM
        if closed or clock[QUIET] > passing:
            forget(clock, rings, memory, scratch)
            if closed:
                clock[OPENING] = (1 + DEAF) * clock[CLOSES]
    return clock[AWAKE]
