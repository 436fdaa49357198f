"""The voxel world that sound travels through."""

from __future__ import annotations

from operator import index
from os import PathLike
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_audio.world import boxes, carving, dense, filling, joining, reading, saving
from ecs_audio.world import grid as grids
from ecs_audio.world.arguments import Real3, Whole3, ids3, origin3, real, real3, size3, whole3
from ecs_audio.world.cells import Cells
from ecs_audio.world.edits import CAPACITY, dirty_sections
from ecs_audio.world.errors import OutsideError
from ecs_audio.world.limits import MAX_CELL_SIZE, MAX_COORDINATE, MIN_CELL_SIZE
from ecs_audio.world.materials import Materials
from ecs_audio.world.palette import Palette
from ecs_audio.world.window import window


class World(Cells):
    """A box of cells, each of one material; y is up. Made by `World.empty`, `World.unknown` or `World.load`.

    Kernels read `slots`, `cells`, `section_origin` and `palette`; take them anew after every edit, since an
    edit may replace an array by a larger one.
    """

    def __init__(
        self,
        grid: grids.Grid,
        palette: Palette,
        cell_size: float = 1.0,
        report: list[str] | None = None,
    ) -> None:
        self.palette = palette
        """Names and acoustic numbers by id."""
        self.cell_size = cell_size
        """Edge of a cell [m]."""
        self.origin: NDArray[np.int64] = np.array(grid.lo, np.int64)
        """Lowest cell of the declared box, shape [3]."""
        self.size: NDArray[np.int64] = np.array(grid.hi, np.int64) - np.array(grid.lo, np.int64)
        """Edges of the declared box [cells], shape [3]."""
        self.section_origin: NDArray[np.int64] = np.array(grid.base, np.int64)
        """The lowest section (cell >> 4), shape [3]."""
        self.revision = 0
        """Edits made so far."""
        self.edits: NDArray[np.int64] = np.zeros((CAPACITY, 6), np.int64)
        """Ring of half-open boxes: the edit that made revision r is row (r - 1) % 1024, shape [1024, 6]."""
        self.report: list[str] = [] if report is None else report
        """What the reader of the file had to leave out, in sentences."""
        self.is_snapshot = False
        """Whether this world is read-only."""
        self._grid = grid

    @classmethod
    def empty(
        cls,
        *,
        size: Whole3,
        origin: Whole3 = (0, 0, 0),
        cell_size: float = 1.0,
        materials: Materials | None = None,
    ) -> World:
        """Return a world of air: `size` cells from the cell `origin` on, with cells of `cell_size` metres.

        Raises TypeError or ValueError for arguments that are not numbers or lie beyond the limits.
        """
        return cls._new(size, origin, cell_size, materials, grids.AIR)

    @classmethod
    def unknown(
        cls,
        *,
        size: Whole3,
        origin: Whole3 = (0, 0, 0),
        cell_size: float = 1.0,
        materials: Materials | None = None,
    ) -> World:
        """Return a world like `World.empty` of unknown sections; each is known once a cell is written."""
        return cls._new(size, origin, cell_size, materials, grids.UNKNOWN)

    @classmethod
    def _new(
        cls, size: Whole3, origin: Whole3, cell_size: float, materials: Materials | None, slot: int
    ) -> World:
        grid = grids.make(origin3("origin", origin), size3("size", size), slot)
        return cls(grid, Palette(materials), real("cell_size", cell_size, MIN_CELL_SIZE, MAX_CELL_SIZE))

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        around: Real3 | None = None,
        radius: SupportsFloat = 256.0,
        materials: Materials | None = None,
        strict: bool = False,
        cell_size: SupportsFloat | None = None,
    ) -> World:
        """Read a world file, whatever its name, or a world's folder: all, or what lies around a point.

        Then the sections are known that are within `radius` cells of `around` along each axis. The declared
        box is that of the whole file; of a folder too large for a world, what fits around the point. Bad
        chunks are left out, and `report` names them, unless `strict`. `cell_size` [m] is for another one than
        the file's, which is 1 where it says nothing, as a mesh. Raises WorldFormatError for what cannot
        be trusted or would take too long, OutsideError (a ValueError) where nothing lies around the point,
        and OSErrors.
        """
        part = None if around is None else window(around, radius)
        size = None if cell_size is None else real("cell_size", cell_size, MIN_CELL_SIZE, MAX_CELL_SIZE)
        found = reading.read(path, Palette(materials), strict, part, size)
        return cls(found.grid, found.palette, found.cell_size, found.report)

    def load_more(
        self,
        source: str | PathLike[str] | World,
        *,
        around: Real3 | None = None,
        radius: SupportsFloat = 256.0,
        strict: bool = False,
    ) -> int:
        """Make sections known that were not, from a file, a folder or another world; return how many.

        Options are those of `load`, and cells stay at their coordinates. What is known stays as it is, so a
        section that was edited before it came stays as edited. What lies beyond the declared box is left out:
        a ValueError if that is all, but none where there is nothing at all. An edit, like `fill`, between
        ticks. So as not to wait for files, `load` on a thread of your own and give that world here.
        """
        grid = self._writable()
        part = None if around is None else window(around, radius)
        if not isinstance(source, World):
            try:
                source = World.load(
                    source,
                    around=around,
                    radius=radius,
                    materials=self.palette.materials,
                    strict=strict,
                    cell_size=self.cell_size,
                )
            except OutsideError:
                return 0
        count, found = joining.join(grid, self.palette, source._grid, source.palette, part)
        for box in found:
            self._record(*box)
        self.report.extend(line for line in source.report if line not in self.report)
        return count

    def save(self, path: str | PathLike[str]) -> None:
        """Write an `.npz` or a Sponge `.schem`, by ending; an old file stays until the new one is complete.

        A `.schem` has no unknown sections: they become air, with a WorldWarning. Raises ValueError for other
        endings and for worlds too large to be read again, and OSError.
        """
        saving.save(path, self._grid, self.palette, self.cell_size)

    def set(self, cell: Whole3, name: str) -> None:
        """Write one cell. Raises IndexError outside the declared box."""
        grid = self._writable()
        try:
            x, y, z = map(index, cell)
        except (TypeError, ValueError):
            x, y, z = whole3("cell", cell)
        (x0, y0, z0), (x1, y1, z1) = grid.lo, grid.hi
        if not (x0 <= x < x1 and y0 <= y < y1 and z0 <= z < z1):
            raise IndexError(f"cell {(x, y, z)} lies outside the world, which spans {grid.lo} to {grid.hi}.")
        number = self.palette.id(name)
        where = grids.place(grid, x, y, z)
        if grid.flat.item(where) != grids.AIR - number:
            row = grids.claim_one(grid, where)
            grid.cells[row, (y & 15) << 8 | (z & 15) << 4 | (x & 15)] = number
        self._record(x, y, z, x + 1, y + 1, z + 1)

    def fill(self, lo: Whole3, hi: Whole3, name: str) -> None:
        """Write every cell of the half-open box `lo` to `hi` that lies inside the declared box."""
        grid = self._writable()
        box = boxes.clip(grid, whole3("lo", lo), whole3("hi", hi))
        number = self.palette.id(name)
        if box is not None:
            filling.fill(grid, *box, number)
            self._record(*box[0], *box[1])

    def carve(self, center: Real3, radius: SupportsFloat) -> None:
        """Turn to air the cells whose centres lie within a sphere; `center` and `radius` in cells."""
        grid = self._writable()
        reach = real("radius", radius, 0.0, MAX_COORDINATE)
        box = carving.carve(grid, real3("center", center), reach)
        if box is not None:
            self._record(*box[0], *box[1])

    def put(self, lo: Whole3, ids: ArrayLike) -> None:
        """Write an array of palette ids, shape [dx, dy, dz], where it lies inside the declared box.

        Raises TypeError for anything but whole numbers, ValueError for another shape or ids without a name.
        """
        grid = self._writable()
        values, corner = ids3("ids", ids, len(self.palette)), whole3("lo", lo)
        if not values.size:
            return
        box = dense.put(grid, corner, values)
        if box is not None:
            self._record(*box[0], *box[1])

    def dirty_sections(self, since: int) -> NDArray[np.int64]:
        """Return the coordinates of sections touched after revision `since`, each once, shape [n, 3].

        All sections where `edits` no longer reaches back. Raises ValueError for a revision yet to come.
        """
        if since > self.revision:
            raise ValueError(f"since must be at most the revision {self.revision}, got {since}.")
        return dirty_sections(self._grid, self.edits, self.revision, since)

    def snapshot(self) -> World:
        """Return a read-only world that later edits do not touch; it shares the cells and copies `slots`.

        Its arrays are true while the snapshot itself is alive.
        """
        if self.is_snapshot:
            return self
        twin = World(grids.snapshot(self._grid), self.palette, self.cell_size, list(self.report))
        twin.revision = self.revision
        twin.edits[:] = self.edits
        twin.is_snapshot = True
        return twin

    def __repr__(self) -> str:
        kind = "snapshot of a world" if self.is_snapshot else "world"
        lo, hi = self._grid.lo, self._grid.hi
        return f"<{kind}: {lo} to {hi}, {len(self.palette)} names, revision {self.revision}>"

    def _writable(self) -> grids.Grid:
        if self.is_snapshot:
            raise ValueError("A snapshot is read-only: edit the world it was taken from.")
        return self._grid

    def _record(self, *box: int) -> None:
        self.edits[self.revision % CAPACITY] = box
        self.revision += 1
