"""A town in a valley: streets, houses, a tower, gardens, and trees around it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from scenarios._house import house, stuff
from scenarios._terrain import FLOOR, ORIGIN, SIZE, Valley, plant, valley

MAIN, SIDE = 0, 40
"""x of the middle of the two streets from north to south."""
CROSSINGS = (-64, -32, 0, 32, 64)
"""z of the middle of the streets from west to east."""
LONG = 90
"""How far the town reaches to the north and to the south [m]."""
BRIDGE = 0
"""z of the street that crosses the river."""

WALLS = ("stone_bricks", "bricks", "oak_planks", "cobblestone", "white_concrete", "sandstone")
ROOFS = ("spruce_planks", "bricks", "deepslate_tiles", "dark_oak_planks")

Point = tuple[float, float, float]


class Town(NamedTuple):
    """A world with a town in it."""

    world: ea.World
    spot: Point
    """On the main street, on the ground [m]."""
    start: Point
    """Farther along it [m]."""
    rooms: list[Point]
    """On the floor in each house [m]."""
    tower: Point
    """Above the roof of the tower [m]."""
    streets: list[list[Point]]
    """Rounds on the ground along streets, closed [m]."""


def town(seed: int) -> Town:
    """The same town for the same seed."""
    rng = np.random.Generator(np.random.PCG64(seed))
    land = valley(rng)
    built = _streets(land)
    rooms, tower = _houses(land, built, rng)
    plant(land, _free(land, built), rng)
    land.world.put(ORIGIN, land.ids)
    spot, start = ((MAIN + 2.5, FLOOR + 1.0, z) for z in (12.5, 28.5))
    return Town(land.world, spot, start, rooms, tower, _rounds())


def _streets(land: Valley) -> NDArray[np.bool_]:
    """Pave the streets and bridge the river; returns where nothing may grow, [x, z]."""
    x, z = _columns()
    is_long = (np.abs(z) <= LONG) & (np.abs(x - MAIN) <= 3)
    is_side = (np.abs(z) <= LONG) & (np.abs(x - SIDE) <= 2)
    is_cross = np.zeros(land.top.shape, np.bool_)
    for crossing in CROSSINGS:
        west = -62 if crossing == BRIDGE else -18
        is_cross |= (np.abs(z - crossing) <= 2) & (x >= west) & (x <= 58)
    gravel, cobbles, planks = (land.id(name) for name in ("gravel", "cobblestone", "oak_planks"))
    surface = land.ids[:, FLOOR]
    surface[is_cross | is_side] = gravel
    surface[is_long] = cobbles
    bridge = is_cross & land.river
    surface[bridge] = planks
    land.top[bridge] = FLOOR
    return np.asarray(is_long | is_side | is_cross)


def _houses(land: Valley, built: NDArray[np.bool_], rng: np.random.Generator) -> tuple[list[Point], Point]:
    """Line both streets with houses; returns a place in each, and one above the tower."""
    rooms: list[Point] = []
    tower = (0.0, 0.0, 0.0)
    edges = (-LONG, *CROSSINGS, LONG)
    for side, (face, front) in enumerate(((-5, "+x"), (5, "-x"), (SIDE - 4, "+x"), (SIDE + 4, "-x"))):
        for start, end in pairwise(edges):
            lots = 2 if end - start > 28 else 1
            for lot in range(lots):
                middle = start + (end - start) * (2 * lot + 1) // (2 * lots)
                # One lot is the tower's, and one in ten stays a garden.
                is_tower = side == 0 and start == BRIDGE and lot == 0
                deep, wide = (int(n) for n in rng.integers((8, 9), (12, 13)))
                storeys = 1 + int(rng.uniform() < 0.4)
                wall, roof = rng.choice(WALLS), rng.choice(ROOFS)
                partition = deep * 2 // 3 if deep >= 10 else None
                is_garden = rng.uniform() < 0.1
                if is_tower:
                    deep, wide, storeys, wall, partition = 7, 7, 5, "stone_bricks", None
                elif is_garden:
                    continue
                ids = house(
                    stuff(land.world, str(wall), str(roof)),
                    deep=deep, wide=wide, storeys=storeys, front=front, partition=partition,
                )  # fmt: skip
                x = face - deep + 1 if front == "+x" else face
                _place(land, built, ids, (x, middle - wide // 2))
                # The middle of the front room.
                inwards = (deep if partition is None else partition + 1) / 2.0
                rooms.append((x + (inwards if front == "-x" else deep - inwards), FLOOR + 1.0, middle + 0.5))
                if is_tower:
                    tower = (x + deep / 2.0, FLOOR + ids.shape[1] + 2.0, middle + 0.5)
    return rooms, tower


def _place(land: Valley, built: NDArray[np.bool_], ids: NDArray[np.uint16], corner: tuple[int, int]) -> None:
    x, z = corner[0] - ORIGIN[0], corner[1] - ORIGIN[2]
    dx, dy, dz = ids.shape
    land.ids[x : x + dx, FLOOR : FLOOR + dy, z : z + dz] = ids
    # A tree's crown is two cells wide: it keeps off the walls.
    built[x - 3 : x + dx + 3, z - 3 : z + dz + 3] = True


def _free(land: Valley, built: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where a tree may stand: on grass, off streets, houses and water, and rarely in the town."""
    grass = np.take_along_axis(land.ids, land.top[:, None, :], 1)[:, 0] == land.id("grass_block")
    apart = built.copy()
    for dx in range(-2, 3):
        for dz in range(-2, 3):
            apart |= np.roll(built, (dx, dz), (0, 1))
    return np.asarray(grass & ~apart & ~land.river)


def _rounds() -> list[list[Point]]:
    """Round each block of houses between the two streets, and up and down the main one."""
    y = FLOOR + 1.0
    west, east = MAIN + 0.5, SIDE + 0.5
    rounds = [
        [(west, y, a + 0.5), (east, y, a + 0.5), (east, y, b + 0.5), (west, y, b + 0.5), (west, y, a + 0.5)]
        for a, b in pairwise(CROSSINGS)
    ]
    rounds.append([(MAIN - 2.0, y, 0.5 - LONG), (MAIN - 2.0, y, LONG - 0.5)])
    rounds.append([(-60.5, y, BRIDGE + 0.5), (56.5, y, BRIDGE + 0.5)])
    return rounds


def _columns() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    x, z = (ORIGIN[axis] + np.arange(SIZE[axis]) for axis in (0, 2))
    return x[:, None], z[None, :]
