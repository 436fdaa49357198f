"""Where in a world file a scenario begins: outdoors, on what its builder would call the ground."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

import ecs_audio as ea
from scenarios._ground import Cell, Ground, survey

REACH = 96
"""How far around its middle a world is looked at [m]."""
SHARE = 0.1
"""So much of all places lies on the ground or below it; the rest may be roofs."""
STEP = 2
"""An area so much higher or lower than the ground is of it [m]."""
ROOM = 400
"""Columns of an area that a house and the way to it have room in."""
CLEAR = 7
"""Edge of the square that is looked at around where one stands [m]."""


class Outdoors(NamedTuple):
    """The highest floor of each column, be it ground or roof."""

    ground: Ground
    middle: tuple[float, float]
    """(x, z) of the middle of all that is known [m]."""
    level: int | None
    """y of feet on the ground, None where nobody can stand."""
    wide: NDArray[np.bool_]
    """Columns where one stands on the ground, with ROOM to walk about, [x, z] from the ground's `lo`."""


def outdoors(world: ea.World) -> Outdoors:
    """Tell ground from roofs. Raises ValueError for a world that is empty.

    Places that one can walk between by steps of one cell are an area. From a roof one falls to the ground,
    but never the other way: the ground is the lowest of the areas, but for pits, which have few places.
    """
    filled = np.argwhere(world.heights() >= world.origin[1]) + world.origin[[0, 2]]
    if not len(filled):
        raise ValueError("the world is empty")
    x, z = filled.mean(axis=0).tolist()
    ground = survey(world, (int(x), int(z)), REACH)
    feet = ground.soil + 1
    up = np.clip(feet - ground.lo[1], 0, ground.stand.shape[1] - 1)
    stands = np.take_along_axis(ground.stand, up[:, None], 1)[:, 0] & ~ground.wet
    areas = _areas(feet, stands)
    nowhere = np.zeros_like(stands)
    if not areas:
        return Outdoors(ground, (x, z), None, nowhere)

    levels = np.array([np.median(feet.ravel()[area]) for area in areas])
    order = np.argsort(levels)
    below = np.cumsum([len(areas[n]) for n in order])
    level = levels[order[np.searchsorted(below, SHARE * below[-1])]]
    wide = nowhere.ravel()
    for area, own in zip(areas, levels, strict=True):
        if abs(own - level) <= STEP and len(area) >= ROOM:
            wide[area] = True
    return Outdoors(ground, (x, z), round(level), wide.reshape(stands.shape))


def best_spot(found: Outdoors) -> Cell:
    """Standing room as near as possible to the middle: flat, dry, under the sky, on wide ground if any is."""
    ground, (x, z) = found.ground, found.middle
    dry = ground.known & ~ground.wet & (ground.soil == ground.top)
    if (dry & found.wide).any():
        dry &= found.wide
    windows = sliding_window_view(np.where(dry, ground.soil, -(1 << 20)), (CLEAR, CLEAR))
    rough = windows.max(axis=(2, 3)) - windows.min(axis=(2, 3))
    rows, lines = (np.arange(n) + CLEAR // 2 for n in rough.shape)
    away = np.hypot(rows[:, None] + ground.lo[0] - x, lines[None, :] + ground.lo[2] - z)
    cost = away + np.where(dry[np.ix_(rows, lines)], 8.0 * rough, 1e9)
    i, k = (int(n) + CLEAR // 2 for n in np.unravel_index(int(np.argmin(cost)), cost.shape))
    return ground.lo[0] + i, int(ground.top[i, k]) + 1, ground.lo[2] + k


def _areas(feet: NDArray[np.int64], stands: NDArray[np.bool_]) -> list[list[int]]:
    """Columns, as indices into the flat planes, by areas; nobody `stands` along the border."""
    across, height, todo = feet.shape[1], feet.ravel().tolist(), stands.ravel().tolist()
    areas = []
    for start in np.flatnonzero(stands).tolist():
        if not todo[start]:
            continue
        todo[start] = False
        area, queue = [start], deque([start])
        while queue:
            here = queue.popleft()
            for there in (here + across, here - across, here + 1, here - 1):
                if todo[there] and abs(height[there] - height[here]) <= 1:
                    todo[there] = False
                    area.append(there)
                    queue.append(there)
        areas.append(area)
    return areas
