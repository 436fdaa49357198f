"""Luanti worlds (`map.sqlite`): map blocks of 16x16x16 nodes in a database, which is only ever read.

Luanti counts z towards the north, this library and Minecraft count it towards the south; x is east and y is
up in all. So the node (x, y, z) becomes the cell (x, y, -1 - z): what a player has on the right stays on the
right, and map blocks stay whole sections, of which (x, y, z) becomes (x, y, -1 - z) as well.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import grid as grids
from ecs_audio.world import skipped
from ecs_audio.world.errors import OutsideError, WorldFormatError
from ecs_audio.world.limits import MAX_BLOCK_BYTES, MAX_BLOCKS, MAX_CELLS, MAX_FILE_SECTIONS
from ecs_audio.world.luanti_block import Block, Budget, MissingZstdError, decode
from ecs_audio.world.palette import NO_NAME, Palette
from ecs_audio.world.window import Window

MAGIC: Final = b"SQLite format 3\0"
_IGNORE: Final = "ignore"
"""What nodes are called that are not there yet."""
_MAX_STEPS: Final = 2**28
_STEPS_AT_ONCE: Final = 2**20
"""Instructions of the database: a file may ask for more than its size suggests."""
_MAX_MAP: Final = min(MAX_CELLS, MAX_FILE_SECTIONS * 4096)
_REACH: Final = 2048
"""Map blocks along an axis from the middle of a world."""


class _Table(NamedTuple):
    """How positions are kept: in one number, or in a column each."""

    position: str
    where: str


_TABLES: Final = {
    ("data", "pos"): _Table("pos", "pos = :number"),
    ("data", "x", "y", "z"): _Table("x + y * 4096 + z * 16777216", "x = :x AND y = :y AND z = :z"),
}


def database(path: Path) -> Path:
    """Return the database of a world's folder, any other path as it is."""
    inside = path / "map.sqlite"
    return inside if inside.is_file() else path


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
    with _opened(file) as connection:
        table = _table(connection)
        positions = _positions(connection, table)
        blocks = _decoded_positions(positions)
        is_wanted = _wanted(blocks, part)
        grid = _grid(blocks if part is None or _fits(blocks) else blocks[is_wanted])
        positions, blocks = positions[is_wanted], blocks[is_wanted]
        reasons: dict[tuple[int, int, int], str] = {}
        known: dict[str, int] = {}
        budget = Budget(len(blocks))
        for number, (x, y, z) in zip(positions.tolist(), blocks.tolist(), strict=True):
            try:
                block = _block(connection, table, {"number": number, "x": x, "y": y, "z": z}, budget)
                _store(grid, (x, y, -1 - z), block, palette, known)
            except MissingZstdError:
                raise
            except WorldFormatError as error:
                reasons[x, y, z] = str(error)
    report = [skipped.sentence("block", reasons, len(blocks))] if reasons else []
    if report and (strict or len(reasons) == len(blocks)):
        raise WorldFormatError(report[0].removesuffix("."))
    return grid, report


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a database so that nothing is written, to it or beside it, and no code of its own is run."""
    steps = iter(range(_MAX_STEPS // _STEPS_AT_ONCE))
    try:
        connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BLOCK_BYTES)
            connection.set_progress_handler(lambda: next(steps, None) is None, _STEPS_AT_ONCE)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
        # It may quote names of the database, in whatever bytes they are.
        reason = " ".join(str(error).split())
        raise WorldFormatError(f"its database is damaged or no Luanti map ({reason:.200})") from error


def _table(connection: sqlite3.Connection) -> _Table:
    found = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = 'blocks'"
    ).fetchone()
    # Views and tables that are computed have no page.
    if found is None or not found[0]:
        raise WorldFormatError("it is an SQLite database without a table `blocks`, so no Luanti map")
    columns = connection.execute("PRAGMA table_xinfo(blocks)").fetchall()
    named = tuple(sorted(str(column[1]) for column in columns))
    if named not in _TABLES or any(column[6] for column in columns):
        raise WorldFormatError(
            f"its table `blocks` has the columns {', '.join(named):.60}, so it is no Luanti map"
        )
    return _TABLES[named]


def _positions(connection: sqlite3.Connection, table: _Table) -> NDArray[np.int64]:
    """Return the positions of all blocks as the numbers that Luanti makes of them, in order."""
    rows = connection.execute(f"SELECT {table.position} FROM blocks")
    try:
        numbers = np.fromiter((row[0] for row in islice(rows, MAX_BLOCKS + 1)), np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise WorldFormatError(f"it has a map block whose position is no whole number ({error})") from error
    if not len(numbers):
        raise WorldFormatError("it is a Luanti map without map blocks")
    if len(numbers) > MAX_BLOCKS:
        raise WorldFormatError(f"it has more than {MAX_BLOCKS} map blocks")
    return np.unique(numbers)


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
            f"its map blocks lie in a box of {x}x{y}x{z} cells, more than {_MAX_MAP};"
            " give `around` to load a part"
        )
    lo = 16 * int(low[0]), 16 * int(low[1]), -16 * int(high[2])
    return grids.make(lo, (x, y, z), grids.UNKNOWN)


def _block(connection: sqlite3.Connection, table: _Table, at: dict[str, int], budget: Budget) -> Block:
    try:
        found = connection.execute(f"SELECT data FROM blocks WHERE {table.where}", at).fetchone()
    except sqlite3.DataError as error:
        raise WorldFormatError(f"it has more than {MAX_BLOCK_BYTES} bytes") from error
    if found is None or not isinstance(found[0], bytes):
        raise WorldFormatError("its data is missing or no bytes")
    return decode(found[0], budget)


def _store(
    grid: grids.Grid, section: tuple[int, int, int], block: Block, palette: Palette, known: dict[str, int]
) -> None:
    table = np.full(int(block.nodes.max()) + 1, NO_NAME, np.uint16)
    is_ignore = np.zeros(len(table), np.bool_)
    for number, name in block.names:
        if number < len(table):
            table[number] = _id(name, palette, known)
            is_ignore[number] = name == _IGNORE
    # From z, y, x to y, z, x, with z the other way round.
    cells = table[block.nodes].reshape(16, 16, 16)[::-1].transpose(1, 0, 2).reshape(4096)
    high = int(cells.max())
    if high == NO_NAME:
        raise WorldFormatError("it has a node without a name")
    place = grids.place(grid, 16 * section[0], 16 * section[1], 16 * section[2])
    if high == 0 and is_ignore[block.nodes].all():
        return
    if int(cells.min()) == high:
        grid.flat[place] = grids.AIR - high
    else:
        # Claimed first: claiming may replace the array.
        row = grids.claim_one(grid, place)
        grid.cells[row] = cells


def _id(name: str, palette: Palette, known: dict[str, int]) -> int:
    number = known.get(name)
    if number is None:
        try:
            number = known[name] = 0 if name == _IGNORE else palette.id(name)
        except ValueError as error:
            raise WorldFormatError(f"it has a bad name: {error}") from error
    return number
