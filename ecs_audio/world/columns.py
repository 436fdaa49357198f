"""Chunks of regions side by side, at all heights there can be: how high they are shows once all are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import grid as grids
from ecs_audio.world.arguments import Cell
from ecs_audio.world.chunk import LOWEST
from ecs_audio.world.limits import MAX_ROWS

_HEIGHTS: Final = 256
_ROWS_A_CHUNK: Final = 8
"""Mixed sections of a usual chunk; memory is only touched as far as it is written."""

EVERY_HEIGHT: Final = range(LOWEST, LOWEST + _HEIGHTS)


@dataclass(slots=True, eq=False)
class Columns:
    """A box of chunks, of which those that were read are present."""

    grid: grids.Grid
    heights: range
    """Of the sections that are wanted; others are not stored."""
    present: NDArray[np.bool_]
    """Shape [x, z]."""
    low: NDArray[np.int64]
    """Lowest section of each chunk, wanted or not, shape [x, z]."""
    high: NDArray[np.int64]
    """One beyond the highest."""


def make(lo: tuple[int, int], hi: tuple[int, int], heights: range, count: int) -> Columns:
    """Return room for the chunks from `lo` to before `hi`, of which about `count` will come."""
    (x0, z0), (x1, z1) = lo, hi
    corner, size = (16 * x0, 16 * LOWEST, 16 * z0), (16 * (x1 - x0), 16 * _HEIGHTS, 16 * (z1 - z0))
    rows = min(_ROWS_A_CHUNK * count + 8, MAX_ROWS)
    grid = grids.make(corner, size, grids.UNKNOWN, rows, MAX_ROWS)
    shape = x1 - x0, z1 - z0
    low, high = np.full(shape, LOWEST + _HEIGHTS), np.full(shape, LOWEST)
    return Columns(grid, heights, np.zeros(shape, np.bool_), low, high)


def box_of(columns: Columns) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the lowest chunk, and one beyond the highest, that there is room for."""
    (x, _, z), (dx, dz) = columns.grid.base, columns.present.shape
    return (x, z), (x + dx, z + dz)


def store(columns: Columns, x: int, z: int, sections: dict[int, int | NDArray[np.uint16]]) -> None:
    """Take one chunk: by height, the id of a uniform section or the ids of its cells, shape [4096]."""
    grid = columns.grid
    at = x - grid.base[0], z - grid.base[2]
    columns.present[at] = True
    if not sections:
        return
    columns.low[at], columns.high[at] = min(sections), max(sections) + 1
    column = _column(columns, x, z)
    wanted = {height: cells for height, cells in sections.items() if height in columns.heights}
    mixed = [height for height, cells in wanted.items() if not isinstance(cells, int)]
    claimed = grids.claim(grid, column[np.array(mixed, np.int64) - LOWEST])
    rows = dict(zip(mixed, claimed.tolist(), strict=True))
    for height, cells in wanted.items():
        if isinstance(cells, int):
            grid.flat[column[height - LOWEST]] = grids.AIR - cells
        else:
            grid.cells[rows[height]] = cells


def drop(columns: Columns, x: int, z: int) -> None:
    """Forget one chunk."""
    at = x - columns.grid.base[0], z - columns.grid.base[2]
    columns.present[at] = False
    columns.low[at], columns.high[at] = LOWEST + _HEIGHTS, LOWEST
    grids.make_uniform(columns.grid, _column(columns, x, z), grids.UNKNOWN)


def cropped(columns: Columns, lo: Cell, hi: Cell, shift: tuple[int, int] = (0, 0)) -> grids.Grid:
    """Return a grid from section `lo` to before `hi`, moved by `shift` sections along x and z.

    What a chunk that is present has no section for is air, as far as it is wanted; the rest is unknown.
    """
    grid, base = columns.grid, columns.grid.base
    corner = (16 * (lo[0] + shift[0]), 16 * lo[1], 16 * (lo[2] + shift[1]))
    size = (16 * (hi[0] - lo[0]), 16 * (hi[1] - lo[1]), 16 * (hi[2] - lo[2]))
    out = grids.make(corner, size, grids.UNKNOWN, rows=0)
    first = [max(a, b) for a, b in zip(lo, base, strict=True)]
    end = [min(a, b + edge) for a, b, edge in zip(hi, base, grid.slots.shape, strict=True)]
    x, y, z = (slice(a - b, max(a, c) - b) for a, b, c in zip(first, base, end, strict=True))
    slots = grid.slots[x, y, z]
    heights = np.arange(first[1], first[1] + slots.shape[1])
    is_wanted = (heights >= columns.heights.start) & (heights < columns.heights.stop)
    is_air = columns.present[x, None, z] & is_wanted[:, None] & (slots == grids.UNKNOWN)
    target = tuple(slice(a - b, a - b + edge) for a, b, edge in zip(first, lo, slots.shape, strict=True))
    out.slots[target] = np.where(is_air, grids.AIR, slots)
    out.cells, out.born, out.used, out.free = grid.cells, grid.born, grid.used, grid.free
    if len(grid.cells) > 2 * grid.used:
        rows = max(8, grid.used)
        out.cells, out.born = grid.cells[:rows].copy(), grid.born[:rows].copy()
    return out


def _column(columns: Columns, x: int, z: int) -> NDArray[np.int64]:
    grid = columns.grid
    places: NDArray[np.int64] = (
        grids.place(grid, 16 * x, 16 * LOWEST, 16 * z) + np.arange(_HEIGHTS) * grid.pitch[1]
    )
    return places
