"""A window: the part of a large world that is loaded, in whole sections."""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.arguments import Cell, Real3, real, real3
from ecs_audio.world.errors import OutsideError
from ecs_audio.world.grid import UNKNOWN, Grid, make_uniform
from ecs_audio.world.limits import MAX_COORDINATE


class Window(NamedTuple):
    """A box of sections: those that a cube around a point touches."""

    lo: Cell
    """Lowest section."""
    hi: Cell
    """One beyond the highest."""
    around: tuple[float, float, float]
    """Middle of the cube [cells]."""
    radius: float
    """Half of its edge [cells]."""

    def __str__(self) -> str:
        x, y, z = self.around
        return f"{self.radius:g} cells of ({x:g}, {y:g}, {z:g})"


def window(around: Real3, radius: SupportsFloat) -> Window:
    """Return the sections that a cube touches. Raises TypeError and ValueError for what is no number."""
    middle = real3("around", around)
    reach = real("radius", radius, 0.0, MAX_COORDINATE)
    x0, y0, z0 = (floor((at - reach) / 16) for at in middle)
    x1, y1, z1 = (max(floor(at / 16) + 1, ceil((at + reach) / 16)) for at in middle)
    return Window((x0, y0, z0), (x1, y1, z1), middle, reach)


def cut(grid: Grid, part: Window) -> None:
    """Make all sections outside of a window unknown, and keep the memory of the others only.

    For a grid that was just read, and has no snapshots. Raises OutsideError where nothing is left.
    """
    inside = np.zeros(grid.slots.shape, np.bool_)
    ends = zip(part.lo, part.hi, grid.base, strict=True)
    x, y, z = (slice(max(0, lo - base), max(0, hi - base)) for lo, hi, base in ends)
    inside[x, y, z] = True
    is_known = grid.slots != UNKNOWN
    if not (inside & is_known).any():
        x1, y1, z1 = (end - 1 for end in grid.hi)
        raise OutsideError(f"nothing is known within {part}: its cells go from {grid.lo} to {(x1, y1, z1)}")
    outside = np.flatnonzero(is_known & ~inside)
    if len(outside):
        make_uniform(grid, outside, UNKNOWN)
        _compact(grid)


def _compact(grid: Grid) -> None:
    mixed = np.flatnonzero(grid.flat >= 0)
    rows: NDArray[np.int32] = grid.flat[mixed]
    grid.cells = grid.cells[rows] if len(rows) else np.empty((8, 4096), np.uint16)
    grid.born = np.zeros(len(grid.cells), np.int64)
    grid.flat[mixed] = np.arange(len(rows), dtype=np.int32)
    grid.used, grid.free = len(rows), []
