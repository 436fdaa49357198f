"""Take sections that are not loaded yet from another grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import dense
from ecs_audio.world.arguments import Cell
from ecs_audio.world.grid import AIR, UNKNOWN, Grid, claim
from ecs_audio.world.palette import Palette
from ecs_audio.world.window import Window

_ROWS_AT_ONCE = 1024
"""Bounds what renumbering takes beside the cells to 8 MiB."""

Box = tuple[int, int, int, int, int, int]


def join(
    grid: Grid, palette: Palette, other: Grid, names: Palette, part: Window | None
) -> tuple[int, list[Box]]:
    """Make known what `grid` does not know and `other` does, within a window.

    Returns how many sections became known, and half-open boxes of cells that hold them. Raises ValueError
    where all that `other` knows there lies beyond the grid.
    """
    wanted = _clip(other, *(_ends(other) if part is None else part[:2]))
    first, end = _clip(grid, *wanted)
    ours, theirs = _view(grid, first, end), _view(other, first, end)
    is_given = theirs != UNKNOWN
    if not is_given.any() and (_view(other, *wanted) != UNKNOWN).any():
        x, y, z = (edge - 1 for edge in grid.hi)
        raise ValueError(
            f"What is to be loaded lies beyond the world's box, which spans {grid.lo} to {(x, y, z)};"
            " load another world there."
        )
    found = np.argwhere((ours == UNKNOWN) & is_given)
    if not len(found):
        return 0, []
    slots = theirs[tuple(found.T)]
    found += np.array(first)
    table = np.array([palette.id(name) for name in names.names], np.uint16)
    # Sections that the border of the world cuts must stay empty beyond it.
    inside = (found * 16 >= grid.lo).all(axis=1) & (found * 16 + 16 <= grid.hi).all(axis=1)
    _take(grid, other, table, found[inside], slots[inside])
    for x, y, z in (16 * found[~inside]).tolist():
        dense.put(grid, (x, y, z), table[dense.ids(other, (x, y, z), (16, 16, 16))])
    return len(found), [_clipped(grid, box) for box in _boxes(found)]


def _ends(grid: Grid) -> tuple[Cell, Cell]:
    (x, y, z), (dx, dy, dz) = grid.base, grid.slots.shape
    return grid.base, (x + dx, y + dy, z + dz)


def _clip(grid: Grid, lo: Cell, hi: Cell) -> tuple[Cell, Cell]:
    """Return what a box of sections has in common with a grid, without sections if that is nothing."""
    base, top = _ends(grid)
    x0, y0, z0 = (max(a, b) for a, b in zip(lo, base, strict=True))
    x1, y1, z1 = (min(a, b) for a, b in zip(hi, top, strict=True))
    return (x0, y0, z0), (max(x0, x1), max(y0, y1), max(z0, z1))


def _view(grid: Grid, lo: Cell, hi: Cell) -> NDArray[np.int32]:
    x, y, z = (slice(a - base, b - base) for a, b, base in zip(lo, hi, grid.base, strict=True))
    return grid.slots[x, y, z]


def _take(
    grid: Grid,
    other: Grid,
    table: NDArray[np.uint16],
    sections: NDArray[np.int64],
    slots: NDArray[np.int32],
) -> None:
    where: NDArray[np.int64] = np.ravel_multi_index((sections - grid.base).T, grid.slots.shape)
    mixed = slots >= 0
    grid.flat[where[~mixed]] = AIR - table[AIR - slots[~mixed]].astype(np.int32)
    rows, sources = claim(grid, where[mixed]), slots[mixed]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        grid.cells[rows[part]] = table[other.cells[sources[part]]]


def _boxes(sections: NDArray[np.int64]) -> list[Box]:
    """Return boxes of cells around sections that are sorted along x: one for all slices that are alike.

    What a moving window uncovers has the shape of an L at most, so a few boxes hold it and little else.
    """
    starts = np.flatnonzero(np.diff(sections[:, 0], prepend=sections[0, 0] - 1))
    boxes: list[Box] = []
    lows, highs = (f.reduceat(sections, starts, axis=0).tolist() for f in (np.minimum, np.maximum))
    for (x, y0, z0), (_, y1, z1) in zip(lows, highs, strict=True):
        face = 16 * y0, 16 * z0, 16 * y1 + 16, 16 * z1 + 16
        if boxes and boxes[-1][3] == 16 * x and (boxes[-1][1:3] + boxes[-1][4:6]) == face:
            boxes[-1] = (*boxes[-1][:3], 16 * x + 16, *boxes[-1][4:])
        else:
            boxes.append((16 * x, face[0], face[1], 16 * x + 16, face[2], face[3]))
    return boxes


def _clipped(grid: Grid, box: Box) -> Box:
    x0, y0, z0 = (max(a, b) for a, b in zip(box[:3], grid.lo, strict=True))
    x1, y1, z1 = (min(a, b) for a, b in zip(box[3:], grid.hi, strict=True))
    return x0, y0, z0, x1, y1, z1
