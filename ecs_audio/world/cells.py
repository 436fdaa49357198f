"""What can be asked of a world: its cells, names and sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import dense
from ecs_audio.world import grid as grids
from ecs_audio.world.arguments import Whole3, whole3
from ecs_audio.world.heights import heights
from ecs_audio.world.limits import MAX_CELLS
from ecs_audio.world.palette import AIR, Palette


class Cells:
    """Cells of a box, each of one material."""

    palette: Palette
    edits: NDArray[np.int64]
    _grid: grids.Grid

    @property
    def slots(self) -> NDArray[np.int32]:
        """Sections: -1 unknown, -2 - id uniform, else the row in `cells` of a mixed one, shape [x, y, z]."""
        return self._grid.slots

    @property
    def cells(self) -> NDArray[np.uint16]:
        """Ids of mixed sections by (y & 15) << 8 | (z & 15) << 4 | (x & 15), shape [rows, 4096]."""
        return self._grid.cells

    def ids(self, lo: Whole3, hi: Whole3) -> NDArray[np.uint16]:
        """Return the palette ids of a half-open box, air where unknown or outside, shape [dx, dy, dz]."""
        corner, end = whole3("lo", lo), whole3("hi", hi)
        dx, dy, dz = (max(0, b - a) for a, b in zip(corner, end, strict=True))
        if max(dx, dy, dz, dx * dy * dz) > MAX_CELLS:
            raise ValueError(f"hi must leave at most {MAX_CELLS} cells from lo on, got {corner} to {end}.")
        return dense.ids(self._grid, corner, (dx, dy, dz))

    def material(self, cell: Whole3) -> str:
        """Return the block name of a cell, "air" where it is unknown or outside."""
        x, y, z = whole3("cell", cell)
        slot = self._slot(x, y, z)
        if slot >= 0:
            return self.palette.names[self._grid.cells.item(slot, (y & 15) << 8 | (z & 15) << 4 | (x & 15))]
        return AIR if slot == grids.UNKNOWN else self.palette.names[grids.AIR - slot]

    def is_known(self, cell: Whole3) -> bool:
        """Return whether a cell is loaded; cells outside the declared box are not."""
        return self._slot(*whole3("cell", cell)) != grids.UNKNOWN

    def heights(self) -> NDArray[np.int64]:
        """Return y of the highest cell of each column that is not open, origin y - 1 if none, [x, z]."""
        return heights(self._grid, self.palette.kind)

    def section_counts(self) -> grids.SectionCounts:
        """Return how many sections are empty, uniform, mixed and unknown."""
        return grids.section_counts(self._grid)

    def memory(self) -> int:
        """Return the bytes of all arrays of this world, whether snapshots share them or not."""
        return grids.memory(self._grid) + self.palette.memory() + self.edits.nbytes

    def _slot(self, x: int, y: int, z: int) -> int:
        grid = self._grid
        (x0, y0, z0), (x1, y1, z1) = grid.lo, grid.hi
        if not (x0 <= x < x1 and y0 <= y < y1 and z0 <= z < z1):
            return grids.UNKNOWN
        return grid.flat.item(grids.place(grid, x, y, z))
