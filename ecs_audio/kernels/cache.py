"""The cache of environments: which entry belongs to two ends, which is given up, which the world outdated."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F8, F8_1, F8_2, I4_1, I8_2, U1_1, Array, kernel, law

VACANT, BEGUN, FINISHED, READY = 0, 1, 2, 3
EDGE = 4.0
"""Ends share an entry within cells of this size [m]."""


@law
def cell_of(p: float) -> int:
    """Cell of 4 m that holds a coordinate [m]."""
    return np.int64(math.floor(p / EDGE))


@law
def mix(h: int, value: int) -> int:
    """Fold a number into a hash (multiplier of Knuth's MMIX generator)."""
    return (h ^ value) * np.int64(6364136223846793005) + np.int64(1442695040888963407)


@law
def write_key(position: Array, i: int, listener: Array, out: Array) -> int:
    """Write the key (6,) of a pair of ends; returns its hash."""
    h = np.int64(0)
    for axis in range(3):
        out[axis] = cell_of(position[i, axis])
        out[axis + 3] = cell_of(listener[axis])
    for k in range(6):
        h = mix(h, out[k])
    return h


@law
def find_entry(key: Array, hash_of: Array, wanted: Array, h: int) -> int:
    """The row whose key this is, whatever its state, or -1."""
    for row in range(hash_of.shape[0]):
        if hash_of[row] == h:
            same = True
            for k in range(6):
                same = same and key[row, k] == wanted[k]
            if same:
                return np.int64(row)
    return np.int64(-1)


@law
def row_to_give_up(state: Array, used: Array) -> int:
    """A vacant row, else the READY one used least recently, else -1."""
    best = np.int64(-1)
    for row in range(state.shape[0]):
        if state[row] == VACANT:
            return np.int64(row)
        if state[row] == READY and (best < 0 or used[row] < used[best]):
            best = np.int64(row)
    return best


@law
def touches(box: Array, e: int, size: float, low: Array, high: Array, row: int) -> bool:
    """Whether an edited half-open box of cells touches the box of an entry's rays [m]."""
    for axis in range(3):
        if box[e, axis] * size > high[row, axis] or box[e, axis + 3] * size < low[row, axis]:
            return False
    return True


@kernel(F8, I8_2, F8, U1_1, U1_1, F8_2, F8_2, I4_1, I4_1, F8_1)
def forget_edited(
    time: float,
    boxes: Array,
    cell_size: float,
    state: Array,
    stale: Array,
    low: Array,
    high: Array,
    environment: Array,
    survey: Array,
    due: Array,
) -> int:
    """Outdate every entry whose rays an edit touches, and make due who uses it; returns how many.

    time: [s]. boxes: (edits, 6) half-open boxes of cells. state, stale, low, high: columns of
    `CacheEntries`; one that is being traced is only marked, its rays are thrown away when they come.
    environment, survey, due: (n,) columns of `Sources`.
    """
    count = 0
    for row in range(state.shape[0]):
        if state[row] == VACANT or (state[row] != READY and stale[row]):
            continue
        for e in range(boxes.shape[0]):
            if touches(boxes, e, cell_size, low, high, row):
                if state[row] == READY:
                    state[row] = VACANT
                else:
                    stale[row] = 1
                count += 1
                break
    for i in range(due.shape[0]):
        row = environment[i]
        if row >= 0 and state[row] == VACANT:
            environment[i] = -1
            due[i] = min(due[i], time)
        row = survey[i]
        if row >= 0 and state[row] == VACANT:
            survey[i] = -1
    return count


@kernel(U1_1, U1_1)
def take_in(state: Array, stale: Array) -> int:
    """Make finished entries READY; returns how many of them an edit outdated while they were traced.

    state, stale: columns of `CacheEntries`.
    """
    outdated = 0
    for row in range(state.shape[0]):
        if state[row] == FINISHED:
            state[row] = READY
            outdated += stale[row]
    return outdated


@kernel(F8, U1_1, U1_1, I4_1, F8_1)
def drop_stale(time: float, state: Array, stale: Array, environment: Array, due: Array) -> None:
    """Make outdated entries VACANT once they were handed out; who took one is due again.

    Where the world changes at every tick an outdated answer is better than none.
    time: [s]. state, stale: columns of `CacheEntries`. environment, due: (n,) columns of `Sources`.
    """
    for row in range(state.shape[0]):
        if state[row] == READY and stale[row]:
            state[row], stale[row] = VACANT, 0
            for i in range(due.shape[0]):
                if environment[i] == row:
                    environment[i], due[i] = -1, min(due[i], time)
