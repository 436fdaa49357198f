"""Where one can walk in any world: standing places, ways between them, and straight lines along ways."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.world.materials import FLUID, OPEN, SOLID

Cell = tuple[int, int, int]
Point = tuple[float, float, float]

FOLIAGE = (
    "leaves", "log", "wood", "stem", "mushroom_block", "hyphae", "wart_block", "bamboo", "cactus",
    "tree", "needles",
)  # fmt: skip
"""Ends of names that grow on the ground rather than being it; Luanti's trunks are trees."""
THIN = ("carpet", "_pressure_plate")
"""Ends of names of what lies on the floor under one's feet."""
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))
"""(x, z) of the four sides."""


class Ground(NamedTuple):
    """A box of a world as a walker sees it; arrays are [x, y, z] from `lo`, planes [x, z]."""

    lo: Cell
    bare: NDArray[np.bool_]
    """Solid, and not grown: walls and soil, but no trees."""
    free: NDArray[np.bool_]
    """A body can be here: open, or a door where doors are passed."""
    stand: NDArray[np.bool_]
    """Feet can be here: two free cells on a solid one."""
    top: NDArray[np.int64]
    """y of the highest cell that is not open."""
    soil: NDArray[np.int64]
    """y of the highest solid cell that nothing has grown."""
    wet: NDArray[np.bool_]
    """The highest cell is a fluid."""
    known: NDArray[np.bool_]
    """There is anything at all; a column without is not of the file."""

    def local(self, cell: Cell) -> Cell:
        """A cell of the world as an index into the arrays."""
        return (cell[0] - self.lo[0], cell[1] - self.lo[1], cell[2] - self.lo[2])

    def roofed(self, cell: Cell) -> bool:
        """Whether something lies above a cell."""
        x, _, z = self.local(cell)
        return bool(self.top[x, z] > cell[1])

    def passable(self, cell: Cell) -> bool:
        """Whether there is room for feet and head; outside the box there is none."""
        x, y, z = self.local(cell)
        inside = 0 <= x < self.free.shape[0] and 0 <= z < self.free.shape[2]
        return inside and bool(self.free[x, y : y + 2, z].all())

    def surface(self, x: float, z: float) -> int | None:
        """y of the highest cell at a place [m], None where nothing is known."""
        i, k = floor(x) - self.lo[0], floor(z) - self.lo[2]
        inside = 0 <= i < self.top.shape[0] and 0 <= k < self.top.shape[1]
        return int(self.top[i, k]) if inside and self.known[i, k] else None


def survey(world: ea.World, centre: tuple[int, int], reach: int, *, doors: bool = False) -> Ground:
    """Look at everything within `reach` cells of `centre` (x, z), inside the world.

    doors: whether closed doors are passed.
    """
    start, end = world.origin, world.origin + world.size
    x0, z0 = (max(int(start[a]), c - reach) for a, c in zip((0, 2), centre, strict=True))
    x1, z1 = (min(int(end[a]), c + reach) for a, c in zip((0, 2), centre, strict=True))
    corner = x0 - int(start[0]), z0 - int(start[2])
    top = world.heights()[corner[0] : corner[0] + x1 - x0, corner[1] : corner[1] + z1 - z0]
    # Two cells of air above the highest, so that one can stand on it.
    y0, y1 = int(start[1]), max(int(top.max()), int(start[1])) + 4
    ids = world.ids((x0, y0, z0), (x1, y1, z1))
    kind = world.palette.kind[ids]
    solid, free = kind == SOLID, kind == OPEN
    passed = (*THIN, "_door") if doors else THIN
    free |= np.array([name.endswith(passed) for name in world.palette.names])[ids]
    grown = np.array([name.endswith(FOLIAGE) for name in world.palette.names])
    bare = solid & ~grown[ids]
    soil = np.where(bare.any(axis=1), y1 - 1 - bare[:, ::-1].argmax(axis=1), y0 - 1)
    stand = np.zeros(ids.shape, np.bool_)
    stand[1:-1, 1:-2, 1:-1] = (free[:, 1:-2] & free[:, 2:-1] & solid[:, :-3])[1:-1, :, 1:-1]
    wet = np.take_along_axis(kind, np.maximum(top - y0, 0)[:, None], 1)[:, 0] == FLUID
    return Ground((x0, y0, z0), bare, free, stand, top, soil, wet, top >= y0)


class Ways(NamedTuple):
    """All ways from one cell."""

    order: list[Cell]
    """Cells that can be reached, the nearest first."""
    came: dict[Cell, Cell]
    """The cell before each; the first one is before itself."""
    far: dict[Cell, int]
    """Steps to each."""

    def to(self, cell: Cell) -> list[Cell]:
        """The cells from the first one to `cell`."""
        way = [cell]
        while self.came[way[-1]] != way[-1]:
            way.append(self.came[way[-1]])
        return way[::-1]


def ways(ground: Ground, start: Cell, *, most: int = 12_000, farthest: int = 10_000) -> Ways:
    """Walk from a cell in all directions, up and down steps of one cell.

    most, farthest: cells, and steps, after which it ends."""
    _, ny, nz = ground.stand.shape
    across, stand, free = ny * nz, ground.stand.tobytes(), ground.free.tobytes()
    x, y, z = ground.local(start)
    first = (x * ny + y) * nz + z
    came, far, queue = {first: first}, {first: 0}, deque([first])
    while queue and len(came) < most:
        here = queue.popleft()
        if far[here] >= farthest:
            break
        for step in (across, -across, 1, -1):
            there = here + step
            if stand[there]:
                pass
            elif stand[there + nz] and free[here + 2 * nz]:  # up: the head needs room first
                there += nz
            elif stand[there - nz] and free[there + nz]:
                there -= nz
            else:
                continue
            if there not in came:
                came[there], far[there] = here, far[here] + 1
                queue.append(there)
    lx, ly, lz = ground.lo
    cells = {i: (i // across + lx, i // nz % ny + ly, i % nz + lz) for i in came}
    return Ways(
        list(cells.values()),
        {cells[i]: cells[j] for i, j in came.items()},
        {cells[i]: n for i, n in far.items()},
    )


def straightened(ground: Ground, way: list[Cell]) -> list[Point]:
    """Points on the ground along a way [m], in lines as long as a body of 0.6 m has room for."""
    corners, k = [way[0]], 0
    while k < len(way) - 1:
        n = k + 1
        while n < len(way) - 1 and way[n + 1][1] == way[k][1] and has_room(ground, way[k], way[n + 1]):
            n += 1
        corners.append(way[n])
        k = n
    return on_foot(corners)


def on_foot(way: list[Cell]) -> list[Point]:
    """Points on the ground through the middle of cells [m]; steps are climbed before their edge."""
    points = [_feet(way[0])]
    for a, b in pairwise(way):
        if a[1] != b[1]:
            points.append(((a[0] + b[0] + 1) / 2.0, float(max(a[1], b[1])), (a[2] + b[2] + 1) / 2.0))
        points.append(_feet(b))
    return points


def has_room(ground: Ground, a: Cell, b: Cell, half: float = 0.3) -> bool:
    """Whether a body can walk the straight line between two cells of one height."""
    (ax, y, az), (bx, _, bz) = ground.local(a), ground.local(b)
    count = 1 + 8 * max(abs(bx - ax), abs(bz - az))
    x, z = np.linspace(ax, bx, count) + 0.5, np.linspace(az, bz, count) + 0.5
    return all(
        bool(ground.stand[(x + dx).astype(int), y, (z + dz).astype(int)].all())
        for dx in (-half, half)
        for dz in (-half, half)
    )


def _feet(cell: Cell) -> Point:
    return (cell[0] + 0.5, float(cell[1]), cell[2] + 0.5)
