"""Read a world file of whatever format: its contents decide, not its name."""

from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from ecs_audio.world import anvil, nbt, npz, schematic, sponge, vox
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import Grid
from ecs_audio.world.limits import MAX_DOCUMENT_BYTES, MAX_FILE_BYTES
from ecs_audio.world.palette import Palette

_UNREAD = {b"SQLite format 3": "an SQLite database", b"glTF": "a glTF model"}


class Reading(NamedTuple):
    """What a file holds."""

    grid: Grid
    palette: Palette
    cell_size: float
    report: list[str]


def read(path: str | PathLike[str], palette: Palette, strict: bool) -> Reading:
    """Read a file with an empty palette. Raises WorldFormatError that names the file, and OSError."""
    file = Path(path)
    data = _bytes(file)
    try:
        return _read(data, palette, strict)
    except WorldFormatError as error:
        raise WorldFormatError(f"{file} cannot be read as a world: {error}.") from error


def _bytes(file: Path) -> bytes:
    # Looked at before it is opened: opening a pipe would wait for its writer.
    status = file.stat()
    if S_ISDIR(status.st_mode):
        raise WorldFormatError(f"{file} is a folder; give one of the files in it.")
    if not S_ISREG(status.st_mode):
        raise WorldFormatError(f"{file} is not a regular file.")
    with file.open("rb") as stream:
        data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise WorldFormatError(f"{file} is larger than {MAX_FILE_BYTES} bytes.")
    return data


def _read(data: bytes, palette: Palette, strict: bool) -> Reading:
    for start, kind in _UNREAD.items():
        if data.startswith(start):
            raise WorldFormatError(f"it is {kind}, which is not read")
    if data.startswith(b"PK"):
        return Reading(*_npz(data, palette), [])
    # A region begins with the place of its first chunk: if it began like these, that would be gigabytes away.
    if data.startswith((b"\x1f\x8b", b"\x0a\x00", b"\x78")):
        return Reading(_schematic(data, palette), palette, 1.0, [])
    if data.startswith(b"VOX "):
        grid, report = vox.read(data, palette)
        return Reading(grid, palette, 1.0, report)
    grid, report = anvil.read(data, palette, strict)
    return Reading(grid, palette, 1.0, report)


def _npz(data: bytes, palette: Palette) -> tuple[Grid, Palette, float]:
    grid, cell_size = npz.read(data, palette)
    return grid, palette, cell_size


def _schematic(data: bytes, palette: Palette) -> Grid:
    if data[:1] != b"\x0a":
        data = nbt.decompress(data, MAX_DOCUMENT_BYTES)
    tree = schematic.find(data)
    return sponge.read(data, palette) if tree is None else schematic.read(tree, palette)
