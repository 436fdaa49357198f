"""Counting what a tick did."""

from __future__ import annotations

from ecs_audio.kernels.jit import F8_1, I4_1, I8, I8_1, U1_1, Array, kernel
from ecs_audio.kernels.pool import REFUSED, SOUNDING, VIRTUAL
from ecs_audio.kernels.tiers import FREE, FULL


@kernel(U1_1, U1_1, F8_1, F8_1, F8_1, U1_1, I8_1)
def census(
    tier: Array,
    state: Array,
    age: Array,
    due: Array,
    environment_age: Array,
    tap_count: Array,
    out: Array,
) -> tuple[float, float]:
    """Count sources; returns the age of the oldest straight path and of the oldest environment [s].

    Paths of FULL and DIRECT sources, environments of FULL ones; those never traced do not count.
    tier to tap_count: (n,) columns of `Sources`.
    out: (8,) FREE, DIRECT, FULL, playing, virtual, finished, taps.
    """
    for k in range(out.shape[0]):
        out[k] = 0
    oldest, oldest_environment = 0.0, 0.0
    for i in range(tier.shape[0]):
        out[tier[i]] += 1
        if state[i] == SOUNDING:
            out[3] += 1
        elif state[i] == VIRTUAL:
            out[4] += 1
        elif state[i] >= REFUSED:
            out[5] += 1
        out[6] += tap_count[i]
        if due[i] > 1e300:
            continue
        if tier[i] != FREE and age[i] < 1e300:
            oldest = max(oldest, age[i])
        if tier[i] == FULL and environment_age[i] < 1e300:
            oldest_environment = max(oldest_environment, environment_age[i])
    return oldest, oldest_environment


@kernel(I8, I4_1, I4_1, I8_1)
def count_cells(rays: int, cells: Array, unknown: Array, total: Array) -> None:
    """Add up the cells (n,) that so many rays looked at, and those not loaded, to the total (2,)."""
    for ray in range(rays):
        total[0] += cells[ray]
        total[1] += unknown[ray]
