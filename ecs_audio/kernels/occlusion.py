"""What a path through the world lets pass: occlusion per metre times the chord in every cell."""

from __future__ import annotations

import math

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.voxels import (
    FLUID,
    OPEN,
    SOLID,
    UNKNOWN,
    Voxels,
    leaves_world,
    material_at,
    material_in,
    skippable,
    slot_at,
)
from ecs_audio.kernels.walk import (
    X,
    Y,
    Z,
    cell_after,
    crossing,
    first_axis,
    inverse_of,
    start_cell,
    step_of,
)

ENOUGH = 64.0
"""Occlusion at which a path is as good as closed: exp(-192)."""


@law
def transmission(occlusion: float) -> float:
    """Amplitude at 5 kHz relative to low frequencies, exp(-3 occ) (constant of Sound Physics Remastered)."""
    return math.exp(-3.0 * occlusion)


@law
def longest_solid(cell_size: float) -> int:
    """Solid cells that count on one path: 16 m of them, at least 16."""
    return max(16, math.ceil(16.0 / cell_size))


@law
def occlusion_along(
    voxels: Voxels, a: Array, b: Array, ear: Array, mouth: Array, buried: bool
) -> tuple[float, int, int]:
    """Occlusion of the path from the listener's end a to the source's end b, cells looked at, unknown ones.

    a, b: (3,) [cells]. ear, mouth: (3,) the cells of the unshifted listener and source; they never
    count. If the listener is buried, the run of solid next to it does not count either. A fluid that
    holds one of the ends is passed like air.
    """
    ox, oy, oz = a[0], a[1], a[2]
    dx, dy, dz = b[0] - ox, b[1] - oy, b[2] - oz
    length = math.sqrt(dx * dx + dy * dy + dz * dz) * voxels.cell_size
    sx, sy, sz = step_of(dx), step_of(dy), step_of(dz)
    if sx == 0 and sy == 0 and sz == 0:
        return 0.0, 0, 0
    ix, iy, iz = inverse_of(dx), inverse_of(dy), inverse_of(dz)
    x, y, z = start_cell(ox, sx), start_cell(oy, sy), start_cell(oz, sz)
    here = material_at(voxels, ear[0], ear[1], ear[2])
    there = material_at(voxels, mouth[0], mouth[1], mouth[2])
    here = here if voxels.kind[here] == FLUID else -1
    there = there if voxels.kind[there] == FLUID else -1
    limit = longest_solid(voxels.cell_size)
    occlusion, entered = 0.0, 0.0
    looked, unknown, solid = 0, 0, 0
    while entered < 1.0:
        slot = slot_at(voxels, x, y, z)
        looked += 1
        if skippable(voxels, slot):
            buried = False
            if slot == UNKNOWN:
                unknown += 1
                if leaves_world(voxels, x, y, z, sx, sy, sz):
                    break
            lx, ly, lz = x & ~15, y & ~15, z & ~15
            tx, ty, tz = (
                crossing(lx, 16, ox, ix, sx),
                crossing(ly, 16, oy, iy, sy),
                crossing(lz, 16, oz, iz, sz),
            )
            axis = first_axis(tx, ty, tz)
            entered = min(tx, ty, tz)
            nx = cell_after(x, lx, ox, dx, ix, sx, entered, True)
            ny = cell_after(y, ly, oy, dy, iy, sy, entered, axis != X)
            nz = cell_after(z, lz, oz, dz, iz, sz, entered, axis == Z)
            x, y, z = nx, ny, nz
            continue
        material = material_in(voxels, slot, x, y, z)
        kind = voxels.kind[material]
        tx, ty, tz = crossing(x, 1, ox, ix, sx), crossing(y, 1, oy, iy, sy), crossing(z, 1, oz, iz, sz)
        axis = first_axis(tx, ty, tz)
        left = min(tx, ty, tz)
        if kind != SOLID:
            buried = False
        if kind != OPEN and not buried and material != here and material != there:
            own = (x == ear[0] and y == ear[1] and z == ear[2]) or (
                x == mouth[0] and y == mouth[1] and z == mouth[2]
            )
            if not own:
                occlusion += voxels.occlusion[material] * ((min(left, 1.0) - entered) * length)
                solid += 1
                if solid >= limit or occlusion > ENOUGH:
                    break
        entered = left
        if axis == X:
            x += sx
        elif axis == Y:
            y += sy
        else:
            z += sz
    return occlusion, looked, unknown
