"""Boxes of ids as plain arrays, in and out of a grid."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.arguments import Cell
from ecs_audio.world.boxes import clip, places, runs
from ecs_audio.world.grid import AIR, UNKNOWN, Grid, claim, make_uniform

_SECTIONS_AT_ONCE = 4096

Box = tuple[slice, slice, slice]


class Piece(NamedTuple):
    """What a box of cells has in common with one section."""

    place: int
    """The place of the section."""
    source: Box
    """The cells in an array of the box: x, y, z."""
    local: Box
    """The same cells in the section: y, z, x."""
    is_whole: bool
    """Whether those are all cells of the section."""


def ids(grid: Grid, lo: Cell, size: Cell) -> NDArray[np.uint16]:
    """Return the ids of a box, air where it is unknown or outside, shape [dx, dy, dz]."""
    out = np.zeros(size, np.uint16)
    box = clip(grid, lo, (lo[0] + size[0], lo[1] + size[1], lo[2] + size[2]))
    if box is None:
        return out
    for piece in _pieces(grid, *box, lo):
        slot = grid.flat.item(piece.place)
        if slot >= 0:
            out[piece.source] = grid.cells[slot].reshape(16, 16, 16)[piece.local].transpose(2, 0, 1)
        elif slot < AIR:
            out[piece.source] = AIR - slot
    return out


def put(grid: Grid, lo: Cell, values: NDArray[np.uint16]) -> tuple[Cell, Cell] | None:
    """Write the ids of a box, shape [dx, dy, dz]; return the part of it within the declared box, or None."""
    dx, dy, dz = values.shape
    box = clip(grid, lo, (lo[0] + dx, lo[1] + dy, lo[2] + dz))
    if box is None:
        return None
    pieces = _pieces(grid, *box, lo)
    while batch := list(islice(pieces, _SECTIONS_AT_ONCE)):
        _put(grid, values, batch)
    return box


def _put(grid: Grid, values: NDArray[np.uint16], pieces: list[Piece]) -> None:
    uniform: dict[int, list[int]] = {}
    mixed = []
    for piece in pieces:
        block = values[piece.source]
        first = int(block[0, 0, 0])
        slot = grid.flat.item(piece.place)
        stays_uniform = piece.is_whole or slot == AIR - first or (slot == UNKNOWN and first == 0)
        if stays_uniform and bool((block == first).all()):
            uniform.setdefault(AIR - first, []).append(piece.place)
        else:
            mixed.append(piece)
    for slot, where in uniform.items():
        make_uniform(grid, np.array(where), slot)
    rows = claim(grid, np.array([piece.place for piece in mixed], np.int64))
    for row, piece in zip(rows.tolist(), mixed, strict=True):
        grid.cells[row].reshape(16, 16, 16)[piece.local] = values[piece.source].transpose(1, 2, 0)


def _pieces(grid: Grid, lo: Cell, hi: Cell, corner: Cell) -> Iterator[Piece]:
    """Yield what a box within the grid has in each section, for an array that begins at `corner`."""
    offsets = [(base << 4) - start for base, start in zip(grid.base, corner, strict=True)]
    for block in runs(grid, lo, hi):
        x, y, z = block
        local = slice(y.lo, y.hi), slice(z.lo, z.hi), slice(x.lo, x.hi)
        is_whole = all(run.hi - run.lo == 16 for run in block)
        ahead = [
            [slice(offset + 16 * i + run.lo, offset + 16 * i + run.hi) for i in range(run.first, run.end)]
            for offset, run in zip(offsets, block, strict=True)
        ]
        where = iter(places(grid, x, y, z).tolist())
        for along_x in ahead[0]:
            for along_y in ahead[1]:
                for along_z in ahead[2]:
                    yield Piece(next(where), (along_x, along_y, along_z), local, is_whole)


def renumbered(values: NDArray[Any], table: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return `table[values]` of a contiguous array of any shape."""
    out = np.empty_like(values, np.uint16)
    source, target = values.ravel(order="K"), out.ravel(order="K")
    # Numpy widens all indices to eight bytes before it looks anything up.
    for start in range(0, source.size, 2**16):
        target[start : start + 2**16] = table[source[start : start + 2**16]]
    return out
