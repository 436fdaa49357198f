"""Read a world file of whatever format: its contents decide, not its name."""

from os import PathLike
from pathlib import Path
from typing import NamedTuple

from ecs_audio.world import anvil, folder, nbt, npz, schematic, sponge, vox
from ecs_audio.world.errors import OutsideError, WorldFormatError
from ecs_audio.world.grid import Grid
from ecs_audio.world.limits import MAX_DOCUMENT_BYTES
from ecs_audio.world.opening import contents
from ecs_audio.world.palette import Palette
from ecs_audio.world.window import Window, cut

_UNREAD = {b"SQLite format 3": "an SQLite database", b"glTF": "a glTF model"}


class Reading(NamedTuple):
    """What a file holds."""

    grid: Grid
    palette: Palette
    cell_size: float
    report: list[str]


def read(path: str | PathLike[str], palette: Palette, strict: bool, part: Window | None = None) -> Reading:
    """Read a file or a world folder with an empty palette, or what a window touches of it.

    Raises WorldFormatError that names the file, OutsideError where there is nothing, and OSError.
    """
    file = Path(path)
    try:
        if file.is_dir():
            grid, report = folder.read(folder.regions(file), palette, strict, part)
            found = Reading(grid, palette, 1.0, report)
        else:
            found = _read(contents(file), palette, strict, part)
        if part is not None:
            cut(found.grid, part)
    except OutsideError as error:
        raise OutsideError(f"{file} has nothing there: {error}.") from error
    except WorldFormatError as error:
        raise WorldFormatError(f"{file} cannot be read as a world: {error}.") from error
    return found


def _read(data: bytes, palette: Palette, strict: bool, part: Window | None) -> Reading:
    for start, kind in _UNREAD.items():
        if data.startswith(start):
            raise WorldFormatError(f"it is {kind}, which is not read")
    if data.startswith(b"PK"):
        return Reading(*_npz(data, palette), [])
    # A region begins with the place of its first chunk: if it began like these, that would be gigabytes away.
    if data.startswith((b"\x1f\x8b", b"\x0a\x00", b"\x78")):
        grid, cell_size = _schematic(data, palette)
        return Reading(grid, palette, cell_size, [])
    if data.startswith(b"VOX "):
        grid, report = vox.read(data, palette)
        return Reading(grid, palette, 1.0, report)
    grid, report = anvil.read(data, palette, strict, part)
    return Reading(grid, palette, 1.0, report)


def _npz(data: bytes, palette: Palette) -> tuple[Grid, Palette, float]:
    grid, cell_size = npz.read(data, palette)
    return grid, palette, cell_size


def _schematic(data: bytes, palette: Palette) -> tuple[Grid, float]:
    if data[:1] != b"\x0a":
        data = nbt.decompress(data, MAX_DOCUMENT_BYTES)
    tree = schematic.find(data)
    return sponge.read(data, palette) if tree is None else (schematic.read(tree, palette), 1.0)
