"""MCEdit schematics (`.schematic`): a box of cells with the numeric ids from before Minecraft 1.13."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import dense, nbt, numeric
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import Grid, make, section_count
from ecs_audio.world.limits import MAX_CELLS, MAX_FILE_SECTIONS, MAX_ROWS
from ecs_audio.world.load import Load
from ecs_audio.world.palette import Palette

_EDGES: Final = ("Width", "Height", "Length")
_WANTED: Final[nbt.Want] = {
    **{key.encode(): None for key in _EDGES},
    b"Materials": None,
    b"Blocks": None,
    b"Data": None,
    b"AddBlocks": None,
    # Names of ids beyond the table: by id as MCEdit writes them, by name as Schematica does.
    b"BlockIDs": nbt.EVERY,
    b"SchematicaMapping": nbt.EVERY,
}


def find(document: bytes) -> nbt.Tree | None:
    """Return what an NBT document holds of an MCEdit schematic, None where it is something else.

    Raises WorldFormatError where the document is damaged.
    """
    _, tree = nbt.read(nbt.Cursor(document), _WANTED)
    is_one = isinstance(tree.get("Blocks"), np.ndarray) or isinstance(tree.get("Materials"), str)
    return tree if is_one else None


def read(tree: nbt.Tree, palette: Palette) -> Grid:
    """Return the cells of a schematic, from the cell (0, 0, 0) on. Raises WorldFormatError."""
    materials = tree.get("Materials", "Alpha")
    if materials != "Alpha":
        raise WorldFormatError(f"its Materials are {materials!r:.60}; only the ids of 'Alpha' are read")
    x, y, z = size = _size(tree)
    count = x * y * z
    blocks, data = _bytes(tree, "Blocks", count), _bytes(tree, "Data", count)
    high = _bytes(tree, "AddBlocks", (count + 1) // 2) if "AddBlocks" in tree else None
    named = dict(_named(tree))
    load = Load(palette)
    grid = make((0, 0, 0), size, max_rows=MAX_ROWS)
    # A layer of sections at a time, so that never all ids lie there twice.
    for low in range(0, y, 16):
        start, end = low * x * z, min(low + 16, y) * x * z
        ids = numeric.ids(_keys(blocks, data, high, start, end), load, named)
        dense.put(grid, (0, low, 0), ids.reshape(-1, z, x).transpose(2, 0, 1))
    return grid


def _size(tree: nbt.Tree) -> tuple[int, int, int]:
    edges = []
    for key in _EDGES:
        edge = tree.get(key)
        # Kept as an unsigned number in a signed tag.
        edges.append(edge & 0xFFFF if isinstance(edge, int) else 0)
        if not edges[-1]:
            raise WorldFormatError(f"its {key} is {edge!r:.60}, which is no edge of a box")
    x, y, z = edges
    if x * y * z > MAX_CELLS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells are more than {MAX_CELLS}")
    if section_count((0, 0, 0), (x, y, z)) > MAX_FILE_SECTIONS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells touch more than {MAX_FILE_SECTIONS} sections")
    return x, y, z


def _bytes(tree: nbt.Tree, key: str, count: int) -> NDArray[np.uint8]:
    array = tree.get(key)
    if not isinstance(array, np.ndarray) or array.dtype.itemsize != 1:
        raise WorldFormatError(f"its {key} are not an array of bytes")
    if len(array) != count:
        raise WorldFormatError(f"its {key} have {len(array)} bytes, not the {count} of its size")
    return array.view(np.uint8)


def _keys(
    blocks: NDArray[np.uint8],
    data: NDArray[np.uint8],
    high: NDArray[np.uint8] | None,
    start: int,
    end: int,
) -> NDArray[np.uint16]:
    """Return id << 4 | data value of a run of cells: twelve bits and four."""
    keys = blocks[start:end].astype(np.uint16) << np.uint16(4)
    keys |= data[start:end] & np.uint8(15)
    if high is not None:
        # Two cells a byte, the even one in its low half.
        first = start // 2
        pairs = high[first : (end + 1) // 2]
        nibbles = numeric.nibbles(pairs)[start - 2 * first :][: end - start]
        keys |= nibbles.astype(np.uint16) << np.uint16(12)
    return keys


def _named(tree: nbt.Tree) -> Iterator[tuple[int, str]]:
    """Yield the ids that the file itself names."""
    by_name, by_id = tree.get("SchematicaMapping"), tree.get("BlockIDs")
    if isinstance(by_name, dict):
        yield from ((number & 0xFFFF, name) for name, number in by_name.items() if isinstance(number, int))
    if isinstance(by_id, dict):
        for key, name in by_id.items():
            if key.isascii() and key.isdecimal() and len(key) < 6 and isinstance(name, str):
                yield int(key), name
