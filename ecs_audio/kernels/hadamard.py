"""The feedback of a reverb: eight lines are heard, filtered, mixed by a Hadamard matrix, and fed again.

A feedback delay network (Jot and Chaigne 1991). The matrix is orthonormal, so only the filters take energy
away. Samples stand line by line, so that ears and matrix are sums of vectors; filters take all lines at once.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.simd import WIDTH, load8, splat8, store8, sum8, transpose8

QUANTUM = 64
LINES = WIDTH
ROWS = 16
"""Of coefficients: b0, b1, b2, a1, a2 of three filters, and the factor of what goes in."""
FACTOR = 15 * LINES
"""Place of that factor."""
ORTHONORMAL = np.float32(math.sqrt(1.0 / LINES))
SHARE = np.float32(1.0 / QUANTUM)
HUSH = np.float32(2.0**-37)
"""Added and taken away again it leaves multiples of 4e-19, whose squares are normal, and nothing smaller."""
QUIETEST = np.float32(1e-30)
"""Square of what counts as sound: 1e-15."""
# Places in the clock of a bus.
WANTED, NOW, BEFORE, FADING, QUIET, AWAKE, CLOSING, CLOSES, MOVED, PLACE, OPENING = range(11)
# Places in its scratch: blocks of 8 lines x 8 frames, the same frame by frame, what is sent, left and right,
# and the coefficients' steps and ends.
BLOCKS, FRAMES, SENT, LEFT, RIGHT, STEP, END = 0, 512, 1024, 1088, 1152, 1216, 1344


@law
def hush(x: Array) -> Array:
    """Eight numbers without their parts below 4e-19, so that no denormals come of them."""
    tiny = splat8(HUSH)
    return (x + tiny) - tiny


@law
def behind(rings: Array, clock: Array, k: int, frames: int) -> int:
    """Flat place of the 64 frames of ring k that were written so many frames before those of now."""
    stride = rings.shape[1]
    at = clock[PLACE] - frames
    return stride * k + (at if at >= 0 else at + stride - QUANTUM)


@law
def listen(rings: Array, clock: Array, length: Array, scratch: Array) -> None:
    """Take a quantum out of each line: to the ears with orthogonal signs, to the filters frame by frame."""
    scale = splat8(ORTHONORMAL)
    at0, at1 = behind(rings, clock, 0, length[0]), behind(rings, clock, 1, length[1])
    at2, at3 = behind(rings, clock, 2, length[2]), behind(rings, clock, 3, length[3])
    at4, at5 = behind(rings, clock, 4, length[4]), behind(rings, clock, 5, length[5])
    at6, at7 = behind(rings, clock, 6, length[6]), behind(rings, clock, 7, length[7])
    for n in range(0, QUANTUM, WIDTH):
        a, b, c = load8(rings, at0 + n), load8(rings, at1 + n), load8(rings, at2 + n)
        d, e, f = load8(rings, at3 + n), load8(rings, at4 + n), load8(rings, at5 + n)
        g, h = load8(rings, at6 + n), load8(rings, at7 + n)
        store8(scratch, LEFT + n, (((a + b) + (c + d)) - ((e + f) + (g + h))) * scale)
        store8(scratch, RIGHT + n, (((a - b) + (c - d)) + ((e - f) + (g - h))) * scale)
        at = BLOCKS + 8 * n
        store8(scratch, at, a)
        store8(scratch, at + 8, b)
        store8(scratch, at + 16, c)
        store8(scratch, at + 24, d)
        store8(scratch, at + 32, e)
        store8(scratch, at + 40, f)
        store8(scratch, at + 48, g)
        store8(scratch, at + 56, h)
        transpose8(scratch, at, WIDTH, scratch, FRAMES + 8 * n)


@law
def approach(now: Array, target: Array, part: float, scratch: Array) -> bool:
    """Steps and ends of the coefficients, which go a part of their way in a quantum; whether they move."""
    share, moved = splat8(part), splat8(np.float32(0.0))
    for n in range(0, ROWS * LINES, WIDTH):
        move = (load8(target, n) - load8(now, n)) * share
        moved = moved + move * move
        store8(scratch, STEP + n, move * splat8(SHARE))
        store8(scratch, END + n, load8(now, n) + move if part < 1.0 else load8(target, n))
    return sum8(moved) != 0.0


@law
def absorb(now: Array, memory: Array, scratch: Array) -> None:
    """Three filters of each line over a quantum, eight lines at a time, in transposed direct form II.

    All three at once, so that none waits for another. Coefficients are read from memory each time: registers
    are few, and the filters' memory needs them more.
    """
    p, q, r = load8(memory, 0), load8(memory, 16), load8(memory, 32)
    s, t, u = load8(memory, 8), load8(memory, 24), load8(memory, 40)
    for n in range(FRAMES, FRAMES + QUANTUM * LINES, LINES):
        x = load8(scratch, n)
        y = load8(now, 0) * x + p
        p = (load8(now, 8) * x + s) - load8(now, 24) * y
        s = load8(now, 16) * x - load8(now, 32) * y
        z = load8(now, 40) * y + q
        q = (load8(now, 48) * y + t) - load8(now, 64) * z
        t = load8(now, 56) * y - load8(now, 72) * z
        v = load8(now, 80) * z + r
        r = (load8(now, 88) * z + u) - load8(now, 104) * v
        u = load8(now, 96) * z - load8(now, 112) * v
        store8(scratch, n, v)
    store8(memory, 0, hush(p))
    store8(memory, 8, hush(s))
    store8(memory, 16, hush(q))
    store8(memory, 24, hush(t))
    store8(memory, 32, hush(r))
    store8(memory, 40, hush(u))


@law
def absorb_moving(now: Array, memory: Array, scratch: Array) -> None:
    """The same while coefficients move by their steps, which the form bears; one filter after another."""
    for k in range(3):
        at = 5 * WIDTH * k
        b0, b1, b2 = load8(now, at), load8(now, at + 8), load8(now, at + 16)
        a1, a2 = load8(now, at + 24), load8(now, at + 32)
        p, s = load8(memory, 16 * k), load8(memory, 16 * k + 8)
        for n in range(FRAMES, FRAMES + QUANTUM * LINES, LINES):
            b0, b1 = b0 + load8(scratch, STEP + at), b1 + load8(scratch, STEP + at + 8)
            b2, a1 = b2 + load8(scratch, STEP + at + 16), a1 + load8(scratch, STEP + at + 24)
            a2 = a2 + load8(scratch, STEP + at + 32)
            x = load8(scratch, n)
            y = b0 * x + p
            p = (b1 * x + s) - a1 * y
            s = b2 * x - a2 * y
            store8(scratch, n, y)
        store8(memory, 16 * k, hush(p))
        store8(memory, 16 * k + 8, hush(s))


@law
def restrain(scratch: Array) -> None:
    """Turn down what comes out of the filters where it has more energy than what went in.

    Filters at rest never give more than they got; moving ones may for a moment, if reverberation times jump.
    """
    got, given = splat8(np.float32(0.0)), splat8(np.float32(0.0))
    for n in range(0, QUANTUM * LINES, WIDTH):
        x, y = load8(scratch, BLOCKS + n), load8(scratch, FRAMES + n)
        got, given = got + x * x, given + y * y
    most, energy = sum8(got), sum8(given)
    if energy > most:
        gain = splat8(np.float32(math.sqrt(most / energy)))
        for n in range(0, QUANTUM * LINES, WIDTH):
            store8(scratch, FRAMES + n, load8(scratch, FRAMES + n) * gain)


@law
def feed(rings: Array, clock: Array, factor: float, step: float, scratch: Array) -> bool:
    """Mix what comes out of the filters, add what is sent, and put it into the lines.

    factor, step: of what is sent, moved on by a step each frame. Returns whether there is sound in it.
    """
    scale, energy = splat8(ORTHONORMAL), splat8(np.float32(0.0))
    for k in range(WIDTH):
        scratch[STEP + k] = factor + step * np.float32(k + 1)
    to, stride = behind(rings, clock, 0, 0), rings.shape[1]
    to0, to1, to2, to3 = to + 0 * stride, to + 1 * stride, to + 2 * stride, to + 3 * stride
    to4, to5, to6, to7 = to + 4 * stride, to + 5 * stride, to + 6 * stride, to + 7 * stride
    gain, step8 = load8(scratch, STEP), splat8(step * np.float32(WIDTH))
    for n in range(0, QUANTUM, WIDTH):
        at = BLOCKS + 8 * n
        transpose8(scratch, FRAMES + 8 * n, WIDTH, scratch, at)
        a, b, c, d = (
            load8(scratch, at),
            load8(scratch, at + 8),
            load8(scratch, at + 16),
            load8(scratch, at + 24),
        )
        e, f = load8(scratch, at + 32), load8(scratch, at + 40)
        g, h = load8(scratch, at + 48), load8(scratch, at + 56)
        a, b, c, d, e, f, g, h = a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h
        a, b, c, d, e, f, g, h = a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h
        a, b, c, d, e, f, g, h = a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h
        x = load8(scratch, SENT + n) * gain
        gain = gain + step8
        a, b, c, d = hush(a * scale + x), hush(b * scale + x), hush(c * scale + x), hush(d * scale + x)
        e, f, g, h = hush(e * scale + x), hush(f * scale + x), hush(g * scale + x), hush(h * scale + x)
        energy = energy + (((a * a + b * b) + (c * c + d * d)) + ((e * e + f * f) + (g * g + h * h)))
        store8(rings, to0 + n, a)
        store8(rings, to1 + n, b)
        store8(rings, to2 + n, c)
        store8(rings, to3 + n, d)
        store8(rings, to4 + n, e)
        store8(rings, to5 + n, f)
        store8(rings, to6 + n, g)
        store8(rings, to7 + n, h)
    return sum8(energy) > QUIETEST
