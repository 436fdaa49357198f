"""Fill a box with one material."""

import numpy as np

from ecs_audio.world.arguments import Cell
from ecs_audio.world.boxes import Run, places, runs
from ecs_audio.world.grid import AIR, UNKNOWN, Grid, claim, make_uniform


def fill(grid: Grid, lo: Cell, hi: Cell, number: int) -> None:
    """Write one id into every cell of a half-open box that lies within the declared box."""
    slot = AIR - number
    for x, y, z in runs(grid, lo, hi):
        where = places(grid, x, y, z)
        if all(_is_whole(run) for run in (x, y, z)):
            make_uniform(grid, where, slot)
            continue
        if slot == AIR:
            make_uniform(grid, where[grid.flat[where] == UNKNOWN], AIR)
        where = where[grid.flat[where] != slot]
        if len(where):
            # Claimed first: claiming may replace the array.
            rows = claim(grid, where)
            sections = grid.cells.reshape(-1, 16, 16, 16)
            sections[rows, y.lo : y.hi, z.lo : z.hi, x.lo : x.hi] = np.uint16(number)


def _is_whole(run: Run) -> bool:
    return run.hi - run.lo == 16
