"""The cells of a world in sections of 16x16x16, shared with snapshots and copied where they are written."""

from bisect import bisect_left
from dataclasses import dataclass, field
from math import prod
from sys import maxsize
from typing import Final, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.arguments import Cell
from ecs_audio.world.errors import WorldFormatError

UNKNOWN: Final = -1
"""The slot of a section that is not loaded."""

AIR: Final = -2
"""The slot of a section that is all air."""

_NO_SNAPSHOT: Final = -1

_ROWS_AT_ONCE: Final = 1024
"""Bounds what copying takes beside the copies to 8 MiB."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class Grid:
    """Sections of a box of cells: `slots` says what each is, `cells` holds the mixed ones."""

    lo: Cell
    """Lowest cell of the declared box."""
    hi: Cell
    """One beyond its highest cell."""
    base: Cell
    """Lowest section, in sections."""
    slots: NDArray[np.int32]
    """UNKNOWN, -2 - id of a uniform section, or the row of a mixed one, shape [sx, sy, sz]."""
    flat: NDArray[np.int32]
    """`slots` in one dimension; a *place* is an index into it."""
    cells: NDArray[np.uint16]
    """Ids by row and (y & 15) << 8 | (z & 15) << 4 | (x & 15), shape [rows, 4096]."""
    born: NDArray[np.int64]
    """Snapshots made before a row was handed out, shape [rows]."""
    pitch: Cell = field(init=False)
    """Places from a section to the next along x and along y, and what puts the lowest section at place 0."""
    used: int = 0
    """Rows handed out at least once."""
    free: list[int] = field(default_factory=list)
    """Rows handed out and given back."""
    retired: list[tuple[int, int, int]] = field(default_factory=list)
    """Rows that only snapshots may still see: row, born, snapshots made when it was replaced."""
    epoch: int = 0
    """Snapshots made."""
    frozen: int = _NO_SNAPSHOT
    """Number of the newest living snapshot: rows born by then are copied before they are written."""
    snapshots: list[tuple[int, "ref[Grid]"]] = field(default_factory=list)
    """The snapshots that share `cells`, by number."""
    max_rows: int = maxsize
    """Rows that there may be."""

    def __post_init__(self) -> None:
        _, ny, nz = self.slots.shape
        x, y, z = self.base
        self.pitch = (ny * nz, nz, (x * ny + y) * nz + z)


class SectionCounts(NamedTuple):
    """How many sections of 16x16x16 are what."""

    empty: int
    """All air."""
    uniform: int
    """All of one other material."""
    mixed: int
    """Of several materials, or edited: these cost 8 KiB each."""
    unknown: int
    """Not loaded: open air to every ray."""


def section_count(lo: Cell, size: Cell) -> int:
    """Return how many sections a box of cells touches."""
    return prod(((start + edge - 1) >> 4) - (start >> 4) + 1 for start, edge in zip(lo, size, strict=True))


def make(lo: Cell, size: Cell, slot: int = AIR, rows: int = 8, max_rows: int = maxsize) -> Grid:
    """Return a grid with room for mixed sections, of which each is UNKNOWN or of one uniform material.

    Where more than `max_rows` are asked for, as by a file that is not trusted, WorldFormatError is raised.
    """
    hi = (lo[0] + size[0], lo[1] + size[1], lo[2] + size[2])
    base = (lo[0] >> 4, lo[1] >> 4, lo[2] >> 4)
    shape = [((end - 1) >> 4) - first + 1 for first, end in zip(base, hi, strict=True)]
    slots = np.full(shape, slot, np.int32)
    cells, born = np.empty((rows, 4096), np.uint16), np.zeros(rows, np.int64)
    return Grid(lo, hi, base, slots, slots.reshape(-1), cells, born, max_rows=max_rows)


def place(grid: Grid, x: int, y: int, z: int) -> int:
    """Return the place of the section of a cell within the grid."""
    along_x, along_y, start = grid.pitch
    return (x >> 4) * along_x + (y >> 4) * along_y + (z >> 4) - start


def make_uniform(grid: Grid, where: NDArray[np.int64], slot: int) -> None:
    """Turn whole sections into UNKNOWN or a uniform material and give their rows back."""
    if not len(where):
        return
    old = grid.flat[where]
    grid.flat[where] = slot
    _release(grid, old[old >= 0])


def claim(grid: Grid, where: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of sections that are about to be written, made or copied where that is needed."""
    rows = grid.flat[where].astype(np.int64)
    if not _unwritable(grid, rows).any():
        return rows
    # Both steps may end the sharing, so what is shared is asked again.
    _sweep(grid)
    _reserve(grid, int(np.count_nonzero(_unwritable(grid, rows))))
    need = _unwritable(grid, rows)
    old = rows[need]
    new = _take(grid, len(old))
    mixed = old >= 0
    for start in range(0, len(old), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        was_mixed, source, target = mixed[part], old[part], new[part]
        grid.cells[target[was_mixed]] = grid.cells[source[was_mixed]]
        grid.cells[target[~was_mixed]] = np.maximum(AIR - source[~was_mixed], 0)[:, None]
    rows[need] = new
    grid.flat[where] = rows
    _release(grid, old[mixed])
    return rows


def claim_one(grid: Grid, where: int) -> int:
    """Return the row of one section that is about to be written, made or copied where that is needed."""
    row: int = grid.flat.item(where)
    if row >= 0 and grid.born.item(row) > grid.frozen:
        return row
    _sweep(grid)
    if row >= 0 and grid.born.item(row) > grid.frozen:
        return row
    _reserve(grid, 1)
    new = int(_take(grid, 1)[0])
    if row < 0:
        grid.cells[new] = max(AIR - row, 0)
    else:
        grid.cells[new] = grid.cells[row]
    grid.flat[where] = new
    if row >= 0:
        _release(grid, np.array([row]))
    return new


def snapshot(grid: Grid) -> Grid:
    """Return a grid of its own slots that shares the cells; it must not be written."""
    _sweep(grid)
    slots = grid.slots.copy()
    twin = Grid(grid.lo, grid.hi, grid.base, slots, slots.reshape(-1), grid.cells, grid.born, grid.used)
    grid.snapshots.append((grid.epoch, ref(twin)))
    grid.frozen = grid.epoch
    grid.epoch += 1
    return twin


def section_counts(grid: Grid) -> SectionCounts:
    """Return how many sections are empty, uniform, mixed and unknown."""
    empty = int(np.count_nonzero(grid.flat == AIR))
    unknown = int(np.count_nonzero(grid.flat == UNKNOWN))
    mixed = int(np.count_nonzero(grid.flat >= 0))
    return SectionCounts(empty, len(grid.flat) - empty - unknown - mixed, mixed, unknown)


def memory(grid: Grid) -> int:
    """Return the bytes of its arrays, whether snapshots share them or not."""
    return grid.slots.nbytes + grid.cells.nbytes + grid.born.nbytes


def _unwritable(grid: Grid, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (rows < 0) | (grid.born[np.maximum(rows, 0)] <= grid.frozen)


def _take(grid: Grid, count: int) -> NDArray[np.int64]:
    recycled = [grid.free.pop() for _ in range(min(count, len(grid.free)))]
    fresh = range(grid.used, grid.used + count - len(recycled))
    grid.used = fresh.stop
    rows = np.array([*recycled, *fresh], np.int64)
    grid.born[rows] = grid.epoch
    return rows


def _reserve(grid: Grid, count: int) -> None:
    """Make room for more rows."""
    needed = grid.used + count - len(grid.free)
    if needed > grid.max_rows:
        raise WorldFormatError(f"it has more than {grid.max_rows} sections of several materials")
    if needed <= len(grid.cells):
        return
    cells = np.empty((max(needed, min(2 * len(grid.cells), grid.max_rows)), 4096), np.uint16)
    cells[: grid.used] = grid.cells[: grid.used]
    born = np.zeros(len(cells), np.int64)
    born[: grid.used] = grid.born[: grid.used]
    grid.cells, grid.born = cells, born
    # Snapshots keep the array they have, so nothing in the new one is shared.
    grid.snapshots.clear()
    _forget(grid)


def _release(grid: Grid, rows: NDArray[np.int32] | NDArray[np.int64]) -> None:
    shared = grid.born[rows] <= grid.frozen
    grid.free.extend(rows[~shared].tolist())
    grid.retired.extend((row, int(grid.born[row]), grid.epoch) for row in rows[shared].tolist())


def _sweep(grid: Grid) -> None:
    """Take back what only dead snapshots saw.

    Asked for when rows are needed, not called by the weak references: a worker may drop its snapshot at any
    moment.
    """
    living = [entry for entry in grid.snapshots if entry[1]() is not None]
    if len(living) < len(grid.snapshots):
        grid.snapshots = living
        _forget(grid)


def _forget(grid: Grid) -> None:
    numbers = [number for number, _ in grid.snapshots]
    grid.frozen = numbers[-1] if numbers else _NO_SNAPSHOT
    retired = grid.retired
    # Snapshot n sees rows born by n and replaced after it.
    seen = [bisect_left(numbers, born) < bisect_left(numbers, until) for _, born, until in retired]
    grid.free.extend(row for (row, _, _), is_seen in zip(retired, seen, strict=True) if not is_seen)
    grid.retired = [entry for entry, is_seen in zip(retired, seen, strict=True) if is_seen]
