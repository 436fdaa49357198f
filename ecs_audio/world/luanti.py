"""Luanti worlds (`map.sqlite`): map blocks of 16x16x16 nodes in a database, which is only ever read.

Luanti counts z towards the north, this library and Minecraft count it towards the south; x is east and y is
up in all. So the node (x, y, z) becomes the cell (x, y, -1 - z): what a player has on the right stays on the
right, and map blocks stay whole sections, of which (x, y, z) becomes (x, y, -1 - z) as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import grid as grids
from ecs_audio.world import luanti_database as database
from ecs_audio.world import skipped
from ecs_audio.world.errors import OutsideError, TooLargeError, WorldFormatError
from ecs_audio.world.limits import (
    MAX_CELLS,
    MAX_FILE_SECTIONS,
    MAX_LOAD_BLOCKS,
    MAX_NAMES,
    MAX_ROWS,
)
from ecs_audio.world.load import ADVICE
from ecs_audio.world.luanti_block import Block, Budget, MissingZstdError, decode
from ecs_audio.world.palette import NO_NAME, Palette
from ecs_audio.world.window import Window

_IGNORE: Final = "ignore"
"""What nodes are called that are not there yet."""
_MAX_MAP: Final = min(MAX_CELLS, MAX_FILE_SECTIONS * 4096)
_REACH: Final = 2048
"""Map blocks along an axis from the middle of a world."""


def read(
    file: Path, palette: Palette, strict: bool, part: Window | None = None
) -> tuple[grids.Grid, list[str]]:
    """Return the cells of all map blocks, and a report of those that had to be skipped.

    What is not in the database, and blocks of nothing but `ignore`, are unknown; single nodes of it are air.
    Changes that a running server has not written yet are not seen. Raises WorldFormatError where no block can
    be read, and with `strict` where one cannot. Of a window, only the blocks that it touches are unpacked;
    the grid then spans all blocks if that is not too much, else those. Raises OutsideError where it touches
    none.
    """
    with database.opened(file) as connection:
        table = database.table(connection)
        positions = database.positions(connection, table)
        blocks = _decoded_positions(positions)
        is_wanted = _wanted(blocks, part)
        grid = _grid(blocks if part is None or _fits(blocks) else blocks[is_wanted])
        positions, blocks = positions[is_wanted], blocks[is_wanted]
        if len(blocks) > MAX_LOAD_BLOCKS:
            raise TooLargeError(
                f"it has {len(blocks)} map blocks, of which {MAX_LOAD_BLOCKS} can be read; {ADVICE}"
            )
        reasons: dict[tuple[int, int, int], str] = {}
        known: dict[str, int] = {}
        budget = Budget(len(blocks))
        for number, (x, y, z) in zip(positions.tolist(), blocks.tolist(), strict=True):
            try:
                at = {"number": number, "x": x, "y": y, "z": z}
                block = decode(database.data(connection, table, at), budget)
                _store(grid, (x, y, -1 - z), block, palette, known)
            except (MissingZstdError, TooLargeError):
                raise
            except WorldFormatError as error:
                reasons[x, y, z] = str(error)
    report = [skipped.sentence("block", reasons, len(blocks))] if reasons else []
    if report and (strict or len(reasons) == len(blocks)):
        raise WorldFormatError(report[0].removesuffix("."))
    return grid, report


def _decoded_positions(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return x, y and z of map blocks, shape [n, 3]: signed digits of base 4096, x the lowest."""
    digits = []
    rest = numbers
    for _ in range(2):
        digits.append((rest + _REACH) % (2 * _REACH) - _REACH)
        rest = (rest - digits[-1]) // (2 * _REACH)
    bad = numbers[(rest < -_REACH) | (rest >= _REACH)]
    if len(bad):
        raise WorldFormatError(f"it has a map block at the position {bad[0]}, which is outside of all worlds")
    return np.stack((*digits, rest), axis=1)


def _wanted(blocks: NDArray[np.int64], part: Window | None) -> NDArray[np.bool_]:
    """Return which blocks a window touches."""
    if part is None:
        return np.ones(len(blocks), np.bool_)
    sections = blocks * (1, 1, -1) - (0, 0, 1)
    is_inside = (sections >= part.lo) & (sections < part.hi)
    is_wanted: NDArray[np.bool_] = is_inside[:, 0] & is_inside[:, 1] & is_inside[:, 2]
    if not is_wanted.any():
        low, high = (16 * sections.min(axis=0)).tolist(), (16 * sections.max(axis=0) + 15).tolist()
        raise OutsideError(
            f"no map block lies within {part}: its cells go from {tuple(low)} to {tuple(high)}"
        )
    return is_wanted


def _fits(blocks: NDArray[np.int64]) -> bool:
    return int(np.prod(16 * (np.ptp(blocks, axis=0) + 1))) <= _MAX_MAP


def _grid(blocks: NDArray[np.int64]) -> grids.Grid:
    low, high = blocks.min(axis=0), blocks.max(axis=0) + 1
    x, y, z = (16 * (high - low)).tolist()
    if not _fits(blocks):
        raise WorldFormatError(
            f"its map blocks lie in a box of {x}x{y}x{z} cells, more than {_MAX_MAP}; {ADVICE}"
        )
    lo = 16 * int(low[0]), 16 * int(low[1]), -16 * int(high[2])
    return grids.make(lo, (x, y, z), grids.UNKNOWN, max_rows=MAX_ROWS)


def _store(
    grid: grids.Grid, section: tuple[int, int, int], block: Block, palette: Palette, known: dict[str, int]
) -> None:
    table = np.full(int(block.nodes.max()) + 1, NO_NAME, np.uint16)
    for number, name in block.names:
        if number < len(table):
            table[number] = _id(name, palette, known)
    # From z, y, x to y, z, x, with z the other way round.
    cells = table[block.nodes].reshape(16, 16, 16)[::-1].transpose(1, 0, 2).reshape(4096)
    high = int(cells.max())
    if high == NO_NAME:
        raise WorldFormatError("it has a node without a name")
    place = grids.place(grid, 16 * section[0], 16 * section[1], 16 * section[2])
    if high == 0 and _is_ignored(block):
        return
    if int(cells.min()) == high:
        grid.flat[place] = grids.AIR - high
    else:
        # Claimed first: claiming may replace the array.
        row = grids.claim_one(grid, place)
        grid.cells[row] = cells


def _is_ignored(block: Block) -> bool:
    ignored = {number for number, name in dict(block.names).items() if name == _IGNORE}
    return bool(ignored) and ignored.issuperset(np.unique(block.nodes).tolist())


def _id(name: str, palette: Palette, known: dict[str, int]) -> int:
    number = known.get(name)
    if number is None:
        try:
            number = 0 if name == _IGNORE else palette.id(name)
        except ValueError as error:
            raise WorldFormatError(f"it has a bad name: {error}") from error
        # Of one block, names with states could be without end.
        if len(known) < MAX_NAMES:
            known[name] = number
    return number
