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
X, Y, Z = 0, 1, 2


@law
def step_of(d: float) -> int:
    """Direction of travel along an axis: 1, -1, or 0 where it would take longer than any time."""
    if d == 0.0 or not np.isfinite(1.0 / d):
        return 0
    return 1 if d > 0.0 else -1


@law
def inverse_of(d: float) -> float:
    """1 / d, or 0 where `step_of` says that the ray does not move along this axis."""
    return 1.0 / d if step_of(d) != 0 else 0.0


@law
def start_cell(o: float, step: int) -> int:
    """Cell of a ray's origin: exactly on a face it has not entered the cell ahead yet."""
    return np.int64(math.ceil(o)) - 1 if step > 0 else np.int64(math.floor(o))


@law
def crossing(cell: int, size: int, o: float, inverse: float, step: int) -> float:
    """Time at which a ray leaves the cells [cell, cell + size) along an axis, in lengths of d."""
    if step == 0:
        return INF
    edge = cell + size if step > 0 else cell
    return (edge - o) * inverse


@law
def first_axis(tx: float, ty: float, tz: float) -> int:
    """Axis of the earliest crossing."""
    if tx <= ty and tx <= tz:
        return X
    return Y if ty <= tz else Z


@law
def cell_after(
    now: int, low: int, o: float, d: float, inverse: float, step: int, t: float, counts: bool
) -> int:
    """Cell along an axis at time t, for a ray that is in cell `now` of the section that begins at `low`.

    Crossings before t have happened, those exactly at t only where `counts`. Rounding of `o + d * t`
    can be one cell off; the crossing times decide.
    """
    if step == 0:
        return now
    guess = np.int64(math.floor(o + d * t))
    cell = min(max(guess, now), low + 15) if step > 0 else max(min(guess, now), low)
    while cell != now:
        entered = crossing(cell - step, 1, o, inverse, step)
        if entered < t or (counts and entered == t):
            break
        cell -= step
    while True:
        left = crossing(cell, 1, o, inverse, step)
        if not (left < t or (counts and left == t)):
            return cell
        cell += step
