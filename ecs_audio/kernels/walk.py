"""Steps of a ray through cells (Amanatides and Woo 1987), in a form that does not depend on the way.

The time of every crossing is `(edge - origin) / direction` by its own, never a running sum. So a ray
that skips a section meets the same cells at the same times, bit for bit, as one that walks each cell.
Crossings at equal times happen in the order x, y, z: a ray through an edge or a corner always passes
through a cell beside it, and cannot slip between two solid cells that touch only there.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import law

INF = np.inf


@law
def step_of(d: float) -> int:
    """Direction of travel along an axis: 1, -1, or 0 where it would take longer than any time."""
    if d == 0.0 or not np.isfinite(1.0 / d):
        return 0
    return 1 if d > 0.0 else -1


@law
def start_cell(o: float, step: int) -> int:
    """Cell of a ray's origin: exactly on a face it has not entered the cell ahead yet."""
    return np.int64(math.ceil(o)) - 1 if step > 0 else np.int64(math.floor(o))
