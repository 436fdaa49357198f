"""Finding a room in any world: roofed, walled all round, with a wall that can be broken; or building one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import ecs_audio as ea
from scenarios._ground import SIDES, Cell, Ground, Ways
from scenarios._house import house, stuff

FARTHEST = 8
"""Cells to the farthest wall of a room, and to its ceiling."""
THICKEST = 3
"""Cells of wall that an explosion breaks."""
EAVES = 3
"""Cells that a roof may jut out."""
HOUSE = 9
"""Cells of the edge of the house that is built."""
TERRACE = 48
"""Cells of the edge of the ground that is made where there is none."""
YARD = 2
"""Cells around it that are levelled."""


class Room(NamedTuple):
    """A place indoors, and the wall beside it."""

    cell: Cell
    """Where to stand."""
    side: tuple[int, int]
    """(x, z) of the way to the wall."""
    wall: list[Cell]
    """The cells of the wall straight ahead, at the height of feet and head, the nearest first."""
    outside: Cell
    """Beyond it, under the sky."""


def find_room(world: ea.World, ground: Ground, found: Ways) -> Room | None:
    """The nearest room along `found` ways; of the places in it, the one with most space around."""
    best: tuple[int, Room] | None = None
    first = 0
    for cell in found.order:
        if best is not None and found.far[cell] > first + 5:
            break
        if not ground.roofed(cell) or not _ceiling(ground, cell):
            continue
        reach = [_distance(ground, cell, side) for side in SIDES]
        if None in reach:
            continue
        near = min(d for d in reach if d is not None)
        if best is not None and near <= best[0]:
            continue
        room = _breakable(world, ground, cell)
        if room is not None and near > 1:
            first = first if best is not None else found.far[cell]
            best = near, room
    return None if best is None else best[1]


def build_house(world: ea.World, ground: Ground, spot: Cell) -> None:
    """Put a stone house on the flattest dry ground about 12 m from `spot`, its door towards it.

    Not on a flat roof beside it, or on a terrace below: what is higher or lower costs as what is rough.
    """
    edge = HOUSE + 2 * YARD
    x, _, z = ground.local(spot)
    windows = sliding_window_view(ground.soil, (edge, edge))
    dry = sliding_window_view(ground.known & ~ground.wet, (edge, edge)).all(axis=(2, 3))
    rough = windows.max(axis=(2, 3)) - windows.min(axis=(2, 3))
    middle = np.stack(np.meshgrid(*(np.arange(n) + edge // 2 for n in rough.shape), indexing="ij"), -1)
    away = np.hypot(middle[..., 0] - x, middle[..., 1] - z)
    off = np.maximum(windows.max(axis=(2, 3)) - spot[1], spot[1] - 2 - windows.min(axis=(2, 3)))
    cost = 4.0 * (rough + np.maximum(off, 0)) + np.abs(away - 12.0) + np.where(dry, 0.0, 1e9)
    i, k = (int(n) for n in np.unravel_index(int(np.argmin(cost)), cost.shape))
    floor = int(np.median(windows[i, k]))
    dx, dz = x - (i + edge // 2), z - (k + edge // 2)
    front = ("+x" if dx > 0 else "-x") if abs(dx) > abs(dz) else ("+z" if dz > 0 else "-z")
    ids = house(stuff(world, "stone_bricks", "spruce_planks"), deep=HOUSE, wide=HOUSE, front=front)
    west, north = ground.lo[0] + i, ground.lo[2] + k
    world.fill((west, floor - 6, north), (west + edge, floor + 1, north + edge), "cobblestone")
    world.fill((west, floor + 1, north), (west + edge, floor + ids.shape[1] + 8, north + edge), "air")
    world.put((west + YARD, floor, north + YARD), ids)


def build_terrace(world: ea.World, ground: Ground, middle: tuple[int, int]) -> Cell:
    """Level a square around `middle` (x, z), land or water; returns the standing place there."""
    x, z = middle[0] - ground.lo[0], middle[1] - ground.lo[2]
    half = TERRACE // 2
    around = np.s_[max(x - half, 0) : x + half, max(z - half, 0) : z + half]
    top = np.where(ground.wet, ground.top, ground.soil)[around]
    known = ground.known[around]
    floor = int(np.median(top[known])) if known.any() else int(top.max())
    low, high = (middle[0] - half, middle[1] - half), (middle[0] + half, middle[1] + half)
    world.fill((low[0], floor - 3, low[1]), (high[0], floor + 1, high[1]), "gravel")
    world.fill((low[0], floor + 1, low[1]), (high[0], int(ground.top.max()) + 1, high[1]), "air")
    return middle[0], floor + 1, middle[1]


def _ceiling(ground: Ground, cell: Cell) -> bool:
    x, y, z = ground.local(cell)
    return bool(ground.bare[x, y + 2 : y + FARTHEST, z].any())


def _distance(ground: Ground, cell: Cell, side: tuple[int, int]) -> int | None:
    """Steps to the wall on one side, at the height of the head."""
    x, y, z = ground.local(cell)
    nx, _, nz = ground.bare.shape
    for n in range(1, FARTHEST + 1):
        u, w = x + n * side[0], z + n * side[1]
        if not (0 <= u < nx and 0 <= w < nz):
            return None
        if ground.bare[u, y + 1, w]:
            return n
    return None


def _breakable(world: ea.World, ground: Ground, cell: Cell) -> Room | None:
    """The room seen from a place in it, if one of its walls is thin, muffles, and has the open behind it."""
    x, y, z = cell
    for side in SIDES:
        away = _distance(ground, cell, side)
        if away is None or not 2 <= away <= 7:
            continue
        ahead = [(x + n * side[0], y, z + n * side[1]) for n in range(away, away + THICKEST + EAVES + 1)]
        wall, behind = [], 0
        while behind < THICKEST and not ground.passable(ahead[behind]):
            wall += [ahead[behind], _above(ahead[behind])]
            behind += 1
        if behind and _dense(world, wall[0::2]) and _dense(world, wall[1::2]):
            for n in range(behind, behind + EAVES + 1):
                if not ground.passable(ahead[n]):
                    break
                if not ground.roofed(ahead[n]):
                    return Room(cell, side, wall, ahead[n])
    return None


def _above(cell: Cell) -> Cell:
    return cell[0], cell[1] + 1, cell[2]


def _dense(world: ea.World, cells: list[Cell]) -> bool:
    """Whether cells behind one another muffle like a wall: more than a window or a hedge."""
    numbers = [world.palette.id(world.material(cell)) for cell in cells]
    return float(world.palette.occlusion[numbers].sum()) >= 0.9
