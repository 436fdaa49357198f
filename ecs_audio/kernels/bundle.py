"""The bundle of direct paths: one ray flips when an end moves by a centimetre, thirteen do not."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F8, F8_1, F8_2, I4_1, I8_2, Array, kernel, law
from ecs_audio.kernels.walk import start_cell, step_of

RADIUS = 0.6  # [m], about a head and a loudspeaker


def spiral(paths: int = 12) -> tuple[Array, Array]:
    """Shifts (paths, 2) [m] of the paths beside the straight one, and weights (paths + 1,) of all.

    Vogel's spiral fills a disc evenly; the weights fall off as a Gaussian and leave 0.2 to the
    straight path.
    """
    i = np.arange(paths)
    radius = RADIUS * np.sqrt((i + 0.5) / paths)
    angle = 2.399963 * i
    beside = np.exp(-((radius / RADIUS) ** 2))
    shifts = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return shifts, np.concatenate([[0.2], 0.8 * beside / beside.sum()])


SHIFTS, WEIGHTS = spiral()


@law
def across(ear: Array, mouth: Array) -> tuple[float, float, float, float, float, float]:
    """Two unit vectors at right angles to the way between a listener and a source; 0 where there is none."""
    dx, dy, dz = ear[0] - mouth[0], ear[1] - mouth[1], ear[2] - mouth[2]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    dx, dy, dz = dx / length, dy / length, dz / length
    if abs(dy) > 0.99:
        ux, uy, uz = dy, -dx, 0.0  # d x z
    else:
        ux, uy, uz = -dz, 0.0, dx  # d x y
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    return ux, uy, uz, uy * dz - uz * dy, uz * dx - ux * dz, ux * dy - uy * dx


@kernel(F8, F8_1, F8_2, I4_1, I4_1, F8_1, F8_2, F8_2, I8_2)
def place_paths(
    cell_size: float,
    listener: Array,
    position: Array,
    ray_source: Array,
    ray_path: Array,
    shift: Array,
    out_ear: Array,
    out_mouth: Array,
    out_own: Array,
) -> None:
    """Ends of direct paths, so that tracing them needs neither listener nor sources.

    cell_size: [m]. listener: (3,) [m]. position: (sources, 3) where each source is heard [m].
    ray_source, ray_path: (rays,) index of the source, and of the path in its bundle. shift: (3,) scratch.
    out_ear, out_mouth: (rays, 3) both ends, shifted alike [cells].
    out_own: (rays, 6) the cells of the unshifted ends, as seen along the straight path.
    """
    last, turned = -1, -1
    ux, uy, uz, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for ray in range(ray_source.shape[0]):
        source, path = ray_source[ray], ray_path[ray]
        shift[0], shift[1], shift[2] = 0.0, 0.0, 0.0
        if path > 0:
            if source != turned:  # the paths of a bundle follow one another
                ux, uy, uz, vx, vy, vz = across(listener, position[source])
                turned = source
            a, b = SHIFTS[path - 1, 0], SHIFTS[path - 1, 1]
            shift[0], shift[1], shift[2] = a * ux + b * vx, a * uy + b * vy, a * uz + b * vz
        for axis in range(3):
            if source == last:
                out_own[ray, axis] = out_own[ray - 1, axis]
                out_own[ray, axis + 3] = out_own[ray - 1, axis + 3]
            else:
                p, q = listener[axis] / cell_size, position[source, axis] / cell_size
                out_own[ray, axis] = start_cell(p, step_of(q - p))
                out_own[ray, axis + 3] = start_cell(q, step_of(p - q))
            p, q = listener[axis] + shift[axis], position[source, axis] + shift[axis]
            if cell_size != 1.0:
                p, q = p / cell_size, q / cell_size
            out_ear[ray, axis], out_mouth[ray, axis] = p, q
        last = source
