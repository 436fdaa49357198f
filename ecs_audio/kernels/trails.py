"""Rays around a source that are followed from hit to hit, and what they see of the listener."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F8, F8_1, F8_2, F8_3, I4_1, I8, I8_1, I8_2, U1_2, Array, kernel, law
from ecs_audio.kernels.surveys import HITS, RAYS, UNSEEN, segments_left, unseen

OFF_SURFACE = 1e-3
"""A point that looks around lies so far before its wall [m]."""
MISS = -1


@kernel(F8, I8, I4_1, I8_2, I8_2, F8_3, F8_3, I8, I8, F8_2, F8_2, F8_1, I8_1, I8_1, I8_1)
def place_trails(
    reach: float,
    active: int,
    rows: Array,
    grants: Array,
    done: Array,
    origin: Array,
    direction: Array,
    hits: int,
    start: int,
    out_origin: Array,
    out_direction: Array,
    out_reach: Array,
    out_segments: Array,
    out_owner: Array,
    out_index: Array,
) -> int:
    """Lay out the rays of the active rows after the first `start` of a wave; returns its length.

    A grant that does not cover all hits of a row is spread over its rays.
    reach: [m]. rows, grants: (active,), (active, 3): hits that each may trace, as in `plan_surveys`.
    done, origin, direction: columns of `CacheEntries` or `Probes`. hits: of each ray.
    """
    n = start
    for a in range(active):
        row = rows[a]
        left, pending = grants[a, 0], 0
        for ray in range(done.shape[1]):
            pending += done[row, ray] < hits
        for ray in range(done.shape[1]):
            if done[row, ray] >= hits or left == 0:
                continue
            out_segments[n] = min(hits - done[row, ray], -(-left // pending))
            pending -= 1
            left -= out_segments[n]
            for axis in range(3):
                out_origin[n, axis] = origin[row, ray, axis]
                out_direction[n, axis] = direction[row, ray, axis]
            out_reach[n], out_owner[n], out_index[n] = reach, row, ray
            n += 1
    return n


@law
def off_surface(face: int, axis: int) -> float:
    """Step [m] along an axis from a point on a face into the open."""
    if face >> 1 != axis:
        return 0.0
    return OFF_SURFACE if face & 1 else -OFF_SURFACE


@kernel(
    I8, I8, I8, I8_1, I8_1, I8_1, I8_1, F8_2, F8_2, I8_1, F8_1, I8_1, I8_2, F8_2, I8_1,
    I8_2, F8_3, F8_3, F8_2, I8_2, I8_2, F8_3, I8_2, U1_2, F8_2, F8_2,
)  # fmt: skip
def land_trails(
    hits: int,
    start: int,
    traced: int,
    owner: Array,
    index: Array,
    segments: Array,
    found: Array,
    origin: Array,
    direction: Array,
    first: Array,
    time: Array,
    face: Array,
    cell: Array,
    point: Array,
    material: Array,
    out_done: Array,
    out_origin: Array,
    out_direction: Array,
    out_time: Array,
    out_face: Array,
    out_cell: Array,
    out_point: Array,
    out_material: Array,
    out_couples: Array,
    out_low: Array,
    out_high: Array,
) -> int:
    """Write the hits of rays `start` to `traced` of a wave into their rows; returns how many rays that were.

    A trail is a ray for each hit, and one more that met nothing.
    hits: of each ray. owner to direction: (rays,) of the wave; first, time, face, cell, point, material: its
    hits. out_cell: (rows * rays * hits, 3), the others: columns of `CacheEntries` or `Probes`. What a
    point sees is UNSEEN yet.
    """
    rays, count = out_done.shape[1], np.int64(0)
    for n in range(start, traced):
        row, ray = owner[n], index[n]
        for s in range(found[n]):
            a = first[n] + s
            b = ray * hits + out_done[row, ray] + s
            out_time[row, b], out_face[row, b], out_material[row, b] = time[a], face[a], material[a]
            for axis in range(3):
                p = point[a, axis]
                out_cell[row * rays * hits + b, axis], out_point[row, b, axis] = cell[a, axis], p
                out_low[row, axis] = min(out_low[row, axis], p)
                out_high[row, axis] = max(out_high[row, axis], p)
            out_couples[row, b] = UNSEEN
        ended = found[n] < segments[n]
        count += found[n] + 1 if ended else segments[n]
        if ended:
            for b in range(ray * hits + out_done[row, ray] + found[n], (ray + 1) * hits):
                out_time[row, b], out_face[row, b], out_couples[row, b] = math.inf, MISS, 0
        out_done[row, ray] = hits if ended else out_done[row, ray] + found[n]
        for axis in range(3):
            out_origin[row, ray, axis] = origin[n, axis]
            out_direction[row, ray, axis] = direction[n, axis]
    return count


@kernel(I8, I4_1, I8_2, F8_2, I8_2, F8_3, U1_2, F8_2, F8_2, F8_1, I8_1, I8_1)
def place_sights(
    active: int,
    rows: Array,
    grants: Array,
    listener: Array,
    face: Array,
    point: Array,
    couples: Array,
    out_origin: Array,
    out_direction: Array,
    out_reach: Array,
    out_owner: Array,
    out_index: Array,
) -> int:
    """Lay out a ray from the listener to 1 mm before each UNSEEN point; returns how many.

    rows, grants: (active,), (active, 3) from `plan_surveys`. listener to couples: columns of
    `CacheEntries`. out_owner, out_index: row and hit of each ray.
    """
    m = 0
    for a in range(active):
        row, left = rows[a], grants[a, 1]
        for b in range(RAYS * HITS):
            if couples[row, b] != UNSEEN or left == 0:
                continue
            left -= 1
            square = 0.0
            for axis in range(3):
                d = point[row, b, axis] + off_surface(face[row, b], axis) - listener[row, axis]
                out_origin[m, axis], out_direction[m, axis] = listener[row, axis], d
                square += d * d
            length = math.sqrt(square)
            if length > 0.0:
                for axis in range(3):
                    out_direction[m, axis] /= length
            out_reach[m], out_owner[m], out_index[m] = length, row, b
            m += 1
    return m


@kernel(I8, I8_1, I8_1, F8_2, F8_2, F8_2)
def widen(traced: int, owner: Array, face: Array, point: Array, out_low: Array, out_high: Array) -> None:
    """Take what the first `traced` legs met into the boxes of their rows; bounces may lie outside all hits.

    owner, face: (rays,), point: (rays, 3) of the wave. out_low, out_high: columns of `CacheEntries`.
    """
    for n in range(traced):
        if face[n] < 0:
            continue
        row = owner[n]
        for axis in range(3):
            out_low[row, axis] = min(out_low[row, axis], point[n, axis])
            out_high[row, axis] = max(out_high[row, axis], point[n, axis])


@kernel(I8, I8_1, I8_1, I8_1, U1_2)
def take_sights(traced: int, owner: Array, index: Array, face: Array, out_couples: Array) -> None:
    """Note which points see the listener: rays (traced,) that hit nothing, or had no way to go."""
    for m in range(traced):
        out_couples[owner[m], index[m]] = 1 if face[m] < 0 else 0


@kernel(I8, I4_1, I8_2, F8_2, I8_2, F8_2, F8_3, U1_2, F8_1, F8_2)
def settle(
    active: int,
    rows: Array,
    done: Array,
    listener: Array,
    face: Array,
    time: Array,
    point: Array,
    couples: Array,
    out_coupling: Array,
    out_bearing: Array,
) -> None:
    """Coupling of the entries whose rays are all known, and where their sound comes from.

    The direction is the sum over rays of the unit vector to the first point that couples, divided by the
    square of the way that the sound takes (after Sound Physics Remastered).
    rows: (active,). done to couples: columns of `CacheEntries`.
    out_coupling: share of all 48 points. out_bearing: unit vector from the listener, or zero.
    """
    for a in range(active):
        row = rows[a]
        if segments_left(done, row, HITS) + unseen(couples, row) > 0:
            continue
        count = 0
        x, y, z, nearest = 0.0, 0.0, 0.0, math.inf
        for turn in range(2):  # the nearest way first: a square of a far one would underflow
            for ray in range(RAYS):
                way = 0.0
                for b in range(ray * HITS, (ray + 1) * HITS):
                    if face[row, b] < 0:
                        break
                    way += time[row, b]
                    if not couples[row, b]:
                        continue
                    dx = point[row, b, 0] - listener[row, 0]
                    dy = point[row, b, 1] - listener[row, 1]
                    dz = point[row, b, 2] - listener[row, 2]
                    length = max(math.sqrt(dx * dx + dy * dy + dz * dz), 1e-9)
                    whole = way + length
                    if turn == 0:
                        nearest = min(nearest, whole)
                    else:
                        weight = (nearest / whole) * (nearest / whole) / length
                        x, y, z = x + dx * weight, y + dy * weight, z + dz * weight
                    break
        for b in range(RAYS * HITS):
            count += 1 if face[row, b] >= 0 and couples[row, b] else 0
        out_coupling[row] = count / (RAYS * HITS)
        length = math.sqrt(x * x + y * y + z * z)
        scale = 1.0 / length if length > 0.0 else 0.0
        out_bearing[row, 0], out_bearing[row, 1], out_bearing[row, 2] = x * scale, y * scale, z * scale
