"""The site of a raid: our own town, or any world file, with a way for the listener into a room."""

from __future__ import annotations

from math import hypot
from typing import NamedTuple

import numpy as np

import ecs_audio as ea
from scenarios._ground import Cell, Ground, Point, straightened, survey, ways
from scenarios._room import Room, build_house, build_terrace, find_room
from scenarios._spot import REACH, Outdoors, best_spot, outdoors
from scenarios._town import town

WALK = (20, 28)
"""Fewest and most steps of the listener's way from the street into the room."""
OWN = 10.0
"""A house nearer to the listener's room than that is the listener's [m]."""
SMALL = 96
"""A file narrower than this [m] is set on a meadow."""
MEADOW = 192
"""Edge of that meadow [m]."""


class Site(NamedTuple):
    """Where a raid takes place."""

    world: ea.World
    ground: Ground
    """Doors closed, as everyone but the listener finds them."""
    route: list[Point]
    """The listener's way, on the ground [m]."""
    doors: list[tuple[Cell, str]]
    """The cells of the doors on it, and what they are made of."""
    room: Room
    """Where it ends."""
    rooms: list[Point]
    """On the floor in other houses, where they are known [m]."""
    streets: list[list[Point]]
    """Rounds for vehicles, where they are known [m]."""
    heights: list[Point]
    """Above high roofs or hills [m]."""


def own_site(seed: int) -> Site:
    """The site in our own town."""
    built = town(seed)
    x, y, z = (int(np.floor(a)) for a in built.spot)
    return _site(built.world, (x, y, z), built.start, built.rooms, built.streets, [built.tower])


def site_of(
    path: str, around: Point | None = None, radius: float = 256.0, cell_size: float | None = None
) -> Site:
    """The site in a world file, or in what lies within `radius` of a point in it.

    Raises WorldFormatError or OSError for a file that is none, ValueError for cells that are not 1 m and
    where nothing lies around the point.
    """
    world = metric(path, around, radius, cell_size)
    found = outdoors(world)
    base = _meadow_for(world, found)
    if base is not None:
        world = _on_meadow(world, base)
        found = outdoors(world)
    return _site(world, best_spot(found), None, [], [], [])


def metric(path: str, around: Point | None, radius: float, cell_size: float | None) -> ea.World:
    """A world of cells of 1 m from a file; raises as `site_of` does."""
    world = ea.World.load(path, around=around, radius=radius, cell_size=cell_size)
    if world.cell_size != 1.0:
        raise ValueError(
            f"{path} has cells of {world.cell_size:g} m, and 1 m is needed: cell_size=1 takes them for such"
        )
    return world


def _site(
    world: ea.World,
    spot: Cell,
    start: Point | None,
    rooms: list[Point],
    streets: list[list[Point]],
    heights: list[Point],
) -> Site:
    spot, ground, room = _room_near(world, spot)
    middle = spot[0], spot[2]
    way = _way_in(ground, room, start)
    doors = [
        ((x, y + up, z), world.material((x, y + up, z)))
        for x, y, z in way
        for up in (0, 1)
        if world.material((x, y + up, z)).endswith("_door")
    ]
    return Site(
        world,
        survey(world, middle, REACH),
        straightened(ground, way),
        doors,
        room,
        [other for other in rooms if hypot(other[0] - room.cell[0], other[2] - room.cell[2]) > OWN],
        streets,
        heights or _peaks(ground),
    )


def _way_in(ground: Ground, room: Room, start: Point | None) -> list[Cell]:
    """From as near as possible to `start`, else from as far away as `WALK` allows, into the room."""
    back = ways(ground, room.cell, farthest=WALK[1])
    outdoors = [cell for cell in back.order if not ground.roofed(cell)]
    far_enough = [cell for cell in outdoors if back.far[cell] >= WALK[0]] or outdoors[-1:]
    if not far_enough:
        raise ValueError(f"the room at {room.cell} has no way out")
    if start is None:
        first = max(far_enough, key=lambda cell: hypot(cell[0] - room.cell[0], cell[2] - room.cell[2]))
    else:
        first = min(far_enough, key=lambda cell: hypot(cell[0] + 0.5 - start[0], cell[2] + 0.5 - start[2]))
    return back.to(first)[::-1]


def _room_near(world: ea.World, spot: Cell) -> tuple[Cell, Ground, Room]:
    """A room that can be reached from `spot`; if there is none a house, and if need be ground for it."""
    middle = spot[0], spot[2]
    for attempt in range(3):
        ground = survey(world, middle, REACH, doors=True)
        if attempt == 2:
            spot = build_terrace(world, ground, middle)
            ground = survey(world, middle, REACH, doors=True)
        if attempt:
            build_house(world, ground, spot)
            ground = survey(world, middle, REACH, doors=True)
        room = find_room(world, ground, ways(ground, spot, farthest=50))
        if room is not None:
            return spot, ground, room
    raise ValueError(f"no room was found, and no house could be built, within 50 m of {spot}")


def _meadow_for(world: ea.World, found: Outdoors) -> int | None:
    """y of the grass of the meadow that a world needs around it, None if it needs none."""
    if min(world.size[0], world.size[2]) < SMALL:  # as high as the ground along its border
        top = world.heights()
        rim = np.concatenate((top[0], top[-1], top[:, 0], top[:, -1]))
        return max(int(np.median(rim)), int(world.origin[1]) - 1)
    in_pieces = not found.wide.any() and not found.ground.known.all()
    if found.level is not None and in_pieces and max(world.size[0], world.size[2]) < MEADOW:
        return found.level - 1
    return None


def _on_meadow(file: ea.World, base: int) -> ea.World:
    """A small world in the middle of a large meadow, which fills its gaps, too."""
    lo, size = file.origin, file.size
    x, z = (int(lo[a] + size[a] // 2) - MEADOW // 2 for a in (0, 2))
    low = min(int(lo[1]), base) - 16
    world = ea.World.empty(size=(MEADOW, int(lo[1] + size[1]) + 48 - low, MEADOW), origin=(x, low, z))
    world.fill((x, low, z), (x + MEADOW, base, z + MEADOW), "dirt")
    world.fill((x, base, z), (x + MEADOW, base + 1, z + MEADOW), "grass_block")
    numbers = np.array([world.palette.id(name) for name in file.palette.names])
    is_gap = (file.heights() < lo[1])[:, None, :]
    world.put(tuple(lo), np.where(is_gap, world.ids(lo, lo + size), numbers[file.ids(lo, lo + size)]))
    return world


def _peaks(ground: Ground) -> list[Point]:
    """Three metres above the highest known column in each quarter."""
    peaks = []
    top = np.where(ground.known, ground.top, -(1 << 20))
    half = top.shape[0] // 2, top.shape[1] // 2
    for x in (0, half[0]):
        for z in (0, half[1]):
            quarter = top[x : x + half[0], z : z + half[1]]
            i, k = (int(n) for n in np.unravel_index(int(np.argmax(quarter)), quarter.shape))
            peaks.append((ground.lo[0] + x + i + 0.5, float(quarter[i, k]) + 4.0, ground.lo[2] + z + k + 0.5))
    return peaks
