"""Boxes of cells cut along the borders of sections, so that loops run over sections and never over cells."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.arguments import Cell
from ecs_audio.world.grid import Grid


class Run(NamedTuple):
    """Along one axis: sections `first` to `end`, and in each of them cells `lo` to `hi`."""

    first: int
    end: int
    lo: int
    hi: int


def clip(grid: Grid, lo: Cell, hi: Cell) -> tuple[Cell, Cell] | None:
    """Return the part of a half-open box inside the declared box, or None."""
    x0, y0, z0 = (max(a, b) for a, b in zip(lo, grid.lo, strict=True))
    x1, y1, z1 = (min(a, b) for a, b in zip(hi, grid.hi, strict=True))
    return ((x0, y0, z0), (x1, y1, z1)) if x0 < x1 and y0 < y1 and z0 < z1 else None


def runs(grid: Grid, lo: Cell, hi: Cell) -> list[tuple[Run, Run, Run]]:
    """Cut a box within the grid into at most 27 blocks of sections that are all touched alike."""
    x, y, z = (_runs(a, b, first << 4) for a, b, first in zip(lo, hi, grid.base, strict=True))
    return list(product(x, y, z))


def _runs(lo: int, hi: int, start: int) -> list[Run]:
    lo, hi = lo - start, hi - start
    first, end = lo >> 4, hi >> 4
    if first == (hi - 1) >> 4:
        return [Run(first, first + 1, lo & 15, ((hi - 1) & 15) + 1)]
    head = [Run(first, first + 1, lo & 15, 16)] if lo & 15 else []
    first += len(head)
    body = [Run(first, end, 0, 16)] if first < end else []
    tail = [Run(end, end + 1, 0, hi & 15)] if hi & 15 else []
    return head + body + tail


def places(grid: Grid, x: Run, y: Run, z: Run) -> NDArray[np.int64]:
    """Return the places of a block of sections, shape [nx * ny * nz], z fastest."""
    _, ny, nz = grid.slots.shape
    columns = np.arange(x.first, x.end)[:, None] * ny + np.arange(y.first, y.end)
    found: NDArray[np.int64] = columns[:, :, None] * nz + np.arange(z.first, z.end)
    return found.reshape(-1)


def depths(start: int, size: int) -> Iterator[int]:
    """Yield the lengths of an axis that is cut where sections end, so that each is written once."""
    end = start + size
    while start < end:
        stop = min(end, (start >> 4 << 4) + 16)
        yield stop - start
        start = stop
