"""How kernels see a world: its sections, their cells, and what the materials do to sound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ecs_audio.kernels.jit import F8, F8_1, I4_3, I8_1, U1_1, U2_2, Array, part

OPEN, SOLID, FLUID = 0, 1, 2
UNKNOWN = -1


class Voxels(NamedTuple):
    """Columns of a world, as `World` documents them."""

    slots: Array
    """int32 (sx, sy, sz): -1 unknown, a row of `cells`, or -2 - id for a uniform section."""
    cells: Array
    """uint16 (rows, 4096): material ids in y, z, x order."""
    origin: Array
    """int64 (3,): the lowest section."""
    kind: Array
    """uint8 (materials,): OPEN, SOLID or FLUID."""
    occlusion: Array
    """float64 (materials,): occlusion per metre."""
    cell_size: float
    """Edge of a cell [m]."""


VOXELS = types.NamedTuple((I4_3, U2_2, I8_1, U1_1, F8_1, F8), Voxels)


@part
def slot_at(voxels: Voxels, x: int, y: int, z: int) -> int:
    """What `slots` says of the section that holds a cell; UNKNOWN outside the world."""
    i = (x >> 4) - voxels.origin[0]
    j = (y >> 4) - voxels.origin[1]
    k = (z >> 4) - voxels.origin[2]
    n, m, o = voxels.slots.shape
    if i < 0 or i >= n or j < 0 or j >= m or k < 0 or k >= o:
        return UNKNOWN
    return np.int64(voxels.slots[i, j, k])


@part
def material_in(voxels: Voxels, slot: int, x: int, y: int, z: int) -> int:
    """Material id of a cell in a known section."""
    if slot < UNKNOWN:
        return -2 - slot
    return np.int64(voxels.cells[slot, ((y & 15) << 8) | ((z & 15) << 4) | (x & 15)])


@part
def material_at(voxels: Voxels, x: int, y: int, z: int) -> int:
    """Material id of any cell; air where the world is unknown."""
    slot = slot_at(voxels, x, y, z)
    return 0 if slot == UNKNOWN else material_in(voxels, slot, x, y, z)


@part
def skippable(voxels: Voxels, slot: int) -> bool:
    """Whether a ray may leave a section at once: nothing in it can be hit."""
    return slot == UNKNOWN or (slot < UNKNOWN and voxels.kind[-2 - slot] == OPEN)


@part
def leaves_world(voxels: Voxels, x: int, y: int, z: int, sx: int, sy: int, sz: int) -> bool:
    """Whether a ray in this cell, stepping this way, can meet no known section any more."""
    i = (x >> 4) - voxels.origin[0]
    j = (y >> 4) - voxels.origin[1]
    k = (z >> 4) - voxels.origin[2]
    n, m, o = voxels.slots.shape
    return (
        (i < 0 and sx <= 0)
        or (i >= n and sx >= 0)
        or (j < 0 and sy <= 0)
        or (j >= m and sy >= 0)
        or (k < 0 and sz <= 0)
        or (k >= o and sz >= 0)
    )
