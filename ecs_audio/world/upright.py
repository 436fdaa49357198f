"""Upright runs of cells, into a grid: most sections that they go through are full of one material."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import dense
from ecs_audio.world.arguments import Cell
from ecs_audio.world.grid import AIR, Grid, claim_one, make_uniform, place


def put(
    grid: Grid,
    x: NDArray[np.int64],
    z: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    ids: NDArray[np.uint16],
) -> None:
    """Write runs of one id each from y `begin` to before `end`, which do not overlap, into a grid of air."""
    tile = ((x >> 4) - grid.base[0]) * grid.slots.shape[2] + (z >> 4) - grid.base[2]
    order = np.argsort(tile, kind="stable")
    borders = np.flatnonzero(np.diff(tile[order], prepend=-1, append=-1))
    begin, end = (np.clip(y, grid.lo[1], grid.hi[1]) for y in (begin, end))
    for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        some = order[first:last]
        _put_tile(grid, x[some], z[some], begin[some], end[some], ids[some])


def _put_tile(
    grid: Grid,
    x: NDArray[np.int64],
    z: NDArray[np.int64],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    ids: NDArray[np.uint16],
) -> None:
    """Write runs of one column of sections: in full where any begins or ends, as a plan in between."""
    corner_x, corner_z = int(x[0]) >> 4 << 4, int(z[0]) >> 4 << 4
    y, x, z = np.concatenate((begin, end)), np.tile(x & 15, 2), np.tile(z & 15, 2)
    # Sums go round at 2**16, so that what is taken away again leaves nothing.
    step = np.concatenate((ids, ~ids + np.uint16(1)))
    order = np.argsort(y >> 4, kind="stable")
    layers, starts = np.unique(y[order] >> 4, return_index=True)
    ends = [*starts[1:].tolist(), len(y)]
    plan = np.zeros((16, 16), np.uint16)
    above = -1
    for layer, first, last in zip(layers.tolist(), starts.tolist(), ends, strict=True):
        if plan.any():
            _put_plan(grid, (corner_x, 16 * above, corner_z), 16 * (layer - above), plan)
        some = order[first:last]
        change = np.zeros((16, 16, 16), np.uint16)
        change[:, 0] = plan
        np.add.at(change, (x[some], y[some] & 15, z[some]), step[some])
        cells = np.cumsum(change, axis=1, dtype=np.uint16)
        _put_section(grid, (corner_x, 16 * layer, corner_z), cells)
        plan, above = cells[:, -1], layer + 1


def _put_section(grid: Grid, corner: Cell, cells: NDArray[np.uint16]) -> None:
    if not all(lo <= at and at + 16 <= hi for lo, at, hi in zip(grid.lo, corner, grid.hi, strict=True)):
        dense.put(grid, corner, cells)
    elif (cells == cells[0, 0, 0]).all():
        grid.flat[place(grid, *corner)] = AIR - int(cells[0, 0, 0])
    else:
        # Claimed first: claiming may replace the array.
        row = claim_one(grid, place(grid, *corner))
        grid.cells[row] = cells.transpose(1, 2, 0).reshape(4096)


def _put_plan(grid: Grid, corner: Cell, depth: int, plan: NDArray[np.uint16]) -> None:
    """Write whole sections whose layers of cells are all alike, shape [x, z]."""
    x, y, z = corner
    is_inside = grid.lo[0] <= x and x + 16 <= grid.hi[0] and grid.lo[2] <= z and z + 16 <= grid.hi[2]
    if is_inside and bool((plan == plan[0, 0]).all()):
        places = place(grid, x, y, z) + np.arange(depth // 16) * grid.pitch[1]
        make_uniform(grid, places, AIR - int(plan[0, 0]))
    elif depth:
        dense.put(grid, corner, np.broadcast_to(plan[:, None], (16, depth, 16)))
