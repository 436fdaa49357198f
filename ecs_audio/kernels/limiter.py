"""The last hop: no sample above the ceiling, and not a bit changed below it."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import F4_1, F4_2, F8, I8, Array, kernel, law
from ecs_audio.kernels.simd import WIDE, load16, max16, min16, splat16, store16, sum16

AHEAD = 64
CEILING = np.float32(10.0 ** (-0.3 / 20.0))
"""-0.3 dBFS."""
RELEASE_SECONDS = 0.2
WHOLE = np.float32(0.9995)
"""A gain above it is exactly 1 again."""
BEYOND = np.float32(1.02)
"""What the release heads for: an exponential never arrives at 1, but passes it within 0.8 s."""


@law
def limit_quantum(
    share: float,
    mixed: Array,
    delayed: Array,
    needed: Array,
    held: Array,
    scratch: Array,
    state: Array,
    out: Array,
) -> None:
    """Give out the quantum before `mixed`, turned down ahead of any peak in `mixed`.

    The gain needed by each frame is held as long as the look-ahead, released exponentially, and
    averaged over the look-ahead: it has reached what a peak needs exactly when the peak comes.
    """
    one = np.float32(1.0)
    after, rest = scratch[0], scratch[1]
    lowest, total = one, 0.0
    for n in range(AHEAD - 1, -1, -1):  # what the previous quantum still asks for from frame n on
        lowest = min(lowest, needed[n])
        after[n], rest[n] = lowest, total
        total += held[n]
    gain, smallest, lowest, total = state[0], state[1], one, 0.0
    for n in range(AHEAD):
        peak = max(abs(mixed[n, 0]), abs(mixed[n, 1]))
        needed[n] = CEILING / peak if peak > CEILING else one
        lowest = min(lowest, needed[n])
        gain = min(gain + (BEYOND - gain) * share, min(lowest, after[n]))
        if gain > WHOLE and min(lowest, after[n]) == one:
            gain = one
        held[n] = gain
        total += gain
        g = np.float32((total + rest[n]) * (1.0 / AHEAD))
        smallest = min(smallest, g)
        for ear in range(2):
            y = delayed[n, ear] * g
            out[n, ear] = min(max(y, -CEILING), CEILING)
            delayed[n, ear] = mixed[n, ear]
    state[0], state[1] = gain, smallest


@law
def is_idle(mixed: Array, needed: Array, held: Array, scratch: Array, state: Array) -> bool:
    """Whether nothing exceeds the ceiling, nor has for so long that the gain is exactly 1 throughout."""
    one = np.float32(1.0)
    if state[0] != one:
        return False
    nothing = splat16(np.float32(0.0))
    peak, unheard, gain = nothing, nothing, splat16(one)
    for n in range(0, 2 * AHEAD, WIDE):
        x = load16(mixed, n)
        peak = max16(peak, max16(x, nothing - x))
        unheard = unheard + nothing * x  # 0, unless something is no number, which is not larger than anything
    for n in range(0, AHEAD, WIDE):
        gain = min16(gain, min16(load16(needed, n), load16(held, n)))
    store16(scratch, 0, peak)
    store16(scratch, WIDE, gain)
    idle = sum16(unheard) == 0.0
    for n in range(WIDE):
        idle &= (scratch[0, n] <= CEILING) & (scratch[0, WIDE + n] == one)
    return idle


@law
def pass_quantum(mixed: Array, delayed: Array, out: Array) -> None:
    """Give out the quantum before `mixed` as it is: what `limit_quantum` comes to when idle, to the bit."""
    for n in range(0, 2 * AHEAD, WIDE):
        store16(out, n, load16(delayed, n))
        store16(delayed, n, load16(mixed, n))


@kernel(F8, I8, F4_2, F4_2, F4_1, F4_1, F4_2, F4_1, F4_2)
def limit(
    release: float,
    quanta: int,
    mixed: Array,
    delayed: Array,
    needed: Array,
    held: Array,
    scratch: Array,
    state: Array,
    out: Array,
) -> None:
    """Limit the next quanta; each comes out one quantum late, which the look-ahead takes.

    release: share of the way back to 1 made in a frame. mixed, out: (64 x quanta or more, 2).
    delayed: (64, 2) the quantum before, replaced. needed, held: (64,) of the quantum before, replaced.
    scratch: (2, 64). state: (2,) gain before averaging; smallest gain since it was last set to 1.
    """
    share = np.float32(release)
    for q in range(quanta):
        a, b = AHEAD * q, AHEAD * (q + 1)
        new, given = mixed[a:b], out[a:b]
        if is_idle(new, needed, held, scratch, state):
            pass_quantum(new, delayed, given)
        else:
            limit_quantum(share, new, delayed, needed, held, scratch, state, given)
