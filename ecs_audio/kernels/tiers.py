"""How loud each source is at the listener, and how much acoustics it is worth for that."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.distance import distance_gain
from ecs_audio.kernels.heap import FIRST, heapify, pop
from ecs_audio.kernels.jit import F8, F8_1, F8_2, I4_1, I8, U1_1, Array, kernel

FREE, DIRECT, FULL = 0, 1, 2
HOLD = 10.0 ** (3.0 / 20.0)
"""A source keeps its tier against one that is less than 3 dB louder."""
BESIDE = 12
"""Paths of a bundle beside the straight one."""
PATIENCE = 0.5
"""A tier changes once another has been wanted for so long [s]."""


@kernel(F8_1, U1_1, F8_2, F8_1, U1_1, F8_1, F8_1, F8_1, F8_1, F8_1)
def loudnesses(
    listener: Array,
    positioned: Array,
    position: Array,
    volume: Array,
    law: Array,
    reference: Array,
    end: Array,
    fade_start: Array,
    out_distance: Array,
    out_loudness: Array,
) -> None:
    """Distance [m] and amplitude before occlusion of every source.

    listener: (3,) [m]. position: (n, 3) where it is heard [m]. positioned: (n,) 0 is heard flat.
    volume, law, reference, end, fade_start: (n,) columns of `Sources`.
    out_distance, out_loudness: (n,).
    """
    for i in range(position.shape[0]):
        if not positioned[i]:
            out_distance[i], out_loudness[i] = 0.0, volume[i]
            continue
        dx = position[i, 0] - listener[0]
        dy = position[i, 1] - listener[1]
        dz = position[i, 2] - listener[2]
        d = math.sqrt(dx * dx + dy * dy + dz * dz)
        out_distance[i] = d
        out_loudness[i] = volume[i] * distance_gain(law[i], d, reference[i], end[i], fade_start[i])


@kernel(F8, I8, I8, U1_1, U1_1, F8_1, F8_1, F8_1, F8_1, U1_1, U1_1, F8_1, U1_1, F8_1, F8_1, I4_1)
def assign_tiers(
    dt: float,
    full_count: int,
    direct_count: int,
    positioned: Array,
    acoustics: Array,
    distance: Array,
    loudness: Array,
    full_within: Array,
    age: Array,
    tier: Array,
    wanted: Array,
    waited: Array,
    owed: Array,
    due: Array,
    keys: Array,
    items: Array,
) -> None:
    """FULL for the `full_count` loudest and those within `full_within`, DIRECT up to `direct_count`.

    dt: since the last tick [s]. positioned, acoustics, distance, loudness, full_within: (n,).
    age: (n,) inf for a source that was never traced; it takes its tier at once.
    tier, wanted, waited: (n,) columns of `Sources`, updated.
    owed, due: (n,) a source that leaves FREE owes its whole bundle, and is long overdue.
    keys, items: scratch of n or more.
    """
    n = tier.shape[0]
    count = FIRST
    for i in range(n):
        wanted[i] = FREE
        if positioned[i] and acoustics[i] and loudness[i] > 0.0:
            keys[count] = (
                -loudness[i] * (HOLD if tier[i] >= DIRECT else 1.0) * (HOLD if tier[i] == FULL else 1.0)
            )
            items[count] = i
            count += 1
    heapify(keys, items, count)
    for rank in range(min(direct_count, count)):
        i = pop(keys, items, count - rank)
        wanted[i] = FULL if rank < full_count else DIRECT
    for i in range(n):
        near = full_within[i] > distance[i] and positioned[i] and acoustics[i]
        if near:
            wanted[i] = FULL
        if wanted[i] == tier[i]:
            waited[i] = 0.0
            continue
        waited[i] += dt
        if near or waited[i] >= PATIENCE or np.isinf(age[i]):
            if tier[i] == FREE:
                owed[i] = BESIDE
                due[i] = -np.inf
            tier[i] = wanted[i]
            waited[i] = 0.0
