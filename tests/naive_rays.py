"""Rays by walking every cell of a dense array: slow twins that numba makes fast enough for a million rays.

They share with the kernels only what exactness to the bit needs: the closed form of every crossing's time,
the order of ties, the rule for origins exactly on a face, and where a reflected ray goes on. `naive.py` has
the same walk once more in plain Python; a test holds them to each other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

OPEN, SOLID, FLUID = 0, 1, 2
MISS, REFUSED = -1, -2


class Dense(NamedTuple):
    """A world as one array."""

    ids: np.ndarray
    low: np.ndarray
    kind: np.ndarray
    occlusion: np.ndarray
    size: float


def dense(world):
    """The whole world as an array of ids, uint16 (x, y, z)."""
    low = world.section_origin * 16
    high = low + np.array(world.slots.shape) * 16
    palette = world.palette
    return Dense(world.ids(low, high), low, palette.kind, palette.occlusion, float(world.cell_size))


@numba.njit(error_model="numpy")
def step_of(d):
    return 0 if d == 0.0 or not math.isfinite(1.0 / d) else (1 if d > 0 else -1)


@numba.njit(error_model="numpy")
def first_cell(o, step):
    return math.ceil(o) - 1 if step > 0 else math.floor(o)


@numba.njit(error_model="numpy")
def material(ids, x, y, z):
    if 0 <= x < ids.shape[0] and 0 <= y < ids.shape[1] and 0 <= z < ids.shape[2]:
        return ids[x, y, z]
    return 0


@numba.njit(error_model="numpy")
def gone(ids, c, step):
    """Whether a walk has left the array for good."""
    left = False
    for a in range(3):
        left |= (c[a] < 0 and step[a] <= 0) or (c[a] >= ids.shape[a] and step[a] >= 0)
    return left


@numba.njit(error_model="numpy")
def first_hit(ids, low, kind, o, d, reach, cell):
    """Time and axis of the first hit, or (inf, -1); cell becomes the one that was hit, the last otherwise."""
    step, inverse, c = np.zeros(3, np.int64), np.zeros(3), np.zeros(3, np.int64)
    for a in range(3):
        step[a] = step_of(d[a])
        inverse[a] = 1.0 / d[a] if step[a] != 0 else 0.0
        c[a] = first_cell(o[a], step[a]) - low[a]
    own = material(ids, c[0], c[1], c[2])
    while not gone(ids, c, step):
        axis, t = -1, math.inf
        for a in range(3):
            if step[a] != 0:
                edge = float(c[a] + low[a] + (1 if step[a] > 0 else 0))
                crossed = (edge - o[a]) * inverse[a]
                if crossed < t:
                    axis, t = a, crossed
        if not t < reach:
            break
        c[axis] += step[axis]
        m = material(ids, c[0], c[1], c[2])
        if kind[m] != OPEN and not (m == own and kind[m] == FLUID):
            cell[:] = c + low
            return t, axis
    return math.inf, -1


@numba.njit(error_model="numpy")
def trails(ids, low, kind, size, origin, direction, reach, segments, time, face, cell, point, mat):
    """Follow rays (n, 3) over `segments` mirror reflections; outputs (n, segments). Updates the rays."""
    c = np.zeros(3, np.int64)
    off = min(0.001 / size, 0.5)
    for i in range(len(origin)):
        time[i], face[i] = math.inf, MISS
        for s in range(segments):
            o, d = origin[i] / size, direction[i] / size
            total = abs(o[0]) + abs(o[1]) + abs(o[2])
            moves = step_of(d[0]) != 0 or step_of(d[1]) != 0 or step_of(d[2]) != 0
            if not (total < 1e12 and 0 <= reach[i] < math.inf and math.isfinite(d.sum()) and moves):
                face[i, s:] = REFUSED
                break
            t, axis = first_hit(ids, low, kind, o, d, reach[i], c)
            if axis < 0:
                break
            time[i, s], face[i, s], cell[i, s] = t, 2 * axis + (d[axis] < 0), c
            mat[i, s] = ids[c[0] - low[0], c[1] - low[1], c[2] - low[2]]
            for a in range(3):
                if a == axis:
                    p = float(c[a] + (d[a] < 0))
                    q = p - off if d[a] > 0 else p + off
                else:
                    p = o[a] + d[a] * t
                    margin = 1e-6 + 1e-15 * abs(float(c[a] if d[a] >= 0 else -c[a] - 1))
                    q = min(max(p, c[a] + margin), c[a] + 1 - margin)
                    p = min(max(p, float(c[a])), float(c[a] + 1))
                point[i, s, a], origin[i, a] = p * size, q * size
            direction[i, axis] = -direction[i, axis]


@numba.njit(error_model="numpy")
def occlusion(ids, low, kind, per_metre, size, a, b, ear, mouth):
    """Occlusion of the path from a to b [cells]; ear and mouth are the cells of the unshifted ends."""
    d = b - a
    length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * size
    step, inverse, c = np.zeros(3, np.int64), np.zeros(3), np.zeros(3, np.int64)
    for k in range(3):
        step[k] = step_of(d[k])
        inverse[k] = 1.0 / d[k] if step[k] != 0 else 0.0
        c[k] = first_cell(a[k], step[k]) - low[k]
    if not step.any():
        return 0.0
    e, m = ear - low, mouth - low
    here, there = material(ids, e[0], e[1], e[2]), material(ids, m[0], m[1], m[2])
    buried = kind[here] == SOLID
    total, entered, counted = 0.0, 0.0, 0
    while entered < 1.0 and not gone(ids, c, step):
        axis, left = -1, math.inf
        for k in range(3):
            if step[k] != 0:
                edge = float(c[k] + low[k] + (1 if step[k] > 0 else 0))
                crossed = (edge - a[k]) * inverse[k]
                if crossed < left:
                    axis, left = k, crossed
        now = material(ids, c[0], c[1], c[2])
        fluid = kind[now] == FLUID and (now in (here, there))
        buried = buried and kind[now] == SOLID
        own = (c == e).all() or (c == m).all()
        if kind[now] != OPEN and not buried and not fluid and not own:
            total += per_metre[now] * ((min(left, 1.0) - entered) * length)
            counted += 1
            if counted >= max(16, math.ceil(16 / size)) or total > 64:
                break
        entered = left
        c[axis] += step[axis]
    return total


@numba.njit(error_model="numpy")
def transmissions(ids, low, kind, per_metre, size, ear, mouth, own):
    """exp(-3 occlusion) of straight paths (n, 3) [cells]; own: (n, 6) cells of the unshifted ends."""
    out = np.zeros(len(ear))
    for i in range(len(ear)):
        occ = occlusion(ids, low, kind, per_metre, size, ear[i], mouth[i], own[i, :3], own[i, 3:])
        out[i] = math.exp(-3.0 * occ)
    return out
