"""Where a source seems to be: behind a wall, where its reflections come from."""

from __future__ import annotations

import math

from ecs_audio.kernels.jit import F8, F8_1, F8_2, U1_1, Array, kernel, law

RELEASE = 0.2
"""An open straight path has the source back at its place within this time [s]."""
TURNING = 0.1
"""Time constant with which a new bearing is taken up [s]."""


@law
def pull_of(transmission: float) -> float:
    """How much the reflections decide, 0 for an open straight path to 1 for one that lets little through."""
    return min(1.25 * (1.0 - transmission), 1.0)


@kernel(F8, F8_1, F8_2, F8_1, F8_2, F8_2, U1_1, U1_1, F8_1, F8_2, F8_2)
def set_apparent(
    dt: float,
    listener: Array,
    position: Array,
    distance: Array,
    path: Array,
    wanted: Array,
    positioned: Array,
    state: Array,
    pull: Array,
    bearing: Array,
    out: Array,
) -> None:
    """Apparent position of every source, at its true distance.

    dt: since the last tick [s]. listener: (3,) [m]. position: (n, 3) where it is heard [m].
    distance: (n,) [m]. path: (n, 13) transmission of the bundle, the straight one first.
    wanted: (n, 3) unit vector to where reflections come from, zero for nowhere. positioned, state: (n,);
    state 0 was not heard yet.
    pull: (n,) how much they decide now, updated. bearing: (n, 3) the eased unit vector, updated.
    out: (n, 3) [m].
    """
    step = dt / RELEASE
    ease = 1.0 - math.exp(-dt / TURNING)
    for i in range(position.shape[0]):
        square = wanted[i, 0] * wanted[i, 0] + wanted[i, 1] * wanted[i, 1] + wanted[i, 2] * wanted[i, 2]
        target = pull_of(path[i, 0]) if positioned[i] and square > 0.0 else 0.0
        fresh = pull[i] == 0.0  # nothing of the old bearing is heard
        if square > 0.0:
            for axis in range(3):
                way = wanted[i, axis] - bearing[i, axis]
                bearing[i, axis] += way if fresh else way * ease
        if state[i] == 0:
            pull[i] = target
        else:
            pull[i] += min(max(target - pull[i], -step), step)
        if pull[i] <= 0.0 or distance[i] <= 0.0:
            for axis in range(3):
                out[i, axis] = position[i, axis]
            continue
        length = 0.0
        for axis in range(3):
            d = (position[i, axis] - listener[axis]) / distance[i]
            d += (bearing[i, axis] - d) * pull[i]
            out[i, axis] = d
            length += d * d
        length = math.sqrt(length)
        for axis in range(3):
            if length > 1e-9:
                out[i, axis] = listener[axis] + out[i, axis] / length * distance[i]
            else:
                out[i, axis] = position[i, axis]
