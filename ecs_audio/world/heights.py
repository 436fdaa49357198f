"""The surface of a world, for terrain pictures and placing things."""

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.grid import AIR, Grid
from ecs_audio.world.materials import OPEN

_SECTIONS_AT_ONCE = 256
"""Bounds the memory of a layer to a few megabytes."""


def heights(grid: Grid, kinds: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return y of the highest cell of each column that is not open, lowest y - 1 if none, shape [x, z]."""
    sx, sy, sz = grid.slots.shape
    missing = grid.lo[1] - 1
    # Columns by section and then by z and x within it, as the cells lie.
    top = np.full((sx * sz, 256), missing, np.int64)
    for layer in range(sy - 1, -1, -1):
        floor = (grid.base[1] + layer) * 16
        slots = grid.slots[:, layer].reshape(-1)
        numbers = AIR - slots
        is_wall = (slots < AIR) & (kinds[np.maximum(numbers, 0)] != OPEN)
        top[is_wall] = np.where(top[is_wall] == missing, floor + 15, top[is_wall])
        mixed = np.flatnonzero((slots >= 0) & (top == missing).any(axis=1))
        for start in range(0, len(mixed), _SECTIONS_AT_ONCE):
            some = mixed[start : start + _SECTIONS_AT_ONCE]
            hit = kinds[grid.cells[slots[some]]].reshape(-1, 16, 256) != OPEN
            level = floor + 15 - hit[:, ::-1].argmax(axis=1)
            top[some] = np.where((top[some] == missing) & hit.any(axis=1), level, top[some])
    plane = top.reshape(sx, sz, 16, 16).transpose(0, 3, 1, 2).reshape(16 * sx, 16 * sz)
    x, z = grid.lo[0] & 15, grid.lo[2] & 15
    return plane[x : x + grid.hi[0] - grid.lo[0], z : z + grid.hi[2] - grid.lo[2]].copy()
