"""Save a world: the ending says in which format, and a file appears whole or not at all."""

from __future__ import annotations

import errno
import os
import warnings
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

import numpy as np

from ecs_audio.world import npz, schem_out
from ecs_audio.world.errors import WorldWarning
from ecs_audio.world.grid import UNKNOWN, Grid
from ecs_audio.world.limits import MAX_FILE_SECTIONS, MAX_ROWS
from ecs_audio.world.palette import Palette

_WRITERS: Final = {".npz": npz.write, ".schem": schem_out.write}


def save(path: str | os.PathLike[str], grid: Grid, palette: Palette, cell_size: float) -> None:
    """Write a file under a temporary name beside `path`, then rename it.

    Raises ValueError for other endings and for a world too large to be read again, and OSError.
    """
    target = Path(path)
    write = _WRITERS.get(target.suffix.lower())
    if write is None:
        raise ValueError(f"A world is saved as {' or '.join(_WRITERS)}, but the path is {str(target)!r}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder to save a world in", str(target.parent))
    if len(grid.flat) > MAX_FILE_SECTIONS:
        raise ValueError(f"The world has {len(grid.flat)} sections, of at most {MAX_FILE_SECTIONS} a file.")
    if (rows := int(np.count_nonzero(grid.flat >= 0))) > MAX_ROWS:
        raise ValueError(f"The world has {rows} sections of several materials, of at most {MAX_ROWS} a file.")
    temporary = target.with_name(f".{target.name}.{token_hex(4)}.part")
    try:
        with temporary.open("xb") as stream:
            write(stream, grid, palette, cell_size)
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    if write is schem_out.write and (unknown := int(np.count_nonzero(grid.flat == UNKNOWN))):
        warnings.warn(
            f"{target}: {unknown} of {len(grid.flat)} sections are not loaded, and a .schem has them as air",
            WorldWarning,
            stacklevel=3,
        )
