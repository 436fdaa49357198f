"""One survey of a pair of ends, the slow way: Python floats, lists, one cell after another.

It shares with the kernels the walk of `naive.py`, where a reflected ray goes on, and which way each ray goes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import naive
from naive_echoes import NO_PLANE, POINT, specular_points

RAYS, HITS, REACH = 16, 3, 512.0
MILLIMETRE = 1e-3
TOUCH = 2e-3


class Hit(NamedTuple):
    time: float
    face: int
    cell: tuple[int, int, int]
    point: list[float]
    couples: bool


class Answer(NamedTuple):
    trails: list[list[Hit]]
    coupling: float
    bearing: list[float]


class Cells:
    """What a world is made of, as nested lists; nothing beyond its box."""

    def __init__(self, world):
        self.low = (world.section_origin * 16).tolist()
        self.shape = [16 * n for n in world.slots.shape]
        high = [a + n for a, n in zip(self.low, self.shape, strict=True)]
        self.ids = world.ids(self.low, high).tolist()
        self.kind = world.palette.kind.tolist()
        self.size = world.cell_size


def first_hit(cells, o, d, reach):
    """Time, cell and face of the first hit, (inf, None, -1) for none: the walk of `naive.py` in one loop.

    It looks at no cell beyond the box of the world that it cannot come back from.
    """
    (ox, oy, oz), (ax, ay, az) = [x / cells.size for x in o], cells.low
    dx, dy, dz = (x / cells.size for x in d)
    sx, sy, sz = (0 if v == 0 or not math.isfinite(1 / v) else (1 if v > 0 else -1) for v in (dx, dy, dz))
    ix, iy, iz = (1 / v if s else math.inf for v, s in ((dx, sx), (dy, sy), (dz, sz)))
    x, y, z = (math.ceil(p) - 1 if s > 0 else math.floor(p) for p, s in ((ox, sx), (oy, sy), (oz, sz)))
    nx, ny, nz = cells.shape
    ids, kind, own, axis, t = cells.ids, cells.kind, None, -1, 0.0
    while True:
        i, j, k = x - ax, y - ay, z - az
        met = ids[i][j][k] if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else 0
        if axis < 0:
            own = met if kind[met] == naive.FLUID else None
        elif kind[met] != naive.OPEN and met != own:
            return t, (x, y, z), 2 * axis + ((dx, dy, dz)[axis] < 0)
        tx = ((x + 1 if sx > 0 else x) - ox) * ix if sx else math.inf
        ty = ((y + 1 if sy > 0 else y) - oy) * iy if sy else math.inf
        tz = ((z + 1 if sz > 0 else z) - oz) * iz if sz else math.inf
        if tx <= ty and tx <= tz:
            t, axis, x = tx, 0, x + sx
        elif ty <= tz:
            t, axis, y = ty, 1, y + sy
        else:
            t, axis, z = tz, 2, z + sz
        out_x = (x < ax and sx <= 0) or (x >= ax + nx and sx >= 0)
        out_y = (y < ay and sy <= 0) or (y >= ay + ny and sy >= 0)
        out_z = (z < az and sz <= 0) or (z >= az + nz and sz >= 0)
        if not t < reach or out_x or out_y or out_z:
            return math.inf, None, -1


def away(point, face, by):
    """A point before the face it lies on."""
    before = list(point)
    before[face // 2] += by if face % 2 else -by
    return before


def reflect(cells, o, d, t, cell, face):
    """Point on the face, and where the ray goes on: a millimetre before it, never in the cell beside."""
    point, on = [], []
    for axis in range(3):
        x, v, c = o[axis] / cells.size, d[axis] / cells.size, cell[axis]
        if axis == face // 2:
            edge = float(c + face % 2)
            off = min(MILLIMETRE / cells.size, 0.5)
            point.append(edge * cells.size)
            on.append((edge + off if face % 2 else edge - off) * cells.size)
        else:
            p = x + v * t
            margin = 1e-6 + 1e-15 * abs(c)
            point.append(min(max(p, float(c)), float(c + 1)) * cells.size)
            on.append(min(max(p, c + margin), c + 1 - margin) * cells.size)
    back = [-v if axis == face // 2 else v for axis, v in enumerate(d)]
    return point, on, back


def unit(a, b):
    """Distance of two places, and the unit vector from the first to the second."""
    d = [q - p for p, q in zip(a, b, strict=True)]
    length = math.sqrt(sum(x * x for x in d))
    return length, [x / length for x in d] if length > 0 else d


def sees(cells, eye, place):
    """Whether a ray from one place reaches the other."""
    length, d = unit(eye, place)
    return length == 0 or first_hit(cells, eye, d, length)[2] < 0


def directions(number):
    """Where the rays of survey `number` go: a Fibonacci lattice, turned by a golden angle for each survey."""
    golden = (1 + math.sqrt(5)) / 2
    turn = number * math.pi * (3 - math.sqrt(5))
    rays = []
    for i in range(RAYS):
        height = (2 * i + 1) / RAYS - 1
        longitude = 2 * math.pi * golden * i + turn
        across = math.sqrt(1 - height * height)
        rays.append([across * math.cos(longitude), height, across * math.sin(longitude)])
    return rays


def survey(cells, source, listener, rays):
    """What 16 rays around a source find, which of it the listener sees, and where that comes from."""
    source, listener = [float(x) for x in source], [float(x) for x in listener]
    trails, heard, total = [], 0, [0.0, 0.0, 0.0]
    for d in rays:
        o, d, trail = source, [float(x) for x in d], []
        for _ in range(HITS):
            t, cell, face = first_hit(cells, o, d, REACH)
            if face < 0:
                break
            point, on, back = reflect(cells, o, d, t, cell, face)
            couples = sees(cells, listener, away(point, face, MILLIMETRE))
            trail.append(Hit(t, face, cell, point, couples))
            o, d = on, back
        trails.append(trail)
        heard += sum(hit.couples for hit in trail)
        way = 0.0
        for hit in trail:
            way += hit.time
            if hit.couples:
                length, toward = unit(listener, hit.point)
                total = [x + y / (way + length) ** 2 for x, y in zip(total, toward, strict=True)]
                break
    return Answer(trails, heard / (RAYS * HITS), unit([0.0, 0.0, 0.0], total)[1])


def plane_ahead(cells, start, end):
    """The plane that a ray to a place meets there, or NO_PLANE."""
    length, d = unit(start, end)
    _, cell, face = first_hit(cells, start, d, length + TOUCH)
    return NO_PLANE if face < 0 else (cell[face // 2] + face % 2) * 8 + face


def bounces_of(source, listener, first, second, point, size):
    """Where an echo by these planes, or through this point, leaves a wall; None if it cannot be."""
    if first == POINT:
        return [point]
    return specular_points(source, listener, [first] if second == NO_PLANE else [first, second], size)


def echo_holds(cells, source, listener, first, second, point):
    """Whether an echo by these planes, or through this point, can be heard now."""
    if first == POINT:
        before = away(point, second & 7, MILLIMETRE)
        return sees(cells, listener, before) and sees(cells, source, before)
    planes = [first] if second == NO_PLANE else [first, second]
    bounces = bounces_of(source, listener, first, second, point, cells.size)
    if bounces is None:
        return False
    legs = [(listener, bounces[-1], planes[-1]), (source, bounces[0], planes[0])]
    if len(planes) == 2:
        before = away(bounces[1], second & 7, MILLIMETRE)
        legs.append((before, bounces[0], first))
    return all(plane_ahead(cells, a, b) == plane for a, b, plane in legs)
