"""Cells that come one by one, in any order, into a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.grid import AIR, Grid, claim, make_uniform


def put(grid: Grid, cells: NDArray[np.int64], ids: NDArray[np.uint16]) -> None:
    """Write an id each into cells inside the grid, shape [n, 3]; of several for one cell the last counts."""
    x, y, z = cells.T
    along_x, along_y, start = grid.pitch
    places = (x >> 4) * along_x + (y >> 4) * along_y + (z >> 4) - start
    is_other = grid.flat[places] != AIR - ids.astype(np.int32)
    if not is_other.all():
        # What sections are full of already takes no room.
        x, y, z, places, ids = x[is_other], y[is_other], z[is_other], places[is_other], ids[is_other]
    # Counting takes as long as there are places, sorting only as long as there are cells.
    many = len(places) > len(grid.flat) // 8
    claim(grid, np.flatnonzero(np.bincount(places)) if many else np.unique(places))
    grid.cells[grid.flat[places], (y & 15) << 8 | (z & 15) << 4 | (x & 15)] = ids


def join(grid: Grid) -> None:
    """Give back the rows of sections that are full of one material."""
    where = np.flatnonzero(grid.flat >= 0)
    rows = grid.flat[where]
    is_full = np.array(
        [bool((cells == cells[0]).all()) for cells in map(grid.cells.__getitem__, rows)], np.bool_
    )
    ids = grid.cells[rows[is_full], 0]
    for one in np.unique(ids).tolist():
        make_uniform(grid, where[is_full][ids == one], AIR - one)
