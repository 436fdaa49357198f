"""A valley between two slopes, with a river along its floor, as one array of block ids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea

SIZE = (256, 96, 256)
ORIGIN = (-128, 0, -128)
FLOOR = 20
"""y of the grass on the valley's floor; what stands on it has its lowest cell at FLOOR + 1."""
FLAT = 66.0
"""Half the width of the floor, where the slopes begin [m]."""
RISE = 46.0
"""How far the slopes rise [m]."""
RIVER = -50.0
"""x of the river, about."""

Ids = NDArray[np.uint16]
Floats = NDArray[np.floating]


class Valley(NamedTuple):
    """A world to be built on, not yet written: `ids` are put into `world` when all is done."""

    world: ea.World
    ids: Ids
    """[x, y, z], of the whole world."""
    top: NDArray[np.int64]
    """y of the highest cell of each column, [x, z]."""
    river: NDArray[np.bool_]
    """[x, z]"""

    def id(self, name: str) -> int:
        """The id of a block name."""
        return self.world.palette.id(name)


def valley(rng: np.random.Generator) -> Valley:
    """A valley that runs from north to south: flat in the middle, grass below, rock above."""
    world = ea.World.empty(size=SIZE, origin=ORIGIN)
    x, z = (ORIGIN[axis] + np.arange(SIZE[axis]) + 0.5 for axis in (0, 2))
    x, z = x[:, None], z[None, :]
    hills = _hills(x, z, rng)
    # The slopes keep away from the floor that the town stands on: they only sway back.
    slope = smooth_step((np.abs(x) - FLAT - 6.0 * (1.0 + np.sin(z / 41.0 + rng.uniform(0.0, 6.3)))) / 54.0)
    ends = smooth_step((np.abs(z) - 96.0) / 24.0)
    height = FLOOR + slope * (RISE + 7.0 * hills) + 2.0 * ends * (1.0 + hills) * (1.0 - slope)
    from_river = np.abs(x - RIVER - 4.0 * np.sin(z / 37.0 + rng.uniform(0.0, 6.3)))
    height = np.where(from_river < 8.0, FLOOR, height)
    top = np.rint(height).astype(np.int64)
    river = from_river < 4.0

    y = np.arange(SIZE[1])[None, :, None]
    surface, steep = top[:, None, :], (slope > 0.55)[:, None, :]
    number = world.palette.id
    soil, skin = (np.where(steep, number("stone"), number(name)) for name in ("dirt", "grass_block"))
    ids = np.where(y < surface - 3, number("stone"), np.where(y < surface, soil, skin))
    ids[np.broadcast_to(y > surface, ids.shape)] = 0
    bed = FLOOR - np.where(from_river < 2.5, 3, 2)[:, None, :]
    wet = river[:, None, :]
    ids = np.where(wet & (y > bed) & (y < FLOOR), number("water"), ids)
    ids = np.where(wet & (y == FLOOR), 0, ids)
    ids = np.where(wet & (y == bed), number("gravel"), ids)
    return Valley(world, ids.astype(np.uint16), np.where(river, FLOOR - 1, top), river)


def plant(land: Valley, free: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Put trees where `free`, [x, z], with about 7 m between them, into `land.ids`."""
    pitch = 7
    corner = np.stack(np.meshgrid(*(np.arange(4, n - 10, pitch) for n in free.shape), indexing="ij"), -1)
    spots = corner.reshape(-1, 2)
    spots = spots + rng.integers(0, pitch - 2, spots.shape)
    trunk = rng.integers(4, 7, len(spots))
    chosen = free[spots[:, 0], spots[:, 1]] & (rng.uniform(size=len(spots)) < 0.6)
    x, z = spots[chosen].T
    trunk = trunk[chosen]
    y = land.top[x, z] + 1
    crown = [
        (dx, dy, dz)
        for dx in range(-2, 3)
        for dy in range(-2, 2)
        for dz in range(-2, 3)
        if abs(dx) + abs(dz) + max(dy + 1, 0) < (4 if dy < 0 else 3)
    ]
    leaves, log = land.id("oak_leaves"), land.id("oak_log")
    for dx, dy, dz in crown:
        place = x + dx, y + trunk + dy, z + dz
        land.ids[place] = np.where(land.ids[place] == 0, leaves, land.ids[place])
    for up in range(6):
        tall = trunk > up
        land.ids[x[tall], y[tall] + up, z[tall]] = log


def smooth_step(x: Floats) -> Floats:
    """0 below 0, 1 above 1, level at both."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def _hills(x: Floats, z: Floats, rng: np.random.Generator) -> Floats:
    """Rolling ground between -1 and 1: a few waves in random directions, [x, z]."""
    total, weight = np.zeros((x.size, z.size)), 0.0
    for wavelength in (70.0, 43.0, 27.0, 15.0):
        angle, phase = rng.uniform(0.0, 2.0 * np.pi, 2)
        total += wavelength * np.sin(
            2.0 * np.pi / wavelength * (x * np.cos(angle) + z * np.sin(angle)) + phase
        )
        weight += wavelength
    return total / weight
