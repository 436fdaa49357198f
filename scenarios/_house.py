"""A house as an array of block ids: walls, rooms, windows, a door, a gable roof."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea

Ids = NDArray[np.uint16]

STOREY = 4
"""Three cells of room and one of ceiling."""
FRONTS = ("-x", "+x", "-z", "+z")


class Stuff(NamedTuple):
    """What a house is made of, as ids."""

    wall: int
    roof: int
    floor: int
    glass: int
    door: int


def stuff(world: ea.World, wall: str, roof: str) -> Stuff:
    """The ids of what a house is made of; walls and roofs differ, the rest is always the same."""
    number = world.palette.id
    return Stuff(number(wall), number(roof), number("oak_planks"), number("glass"), number("oak_door"))


def house(
    made_of: Stuff, *, deep: int, wide: int, storeys: int = 1, front: str = "-x", partition: int | None = None
) -> Ids:
    """Ids of a house, [x, y, z]; its lowest layer is the floor, level with the street.

    deep, wide: cells from the front to the back, and along the street, walls included. front: where the
    door is. partition: how far behind the front a wall with a gap divides the ground floor.
    """
    eaves = 1 + STOREY * storeys
    ids = np.zeros((deep, eaves + (wide + 1) // 2, wide), np.uint16)
    ids[:, 0] = made_of.floor
    for storey in range(storeys):
        low, high = 1 + STOREY * storey, STOREY * (storey + 1)
        shell = ids[:, low:high]
        shell[[0, -1]] = made_of.wall
        shell[:, :, [0, -1]] = made_of.wall
        _windows(ids, low + 1, made_of.glass)
        ids[:, high] = made_of.floor
    _roof(ids, eaves, made_of)
    middle = wide // 2
    # The door has wall on both sides: no window beside it.
    ids[0, 1:STOREY, middle - 1 : middle + 2] = made_of.wall
    ids[0, 1:3, middle] = made_of.door
    if partition is not None:
        ids[partition, 1:STOREY, 1:-1] = made_of.wall
        ids[partition, 1:3, middle + 1] = 0
    return turned(ids, front)


def turned(ids: Ids, front: str) -> Ids:
    """The house with its front, at -x, turned to `front`."""
    if front not in FRONTS:
        raise ValueError(f"front must be one of {', '.join(FRONTS)}, not {front!r}")
    along_z = ids if front[1] == "x" else ids.transpose(2, 1, 0)
    axis = 0 if front[1] == "x" else 2
    return along_z if front[0] == "-" else np.flip(along_z, axis)


def _windows(ids: Ids, y: int, glass: int) -> None:
    """One window of one cell every three along each wall."""
    deep, _, wide = ids.shape
    ids[2 : deep - 2 : 3, y, 0] = glass
    ids[2 : deep - 2 : 3, y, -1] = glass
    ids[0, y, 2 : wide - 2 : 3] = glass
    ids[-1, y, 2 : wide - 2 : 3] = glass


def _roof(ids: Ids, eaves: int, made_of: Stuff) -> None:
    """Two slopes that meet over the middle, from front to back, closed at both ends."""
    wide = ids.shape[2]
    for k in range((wide + 1) // 2):
        ids[[0, -1], eaves + k, k : wide - k] = made_of.wall
        ids[:, eaves + k, [k, wide - 1 - k]] = made_of.roof
