"""The database of a Luanti world (`map.sqlite`), which is only ever read."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_BLOCK_BYTES, MAX_BLOCKS

MAGIC: Final = b"SQLite format 3\0"
_MAX_STEPS: Final = 2**26
_STEPS_AT_ONCE: Final = 2**20
"""Instructions of the database: a file may ask for more than its size suggests."""


class Table(NamedTuple):
    """How positions are kept: in one number, or in a column each."""

    position: str
    where: str


_TABLES: Final = {
    ("data", "pos"): Table("pos", "pos = :number"),
    ("data", "x", "y", "z"): Table("x + y * 4096 + z * 16777216", "x = :x AND y = :y AND z = :z"),
}


def file_of(path: Path) -> Path:
    """Return the database of a world's folder, any other path as it is."""
    inside = path / "map.sqlite"
    return inside if inside.is_file() else path


@contextmanager
def opened(file: Path) -> Iterator[sqlite3.Connection]:
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


def table(connection: sqlite3.Connection) -> Table:
    """Return how a map keeps its positions. Raises WorldFormatError where it is none."""
    found = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = 'blocks'"
    ).fetchone()
    # Views and tables that are computed have no page.
    if found is None or not found[0]:
        raise WorldFormatError("it is an SQLite database without a table `blocks`, so no Luanti map")
    columns = connection.execute("PRAGMA table_xinfo(blocks)").fetchall()
    named = tuple(sorted(str(column[1]) for column in columns))
    # Behind the data, positions would have to be looked for through all of it.
    is_last = bool(columns) and columns[-1][1] == "data"
    if named not in _TABLES or not is_last or any(column[6] for column in columns):
        raise WorldFormatError(
            f"its table `blocks` has the columns {', '.join(named):.60}, so it is no Luanti map"
        )
    return _TABLES[named]


def positions(connection: sqlite3.Connection, kept: Table) -> NDArray[np.int64]:
    """Return the positions of all blocks as the numbers that Luanti makes of them, in order."""
    rows = connection.execute(f"SELECT {kept.position} FROM blocks")
    try:
        listed = array("q", map(itemgetter(0), islice(rows, MAX_BLOCKS + 1)))
    except (TypeError, ValueError, OverflowError) as error:
        raise WorldFormatError(f"it has a map block whose position is no whole number ({error})") from error
    if not listed:
        raise WorldFormatError("it is a Luanti map without map blocks")
    if len(listed) > MAX_BLOCKS:
        raise WorldFormatError(f"it has more than {MAX_BLOCKS} map blocks")
    numbers = np.sort(np.array(listed, np.int64))
    is_new = np.ones(len(numbers), np.bool_)
    is_new[1:] = numbers[1:] != numbers[:-1]
    different: NDArray[np.int64] = numbers[is_new]
    return different


def data(connection: sqlite3.Connection, kept: Table, at: dict[str, int]) -> bytes:
    """Return the packed map block at a position. Raises WorldFormatError."""
    try:
        found = connection.execute(f"SELECT data FROM blocks WHERE {kept.where}", at).fetchone()
    except sqlite3.DataError as error:
        raise WorldFormatError(f"it has more than {MAX_BLOCK_BYTES} bytes") from error
    if found is None or not isinstance(found[0], bytes):
        raise WorldFormatError("its data is missing or no bytes")
    blob: bytes = found[0]
    return blob
