"""Sponge schematics (`.schem`), versions 1 to 3: a box of cells in one NBT document."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import dense, nbt
from ecs_audio.world.arguments import Cell, origin3, real
from ecs_audio.world.boxes import depths
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import Grid, make, section_count
from ecs_audio.world.limits import (
    MAX_CELL_SIZE,
    MAX_CELLS,
    MAX_FILE_SECTIONS,
    MAX_NAMES,
    MAX_ROWS,
    MIN_CELL_SIZE,
)
from ecs_audio.world.palette import NO_NAME, Palette
from ecs_audio.world.schem_out import read_back

_FLAT: nbt.Want = {
    b"Version": None,
    b"Width": None,
    b"Height": None,
    b"Length": None,
    b"Palette": nbt.EVERY,
    b"BlockData": None,
    b"Blocks": {b"Palette": nbt.EVERY, b"Data": None},
    b"Metadata": {b"ecs_audio": {b"Origin": None, b"CellSize": None}},
}
_NUMBERS_AT_ONCE = 2**14
"""Bounds what decoding takes beside the ids to half a MiB: it stays in the processor's cache."""

_MAX_VARINT = 3
"""Bytes of the largest index of a palette of 65536 names."""

_DOCUMENT: nbt.Want = {b"Schematic": _FLAT, **_FLAT}


def read(data: bytes, palette: Palette) -> tuple[Grid, float]:
    """Return the cells of an unpacked schematic, and their size [m]. Raises WorldFormatError.

    They begin at (0, 0, 0), and are cells of 1 m, unless `World.save` noted otherwise; `Offset` is for
    programs that paste.
    """
    _, tree = nbt.read(nbt.Cursor(data), _DOCUMENT)
    inner = tree.get("Schematic")
    schematic = inner if isinstance(inner, dict) else tree
    blocks = schematic.get("Blocks")
    names, packed = schematic.get("Palette"), schematic.get("BlockData")
    if isinstance(blocks, dict):
        names, packed = blocks.get("Palette"), blocks.get("Data")
    if not isinstance(names, dict) or not isinstance(packed, np.ndarray):
        raise WorldFormatError("its NBT has no palette and block data, as a Sponge schematic has")
    if packed.dtype.itemsize != 1:
        raise WorldFormatError("its block data is not an array of bytes")
    x, y, z = (_edge(schematic, key) for key in ("Width", "Height", "Length"))
    if x * y * z > MAX_CELLS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells are more than {MAX_CELLS}")
    origin, cell_size = _noted(schematic)
    if section_count(origin, (x, y, z)) > MAX_FILE_SECTIONS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells touch more than {MAX_FILE_SECTIONS} sections")
    if x * y * z > len(packed):
        raise WorldFormatError(f"its {x}x{y}x{z} cells have only {len(packed)} bytes of block data")
    table = _table(names, palette)
    grid = make(origin, (x, y, z), max_rows=MAX_ROWS)
    # A layer of sections at a time, so that never all ids lie there twice.
    layers = list(depths(origin[1], y))
    low = origin[1]
    for layer, ids in zip(
        layers, _ids(packed.view(np.uint8), [x * z * n for n in layers], table), strict=True
    ):
        dense.put(grid, (origin[0], low, origin[2]), ids.reshape(layer, z, x).transpose(2, 0, 1))
        low += layer
    return grid, cell_size


def _noted(tree: nbt.Tree) -> tuple[Cell, float]:
    """Return origin and cell size as `World.save` notes them."""
    metadata = tree.get("Metadata")
    own = metadata.get("ecs_audio") if isinstance(metadata, dict) else None
    if not isinstance(own, dict):
        return (0, 0, 0), 1.0
    origin, edge = own.get("Origin"), own.get("CellSize")
    if not isinstance(origin, np.ndarray) or not isinstance(edge, float):
        raise WorldFormatError("its metadata of ecs_audio has no Origin or no CellSize")
    try:
        return origin3("Origin", origin.tolist()), real("CellSize", edge, MIN_CELL_SIZE, MAX_CELL_SIZE)
    except ValueError as error:
        raise WorldFormatError(f"its metadata of ecs_audio is wrong: {error}") from error


def _edge(tree: nbt.Tree, key: str) -> int:
    edge = tree.get(key)
    # Kept as an unsigned number in a signed tag.
    edge = edge & 0xFFFF if isinstance(edge, int) else 0
    if not edge:
        raise WorldFormatError(f"its {key} is {tree.get(key)!r:.60}, which is no edge of a box")
    return edge


def _table(names: nbt.Tree, palette: Palette) -> NDArray[np.uint16]:
    """Return the palette ids by index, NO_NAME where an index has none, shape [MAX_NAMES + 1]."""
    table = np.full(MAX_NAMES + 1, NO_NAME, np.uint16)
    for name, index in names.items():
        if not isinstance(index, int) or not 0 <= index < MAX_NAMES:
            raise WorldFormatError(f"its palette has {name!r:.60} at the index {index!r:.60}")
        try:
            table[index] = palette.id(read_back(name))
        except ValueError as error:
            raise WorldFormatError(f"its palette has a bad name: {error}") from error
    return table


def _ids(
    data: NDArray[np.uint8], counts: list[int], table: NDArray[np.uint16]
) -> Iterator[NDArray[np.uint16]]:
    """Decode palette ids in batches of `counts`."""
    at = 0
    for count in counts:
        ids = np.empty(count, np.uint16)
        for start in range(0, count, _NUMBERS_AT_ONCE):
            wanted = min(_NUMBERS_AT_ONCE, count - start)
            end = _end(data, at, wanted)
            indices = _varints(data[at:end], at)
            part = table[indices]
            if int(part.max()) == NO_NAME:
                bad = int(indices[part.argmax()])
                raise WorldFormatError(f"its block data has the index {bad} without a name before byte {end}")
            ids[start : start + wanted] = part
            at = end
        yield ids
    if at < len(data):
        raise WorldFormatError(f"its block data has {len(data) - at} bytes too many")


def _end(data: NDArray[np.uint8], at: int, count: int) -> int:
    """Return where `count` numbers end that begin at `at`."""
    end, found = at, 0
    while found < count:
        # At least as many bytes as numbers are missing.
        start, end = end, end + count - found
        if end - at > _MAX_VARINT * count:
            raise WorldFormatError(
                f"its block data has numbers of over {_MAX_VARINT} bytes from byte {at} on"
            )
        if end > len(data):
            raise WorldFormatError(f"its block data ends early, after {len(data)} bytes")
        found += int(np.count_nonzero(data[start:end] < 128))
    return end


def _varints(data: NDArray[np.uint8], at: int) -> NDArray[Any]:
    """Decode numbers of seven bits a byte, low bits first; those beyond all palettes become MAX_NAMES."""
    last = data < 128
    if last.all():
        return data
    more = ~last
    if bool((more[2:] & more[1:-1] & more[:-2]).any()):
        raise WorldFormatError(f"its block data has a number of over {_MAX_VARINT} bytes after byte {at}")
    # Read at the last byte of each number, whose upper bits it has: those before it follow below.
    is_third = more[1:-1] & more[:-2]
    bits: NDArray[Any] = (data & 127).astype(np.uint32 if is_third.any() else np.uint16)
    numbers = bits.copy()
    numbers[1:] = np.where(more[:-1], bits[1:] << 7 | bits[:-1], bits[1:])
    if bits.itemsize > 2:
        numbers[2:] = np.where(is_third, numbers[2:] << 7 | bits[:-2], numbers[2:])
    found: NDArray[Any] = np.minimum(numbers[last], bits.dtype.type(MAX_NAMES))
    return found
