"""A place between two steep sides in any world, where a clap is answered."""

from __future__ import annotations

from math import dist

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from scenarios._ground import Ground, survey
from scenarios._sight import Solids, Vector, mirrors, sees, solids

EARS = 1.6
"""Above the ground [m]."""
RISE = 4
"""How much higher than the floor both sides must be [m]."""
WIDTH = (6, 80)
"""From side to side, at least and at most [m]."""
APART = (5.0, 20.0)
"""From the clap to the listener, at least and at most [m]."""
AROUND = 48
"""Mirrors are looked for that far around both [m]."""
TRIES = 400
"""Pairs of places drawn, most of which are too far apart."""
DETOUR = 2.0
"""A longer way of an echo than the direct one counts from here on [m]: 5.8 ms."""


def gorge(world: ea.World, seed: int) -> tuple[Vector, Vector, Solids]:
    """Where to clap and where to listen [m], and what stands around: the pair, of those drawn, that most
    mirrors answer.

    Raises ValueError where nothing is between two sides.
    """
    centre = world.origin + world.size // 2
    ground = survey(world, (int(centre[0]), int(centre[2])), int(max(world.size)))
    floors = [_floors(ground, axis) for axis in (0, 1)]
    places = np.argwhere(floors[0] | floors[1])
    if len(places) < 2:
        raise ValueError(f"there is no canyon in {world}: no place between two sides {RISE} m higher")
    points = [_above(ground, int(x), int(z)) for x, z in places]
    middle = np.mean(points, axis=0).astype(np.int64)
    reach = np.ptp(points, axis=0).astype(np.int64) // 2 + AROUND
    around = solids(world, middle - reach, middle + reach)
    rng = np.random.Generator(np.random.PCG64(seed))
    best, answers = None, 0
    for a, b in rng.integers(len(points), size=(TRIES, 2)):
        clap, ear = points[a], points[b]
        if APART[0] <= dist(clap, ear) <= APART[1] and sees(around, clap, ear):
            late = dist(clap, ear) + DETOUR
            count = sum(way.length > late for way in mirrors(around, clap, ear, 1))
            if count > answers:
                best, answers = (clap, ear, around), count
    if best is None:
        raise ValueError(f"there is no canyon in {world} whose sides answer")
    return best


def _floors(ground: Ground, axis: int) -> NDArray[np.bool_]:
    """Where bare ground or water has a side in both directions of an axis, [x, z]."""
    ways = [_way(ground, axis, sign) for sign in (1, -1)]
    width = ways[0] + ways[1]
    bare = ground.known & ((ground.top == ground.soil) | ground.wet)
    between = (ways[0] > 0) & (ways[1] > 0) & (width >= WIDTH[0]) & (width <= WIDTH[1])
    return np.asarray(bare & between, np.bool_)


def _way(ground: Ground, axis: int, sign: int) -> NDArray[np.int64]:
    """Cells to the first place along an axis where the soil is RISE higher, 0 where there is none, [x, z]."""
    soil = np.where(ground.known, ground.soil, np.iinfo(np.int64).min // 2)
    soil, floor = (np.moveaxis(heights, axis, 0)[::sign] for heights in (soil, ground.top))
    found = np.zeros(floor.shape, np.int64)
    for k in range(1, min(WIDTH[1], len(floor))):
        here = found[:-k]
        here[(here == 0) & (soil[k:] - floor[:-k] >= RISE)] = k
    return np.moveaxis(found[::sign], 0, axis)


def _above(ground: Ground, x: int, z: int) -> Vector:
    height = float(ground.top[x, z]) + 1.0 + EARS
    return np.array((ground.lo[0] + x + 0.5, height, ground.lo[2] + z + 0.5))
