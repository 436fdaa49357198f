"""Where a ray first meets a material: sections in which nothing can be hit are left in one step."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import F8_1, F8_2, I8_1, I8_2, Array, kernel, law
from ecs_audio.kernels.voxels import (
    FLUID,
    OPEN,
    VOXELS,
    Voxels,
    leaves_world,
    material_at,
    material_in,
    skippable,
    slot_at,
)
from ecs_audio.kernels.walk import (
    INF,
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

MISS, REFUSED = -1, -2


@law
def first_hit(voxels: Voxels, o: Array, d: Array, reach: float, cell: Array) -> tuple[float, int, int]:
    """Time [lengths of d], face and cells looked at; writes the cell that was hit.

    The face is 2 x axis, + 1 if the ray came travelling downwards, MISS, or REFUSED.
    """
    ox, oy, oz = o[0] / voxels.cell_size, o[1] / voxels.cell_size, o[2] / voxels.cell_size
    dx, dy, dz = d[0] / voxels.cell_size, d[1] / voxels.cell_size, d[2] / voxels.cell_size
    size = abs(ox) + abs(oy) + abs(oz)
    if not (size < 1e12 and reach >= 0.0 and np.isfinite(reach) and np.isfinite(dx + dy + dz)):
        return INF, REFUSED, 0
    sx, sy, sz = step_of(dx), step_of(dy), step_of(dz)
    if sx == 0 and sy == 0 and sz == 0:
        return INF, REFUSED, 0
    ix, iy, iz = inverse_of(dx), inverse_of(dy), inverse_of(dz)
    x, y, z = start_cell(ox, sx), start_cell(oy, sy), start_cell(oz, sz)
    own = material_at(voxels, x, y, z)
    if voxels.kind[own] != FLUID:
        own = -1
    looked = 0
    while not leaves_world(voxels, x, y, z, sx, sy, sz):
        slot = slot_at(voxels, x, y, z)
        if skippable(voxels, slot):
            looked += 1
            lx, ly, lz = x & ~15, y & ~15, z & ~15
            tx, ty, tz = (
                crossing(lx, 16, ox, ix, sx),
                crossing(ly, 16, oy, iy, sy),
                crossing(lz, 16, oz, iz, sz),
            )
            axis = first_axis(tx, ty, tz)
            t = min(tx, ty, tz)
            if t >= reach:
                break
            nx = cell_after(x, lx, ox, dx, ix, sx, t, True)
            ny = cell_after(y, ly, oy, dy, iy, sy, t, axis != X)
            nz = cell_after(z, lz, oz, dz, iz, sz, t, axis == Z)
            x, y, z = nx, ny, nz
        else:
            axis = first_axis(
                crossing(x, 1, ox, ix, sx), crossing(y, 1, oy, iy, sy), crossing(z, 1, oz, iz, sz)
            )
            looked += 1
            if axis == X:
                t = crossing(x, 1, ox, ix, sx)
                x += sx
            elif axis == Y:
                t = crossing(y, 1, oy, iy, sy)
                y += sy
            else:
                t = crossing(z, 1, oz, iz, sz)
                z += sz
            if t >= reach:
                break
        slot = slot_at(voxels, x, y, z)
        if slot != -1:
            material = material_in(voxels, slot, x, y, z)
            if voxels.kind[material] != OPEN and material != own:
                cell[0], cell[1], cell[2] = x, y, z
                step = sx if axis == X else (sy if axis == Y else sz)
                return t, 2 * axis + (1 if step < 0 else 0), looked
    return INF, MISS, looked


@kernel(VOXELS, F8_2, F8_2, F8_1, F8_1, I8_1, I8_2, I8_1)
def first_hits(
    voxels: Voxels,
    origin: Array,
    direction: Array,
    reach: Array,
    out_time: Array,
    out_face: Array,
    out_cell: Array,
    out_looked: Array,
) -> None:
    """First hit of many rays.

    origin, direction: (n, 3) [m]. A ray that is not finite or does not move is REFUSED.
    reach: (n,) longest time [lengths of direction].
    out_time: (n,) time of the hit, inf for none.
    out_face: (n,) 2 x axis, + 1 if the ray came travelling downwards; MISS or REFUSED.
    out_cell: (n, 3) cell that was hit.
    out_looked: (n,) cells looked at; a section left in one step counts as one.
    """
    for i in range(origin.shape[0]):
        out_time[i], out_face[i], out_looked[i] = first_hit(
            voxels, origin[i], direction[i], reach[i], out_cell[i]
        )
