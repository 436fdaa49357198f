"""Rays that show whether a plane reflects where a path needs it: traced, and read by `judge`."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.echoes import ZERO
from ecs_audio.kernels.images import EARLY, LATE, LISTENER, SKIN, SOURCE, VIA, gap, lay_out, twofold
from ecs_audio.kernels.jit import F8, F8_1, F8_2, F8_3, I4_1, I8, I8_1, I8_2, I8_3, Array, kernel, law

TOUCH = 2e-3
"""A leg goes so far beyond its end [m], and meets a point of rough ground this exactly."""


@law
def legs_of(i: int, count: int, plane: Array) -> int:
    """Rays that prove the candidates of a row: two each, three where there are two bounces."""
    legs = ZERO
    for c in range(count):
        legs += 3 if twofold(plane[i, c, 0], plane[i, c, 1]) else 2
    return legs


@kernel(I8, I4_1, I8_2, F8, F8_2, F8_2, I8_1, I8_3, F8_3, I8_1, F8_1, F8_2, F8_2, F8_1, I8_1, I8_1)
def place_legs(
    active: int,
    rows: Array,
    grants: Array,
    cell_size: float,
    source: Array,
    listener: Array,
    count: Array,
    plane: Array,
    point: Array,
    legs_done: Array,
    way: Array,
    out_origin: Array,
    out_direction: Array,
    out_reach: Array,
    out_owner: Array,
    out_index: Array,
) -> int:
    """Lay out the rays that prove each candidate and were not traced yet; returns how many.

    From the listener to the last bounce, from the source to the first, and where there are two from the
    second to the first. A point is looked at from both ends.

    rows: (active,) of `CacheEntries`. grants: (active, 3), the last is how many legs each row may trace.
    cell_size: [m]. source, listener, count, plane, point, legs_done: columns of `CacheEntries`, of its
    candidates where they have others as well. way: (19,) scratch.
    out_origin: (legs, 3) [m]. out_direction: (legs, 3) unit vectors. out_reach: (legs,) [m].
    out_owner, out_index: row, and leg of it.
    """
    n = 0
    for a in range(active):
        i = np.int64(rows[a])
        for axis in range(3):
            way[SOURCE + axis], way[LISTENER + axis] = source[i, axis], listener[i, axis]
        leg, stop = 0, legs_done[i] + grants[a, 2]
        for c in range(count[i]):
            for axis in range(3):
                way[VIA + axis] = point[i, c, axis]
            second = plane[i, c, 1]
            lay_out(plane[i, c, 0], second, cell_size, way)
            for k in range(3 if twofold(plane[i, c, 0], second) else 2):
                if k == 2:
                    way[LATE + ((second & 7) >> 1)] += SKIN if second & 1 else -SKIN
                start, end = (LISTENER, LATE) if k == 0 else (SOURCE if k == 1 else LATE, EARLY)
                if legs_done[i] <= leg < stop:
                    length = gap(way, start, end)
                    for axis in range(3):
                        out_origin[n, axis] = way[start + axis]
                        out_direction[n, axis] = (way[end + axis] - way[start + axis]) / length
                    out_reach[n], out_owner[n], out_index[n] = length + TOUCH, i, leg
                    n += 1
                leg += 1
    return int(n)


@kernel(I8, I8_1, I8_1, F8_1, I8_1, I8_2, I8_1, F8_2, I8_2, I8_3, I8_2, I8_1)
def take_legs(
    traced: int,
    owner: Array,
    index: Array,
    time: Array,
    face: Array,
    cell: Array,
    material: Array,
    out_time: Array,
    out_face: Array,
    out_cell: Array,
    out_material: Array,
    out_done: Array,
) -> None:
    """Write the first hits of legs into their rows.

    owner, index: (traced,) as `place_legs` gave them. time [m], face, cell (traced, 3), material: first hits.
    out_time, out_face, out_cell, out_material, out_done: columns `leg_time` to `legs_done` of `CacheEntries`.
    """
    for n in range(traced):
        i, k = owner[n], index[n]
        out_time[i, k], out_face[i, k], out_material[i, k] = time[n], face[n], material[n]
        for axis in range(3):
            out_cell[i, k, axis] = cell[n, axis]
        out_done[i] = k + 1
