"""Read a world file of whatever format: its contents decide, not its name."""

from os import PathLike
from pathlib import Path
from sys import maxsize
from typing import NamedTuple

from ecs_audio.world import (
    anvil,
    folder,
    litematic,
    luanti,
    luanti_database,
    mesh,
    nbt,
    npz,
    schematic,
    sponge,
    vox,
)
from ecs_audio.world.errors import OutsideError, WorldFormatError
from ecs_audio.world.grid import Grid
from ecs_audio.world.limits import MAX_DOCUMENT_BYTES
from ecs_audio.world.opening import contents
from ecs_audio.world.palette import Palette
from ecs_audio.world.window import Window, cut


class Reading(NamedTuple):
    """What a file holds."""

    grid: Grid
    palette: Palette
    cell_size: float
    report: list[str]


def read(
    path: str | PathLike[str],
    palette: Palette,
    strict: bool,
    part: Window | None = None,
    cell_size: float | None = None,
) -> Reading:
    """Read a file or a world folder with an empty palette, or what a window touches of it.

    `cell_size` is for another one than the file's. Raises WorldFormatError that names the file, OutsideError
    where there is nothing, and OSError.
    """
    file = luanti_database.file_of(Path(path))
    try:
        if file.is_dir():
            grid, report = folder.read(folder.regions(file), palette, strict, part)
            found = Reading(grid, palette, 1.0, report)
        else:
            found = _read(file, palette, strict, part, cell_size or 1.0)
        if part is not None:
            cut(found.grid, part)
        # Who edits a world may do what files may not.
        found.grid.max_rows = maxsize
    except OutsideError as error:
        raise OutsideError(f"{file} has nothing there: {error}.") from error
    except WorldFormatError as error:
        raise WorldFormatError(f"{file} cannot be read as a world: {error}.") from error
    return found if cell_size is None else found._replace(cell_size=cell_size)


def _read(file: Path, palette: Palette, strict: bool, part: Window | None, cell_size: float) -> Reading:
    # A database is read piece by piece, so it may be of any size.
    if contents(file, len(luanti_database.MAGIC)) == luanti_database.MAGIC:
        grid, report = luanti.read(file, palette, strict, part)
        return Reading(grid, palette, 1.0, report)
    data = contents(file)
    if data.startswith(b"PK"):
        return Reading(*_npz(data, palette), [])
    if mesh.is_one(data):
        grid, report = mesh.read(data, palette, cell_size)
        return Reading(grid, palette, cell_size, report)
    # A region begins with the place of its first chunk: if it began like these, that would be gigabytes away.
    if data.startswith((b"\x1f\x8b", b"\x0a\x00", b"\x78")):
        grid, cell_size = _schematic(data, palette)
        return Reading(grid, palette, cell_size, [])
    if data.startswith(b"VOX "):
        grid, report = vox.read(data, palette)
        return Reading(grid, palette, 1.0, report)
    grid, report = anvil.read(data, palette, strict, part, file)
    return Reading(grid, palette, 1.0, report)


def _npz(data: bytes, palette: Palette) -> tuple[Grid, Palette, float]:
    grid, cell_size = npz.read(data, palette)
    return grid, palette, cell_size


def _schematic(data: bytes, palette: Palette) -> tuple[Grid, float]:
    if data[:1] != b"\x0a":
        data = nbt.decompress(data, MAX_DOCUMENT_BYTES)
    regions = litematic.find(data)
    if regions is not None:
        return litematic.read(regions, palette), 1.0
    tree = schematic.find(data)
    return sponge.read(data, palette) if tree is None else (schematic.read(tree, palette), 1.0)
