"""What each source shall sound like at the two ears: levels, direction, and the easing towards them."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F4_1, F4_2, F8, F8_1, F8_2, I8, I8_1, U1_1, Array, kernel, law


@law
def pan(side: float) -> tuple[float, float]:
    """Left and right amplitude of a direction, side = -1 left to 1 right; constant power."""
    angle = (side + 1.0) * (math.pi / 4.0)
    return math.cos(angle), math.sin(angle)


QUIET = 1e-3
"""Below this amplitude, -60 dB, a gain may rise at once."""


@kernel(F8, F8, U1_1, F8_1, F8_1, F8_1, F8_1)
def ease(
    share: float,
    steepest: float,
    state: Array,
    gain_target: Array,
    gain_hf_target: Array,
    gain: Array,
    gain_hf: Array,
) -> None:
    """Move both gains by a share of their way to the targets; a source never heard yet (state 0) is there.

    The first part of the way from -40 dB to 0 would be a jump of 25 dB for the ear: so the broad gain rises
    by no more than the factor `steepest`.
    state, gain_target, gain_hf_target, gain, gain_hf: (n,) columns of `Sources`.
    """
    for i in range(state.shape[0]):
        part = 1.0 if state[i] == 0 else share
        wanted = gain[i] + (gain_target[i] - gain[i]) * part
        if state[i] != 0:
            wanted = min(wanted, max(gain[i], QUIET) * steepest)
        gain[i] = wanted
        gain_hf[i] += (gain_hf_target[i] - gain_hf[i]) * part


@kernel(F8, U1_1, F8_2, F8_2, F8_2, F8_2)
def ease_sends(
    share: float, state: Array, send_target: Array, hf_target: Array, send: Array, hf: Array
) -> None:
    """The same for the sends into both buses.

    state: (n,), the others: (n, 2) columns of `Sources`.
    """
    for i in range(state.shape[0]):
        part = 1.0 if state[i] == 0 else share
        for bus in range(2):
            send[i, bus] += (send_target[i, bus] - send[i, bus]) * part
            hf[i, bus] += (hf_target[i, bus] - hf[i, bus]) * part


@kernel(F8_2, F8, F8_1, F8_2, U1_1, U1_1, F8_1, F8_1, F8_1, F4_2, F4_1)
def levels(
    ear: Array,
    shadow: float,
    category_gain: Array,
    position: Array,
    positioned: Array,
    category: Array,
    loudness: Array,
    gain: Array,
    gain_hf: Array,
    out_gain: Array,
    out_hf: Array,
) -> None:
    """Amplitude at each ear and muffling of every source.

    ear: (3, 3) the listener's position [m], direction to the right, direction ahead.
    shadow: how much of gain_hf the head takes from straight behind.
    category_gain: (categories,) with the master volume. position: (n, 3) where it is heard [m].
    positioned, category, loudness, gain, gain_hf: (n,) columns of `Sources`.
    out_gain: (n, 2) left and right. out_hf: (n,).
    """
    last = category_gain.shape[0] - 1  # a host's number may be anything
    for i in range(loudness.shape[0]):
        level = loudness[i] * gain[i] * category_gain[min(category[i], last)]
        if not positioned[i]:
            out_gain[i, 0], out_gain[i, 1] = level, level
            out_hf[i] = 1.0
            continue
        dx, dy, dz = position[i, 0] - ear[0, 0], position[i, 1] - ear[0, 1], position[i, 2] - ear[0, 2]
        d = math.sqrt(dx * dx + dy * dy + dz * dz)
        side, ahead = 0.0, 0.0
        if d > 0.0:
            near = min(d, 1.0)  # no step when a source passes through the head
            side = (dx * ear[1, 0] + dy * ear[1, 1] + dz * ear[1, 2]) / d * near
            ahead = (dx * ear[2, 0] + dy * ear[2, 1] + dz * ear[2, 2]) / d * near
        left, right = pan(min(max(side, -1.0), 1.0))
        out_gain[i, 0], out_gain[i, 1] = level * left, level * right
        out_hf[i] = gain_hf[i] * (1.0 - shadow * min(max(-ahead, 0.0), 1.0))


@kernel(I8, F8_1, F8_1, I8_1, I8_1, F8_1, F8_1, I8_1)
def keep_good(
    count: int,
    values: Array,
    good: Array,
    start: Array,
    width: Array,
    low: Array,
    high: Array,
    out: Array,
) -> int:
    """Note every row of every column that is finite and in range; returns how many are not so.

    A row of a column is taken whole or not at all.
    count: rows to look at. values, good: all columns one after another. start, width, low, high: of each
    column; the range includes its ends. out: (2,) column and row of the first that is not so.
    """
    bad = 0
    for column in range(width.shape[0]):
        w = width[column]
        for i in range(count):
            at = start[column] + i * w
            fine = True
            for k in range(at, at + w):
                fine = fine and np.isfinite(values[k]) and low[column] <= values[k] <= high[column]
            if fine:
                for k in range(at, at + w):
                    good[k] = values[k]
            else:
                if bad == 0:
                    out[0], out[1] = column, i
                bad += 1
    return bad
