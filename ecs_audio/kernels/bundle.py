"""The bundle of direct paths: one ray flips when an end moves by a centimetre, thirteen do not."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F8_1, F8_2, I4_1, I8, I8_2, Array, kernel, law, part
from ecs_audio.kernels.occlusion import occlusion_along, transmission
from ecs_audio.kernels.voxels import SOLID, VOXELS, Voxels, material_at
from ecs_audio.kernels.walk import start_cell, step_of

RADIUS = 0.6  # [m], about a head and a loudspeaker
CHUNK = 64
BLOCKED_END = -1.0


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
def shift_of(ear: Array, mouth: Array, path: int, out: Array) -> None:
    """Shift [m] of both ends for one path of the bundle between a listener and a source."""
    out[0] = out[1] = out[2] = 0.0
    if path == 0:
        return
    dx, dy, dz = ear[0] - mouth[0], ear[1] - mouth[1], ear[2] - mouth[2]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if length == 0.0:
        return
    dx, dy, dz = dx / length, dy / length, dz / length
    if abs(dy) > 0.99:
        ux, uy, uz = dy, -dx, 0.0  # d x z
    else:
        ux, uy, uz = -dz, 0.0, dx  # d x y
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / length, uy / length, uz / length
    vx, vy, vz = uy * dz - uz * dy, uz * dx - ux * dz, ux * dy - uy * dx
    a, b = SHIFTS[path - 1, 0], SHIFTS[path - 1, 1]
    out[0], out[1], out[2] = a * ux + b * vx, a * uy + b * vy, a * uz + b * vz


@part
def in_wall(voxels: Voxels, p: Array, toward: Array, own: Array) -> bool:
    """Whether a shifted end [cells] lies in a solid cell other than the unshifted end's own."""
    x = start_cell(p[0], step_of(toward[0] - p[0]))
    y = start_cell(p[1], step_of(toward[1] - p[1]))
    z = start_cell(p[2], step_of(toward[2] - p[2]))
    if x == own[0] and y == own[1] and z == own[2]:
        return False
    return voxels.kind[material_at(voxels, x, y, z)] == SOLID


@kernel(VOXELS, F8_1, F8_2, I4_1, I4_1, I8, F8_2, I8_2, F8_1, I4_1, I4_1)
def trace_paths(
    voxels: Voxels,
    listener: Array,
    position: Array,
    ray_source: Array,
    ray_path: Array,
    max_cells: int,
    ends: Array,
    own: Array,
    out_transmission: Array,
    out_cells: Array,
    out_unknown: Array,
) -> int:
    """Transmission along direct paths; returns how many rays were traced.

    listener: (3,) [m]. position: (sources, 3) where each source is heard [m].
    ray_source, ray_path: (rays,) index of the source, and of the path in its bundle.
    max_cells: no further chunk of 64 rays starts once so many cells were looked at.
    ends: (3, 3), own: (2, 3) scratch.
    out_transmission: (rays,) 0 to 1, or BLOCKED_END where a shifted end lies in a wall.
    out_cells, out_unknown: (rays,) cells looked at, and those of them that are not loaded.
    """
    shift, a, b = ends[0], ends[1], ends[2]
    ear, mouth = own[0], own[1]
    cells = 0
    for ray in range(ray_source.shape[0]):
        if ray % CHUNK == 0 and cells >= max_cells:
            return ray
        source = ray_source[ray]
        for axis in range(3):
            p = listener[axis] / voxels.cell_size
            q = position[source, axis] / voxels.cell_size
            ear[axis] = start_cell(p, step_of(q - p))
            mouth[axis] = start_cell(q, step_of(p - q))
        shift_of(listener, position[source], ray_path[ray], shift)
        for axis in range(3):
            a[axis] = (listener[axis] + shift[axis]) / voxels.cell_size
            b[axis] = (position[source, axis] + shift[axis]) / voxels.cell_size
        out_cells[ray], out_unknown[ray] = 0, 0
        if ray_path[ray] > 0 and (in_wall(voxels, a, b, ear) or in_wall(voxels, b, a, mouth)):
            out_transmission[ray] = BLOCKED_END
            continue
        buried = voxels.kind[material_at(voxels, ear[0], ear[1], ear[2])] == SOLID
        occlusion, looked, unknown = occlusion_along(voxels, a, b, ear, mouth, buried)
        out_transmission[ray] = transmission(occlusion)
        out_cells[ray], out_unknown[ray] = looked, unknown
        cells += looked
    return int(ray_source.shape[0])
