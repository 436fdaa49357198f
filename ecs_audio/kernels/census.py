"""Counting what a tick did."""

from __future__ import annotations

from ecs_audio.kernels.jit import F8_1, I4_1, I8_1, U1_1, Array, kernel
from ecs_audio.kernels.steer import REFUSED, SOUNDING, VIRTUAL
from ecs_audio.kernels.tiers import FREE


@kernel(U1_1, U1_1, F8_1, F8_1, I4_1, I4_1, I8_1)
def census(
    tier: Array,
    state: Array,
    age: Array,
    due: Array,
    ray_cells: Array,
    ray_unknown: Array,
    out: Array,
) -> float:
    """Count sources and cells; returns the age of the oldest straight path [s].

    tier, state, age, due: (n,) columns of `Sources`. ray_cells, ray_unknown: (rays,).
    out: (8,) FREE, DIRECT, FULL, playing, virtual, finished, cells, unknown cells.
    """
    for k in range(out.shape[0]):
        out[k] = 0
    oldest = 0.0
    for i in range(tier.shape[0]):
        out[tier[i]] += 1
        if state[i] == SOUNDING:
            out[3] += 1
        elif state[i] == VIRTUAL:
            out[4] += 1
        elif state[i] >= REFUSED:
            out[5] += 1
        if tier[i] != FREE and due[i] < 1e300 and age[i] < 1e300:
            oldest = max(oldest, age[i])
    for ray in range(ray_cells.shape[0]):
        out[6] += ray_cells[ray]
        out[7] += ray_unknown[ray]
    return oldest
