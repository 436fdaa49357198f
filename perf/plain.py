"""What rays are measured against: a textbook walk through every cell of a dense array, and meshes."""

from __future__ import annotations

import math

import numba
import numpy as np


@numba.njit(nogil=True, error_model="numpy")
def setup(o, d):
    """Cell, step, time of the next crossing and time from one to the next, along one axis."""
    cell = math.floor(o)
    if d > 0:
        return cell, 1, (cell + 1 - o) / d, 1 / d
    if d < 0:
        return cell, -1, (cell - o) / d, -1 / d
    return cell, 0, math.inf, math.inf


@numba.njit(nogil=True, error_model="numpy")
def first_hits(filled, origin, direction, reach, out):
    """Time of each ray's first hit, inf for none. filled: uint8 (x, y, z). Origins lie inside."""
    nx, ny, nz = filled.shape
    for i in range(len(origin)):
        x, sx, tx, dx = setup(origin[i, 0], direction[i, 0])
        y, sy, ty, dy = setup(origin[i, 1], direction[i, 1])
        z, sz, tz, dz = setup(origin[i, 2], direction[i, 2])
        out[i] = math.inf
        while True:
            if tx <= ty and tx <= tz:
                t = tx
                x += sx
                tx += dx
            elif ty <= tz:
                t = ty
                y += sy
                ty += dy
            else:
                t = tz
                z += sz
                tz += dz
            if t >= reach or x < 0 or x >= nx or y < 0 or y >= ny or z < 0 or z >= nz:
                break
            if filled[x, y, z]:
                out[i] = t
                break


@numba.njit(nogil=True, error_model="numpy")
def occlusions(filled, per_metre, a, b, out):
    """Occlusion of each path over at most 16 cells. filled: uint8 ids (x, y, z); per_metre: by id."""
    nx, ny, nz = filled.shape
    for i in range(len(a)):
        d = b[i] - a[i]
        length = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        x, sx, tx, dx = setup(a[i, 0], d[0])
        y, sy, ty, dy = setup(a[i, 1], d[1])
        z, sz, tz, dz = setup(a[i, 2], d[2])
        out[i], entered, counted = 0.0, 0.0, 0
        while entered < 1.0 and counted < 16:
            left = min(tx, ty, tz)
            if filled[x, y, z]:
                out[i] += per_metre[filled[x, y, z]] * (min(left, 1.0) - entered) * length
                counted += 1
            if tx <= ty and tx <= tz:
                x += sx
                tx += dx
            elif ty <= tz:
                y += sy
                ty += dy
            else:
                z += sz
                tz += dz
            entered = left
            if x < 0 or x >= nx or y < 0 or y >= ny or z < 0 or z >= nz:
                break


@numba.njit(nogil=True, error_model="numpy")
def rectangles_of(solid, out):
    """Merge the faces across the first axis: rows of equal runs along the last. Returns how many there are.

    solid: bool (plane, u, v). out: int32 (n, 6), plane, u, v, du, dv and which side is filled.
    """
    planes, rows, columns = solid.shape
    count, begun = 0, np.full(columns, -1)
    for p in range(planes - 1):
        for u in range(rows):
            v = 0
            while v < columns:
                below, above = solid[p, u, v], solid[p + 1, u, v]
                if below == above:
                    v += 1
                    continue
                end = v + 1
                while end < columns and solid[p, u, end] == below and solid[p + 1, u, end] == above:
                    end += 1
                k = begun[v]
                if (
                    k >= 0
                    and out[k, 0] == p + 1
                    and out[k, 1] + out[k, 3] == u
                    and out[k, 4] == end - v
                    and out[k, 5] == below
                ):
                    out[k, 3] += 1
                else:
                    if count == len(out):
                        raise ValueError("more rectangles than there is room for")
                    out[count, 0], out[count, 1], out[count, 2] = p + 1, u, v
                    out[count, 3], out[count, 4], out[count, 5] = 1, end - v, below
                    begun[v] = count
                    count += 1
                v = end
    return count


def quads(filled):
    """Rectangles (axis, plane, u, v, du, dv) of all faces between filled and empty cells, merged."""
    found = []
    for axis in range(3):
        solid = np.ascontiguousarray(np.moveaxis(filled != 0, axis, 0))
        out = np.zeros((solid.size // 16 + 16, 6), np.int32)
        out = out[: rectangles_of(solid, out)]
        found.append(np.column_stack([np.full(len(out), axis, np.int32), out[:, :5]]))
    return np.concatenate(found)


def triangles(rectangles):
    """Corners (n, 3) float32 and triangles (m, 3) int32 of rectangles."""
    axis, plane, u, v, du, dv = rectangles.T
    corner = np.zeros((len(plane), 4, 3), np.float32)
    for k, (a, b) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
        for one in range(3):
            first, second = (other for other in range(3) if other != one)
            mine = axis == one
            corner[mine, k, one] = plane[mine]
            corner[mine, k, first], corner[mine, k, second] = (u + a * du)[mine], (v + b * dv)[mine]
    face = 4 * np.arange(len(plane))[:, None] + np.array([0, 1, 2, 0, 2, 3])
    return corner.reshape(-1, 3), face.reshape(-1, 3).astype(np.int32)
