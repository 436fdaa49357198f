"""Litematica schematics (`.litematic`): boxes of cells, each at its place, in one NBT document."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import block_states, dense, nbt, packing
from ecs_audio.world.arguments import Cell
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import Grid, make, section_count
from ecs_audio.world.limits import MAX_FILE_CELLS, MAX_FILE_SECTIONS, MAX_NAMES, MAX_ROWS
from ecs_audio.world.load import Load
from ecs_audio.world.palette import NO_NAME, Palette

_EDGES: Final[nbt.Want] = {b"x": None, b"y": None, b"z": None}
_WANTED: Final[nbt.Want] = {
    b"Regions": {
        b"*": {
            b"Position": _EDGES,
            b"Size": _EDGES,
            b"BlockStatePalette": block_states.STATES,
            b"BlockStates": None,
        }
    }
}
_ROWS: Final = 2**12
_CELLS_AT_ONCE: Final = 2**16
"""Bounds what decoding takes beside the ids to a megabyte."""
_TAG: Final = b"\x0a\x00\x07Regions"


class _Region(NamedTuple):
    """One box of cells."""

    name: str
    lo: Cell
    size: Cell
    table: NDArray[np.uint16]
    """Palette ids by index, NO_NAME where an index has none."""
    longs: NDArray[np.int64]


def find(document: bytes) -> nbt.Tree | None:
    """Return the regions of a Litematica file by name, None where an NBT document is something else.

    Raises WorldFormatError where the document is damaged.
    """
    # Looked for as bytes first: stepping over all tags of a large document takes longer.
    if _TAG not in document:
        return None
    regions = nbt.read(nbt.Cursor(document), _WANTED)[1].get("Regions")
    return regions if isinstance(regions, dict) else None


def read(tree: nbt.Tree, palette: Palette) -> Grid:
    """Return the cells of all regions in one box, from the cell (0, 0, 0) on.

    Where regions overlap, the later one in the file counts. Raises WorldFormatError.
    """
    load = Load(palette)
    regions = [_region(name, region, load) for name, region in tree.items()]
    if not regions:
        raise WorldFormatError("it is a Litematica file without regions")
    cells = sum(_count(region.size) for region in regions)
    if cells > MAX_FILE_CELLS:
        raise WorldFormatError(f"its regions have {cells} cells together, more than {MAX_FILE_CELLS}")
    low = np.min([region.lo for region in regions], axis=0)
    high = np.max([np.add(region.lo, region.size) for region in regions], axis=0)
    x, y, z = (high - low).tolist()
    if x * y * z > MAX_FILE_CELLS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells are more than {MAX_FILE_CELLS}")
    sections = section_count((0, 0, 0), (x, y, z))
    if sections > MAX_FILE_SECTIONS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells touch more than {MAX_FILE_SECTIONS} sections")
    # Memory is only touched as far as it is written; an array that grows is there twice while it is copied.
    grid = make((0, 0, 0), (x, y, z), rows=min(sections, _ROWS), max_rows=MAX_ROWS)
    for region in regions:
        start_x, start_y, start_z = (np.array(region.lo) - low).tolist()
        _put(grid, (start_x, start_y, start_z), region)
    rows = max(8, grid.used)
    grid.cells.resize((rows, 4096), refcheck=False)
    grid.born.resize(rows, refcheck=False)
    return grid


def _region(name: str, tree: nbt.Value, load: Load) -> _Region:
    if not isinstance(tree, dict):
        raise WorldFormatError(f"its region {name!r:.60} is no compound")
    position, edges = _three(name, tree, "Position"), _three(name, tree, "Size")
    if 0 in edges:
        raise WorldFormatError(f"its region {name!r:.60} has the size {edges}")
    # A negative edge goes from the position, which it includes, towards lower cells.
    lo = tuple(start + min(0, edge + 1) for start, edge in zip(position, edges, strict=True))
    x, y, z = (abs(edge) for edge in edges)
    if x * y * z > MAX_FILE_CELLS:
        raise WorldFormatError(f"its region {name!r:.60} has {x}x{y}x{z} cells, more than {MAX_FILE_CELLS}")
    named, longs = tree.get("BlockStatePalette"), tree.get("BlockStates")
    if not isinstance(named, list) or not 0 < len(named) <= MAX_NAMES:
        raise WorldFormatError(f"its region {name!r:.60} has no palette of 1 to {MAX_NAMES} block states")
    bits = _bits(len(named))
    expected = -(-x * y * z * bits // 64)
    if not isinstance(longs, np.ndarray) or longs.dtype.itemsize != 8 or len(longs) != expected:
        raise WorldFormatError(
            f"its region {name!r:.60} has not the {expected} longs of {x}x{y}x{z} cells of {bits} bits"
        )
    table = packing.padded(block_states.table(named, load), bits)
    return _Region(name, (lo[0], lo[1], lo[2]), (x, y, z), table, longs)


def _three(name: str, tree: nbt.Tree, key: str) -> Cell:
    numbers = tree.get(key)
    x, y, z = (numbers.get(axis) for axis in "xyz") if isinstance(numbers, dict) else (None, None, None)
    if not isinstance(x, int) or not isinstance(y, int) or not isinstance(z, int):
        raise WorldFormatError(f"its region {name!r:.60} has no {key} of three whole numbers")
    return x, y, z


def _bits(count: int) -> int:
    return max(2, (count - 1).bit_length())


def _count(size: Cell) -> int:
    return size[0] * size[1] * size[2]


def _put(grid: Grid, lo: Cell, region: _Region) -> None:
    """Write a region, a layer of sections at a time, so that never all ids lie there twice."""
    x, y, z = region.size
    at = 0
    while at < y:
        depth = min(y - at, 16 - (lo[1] + at) % 16)
        ids = _ids(region, at * x * z, depth * x * z)
        dense.put(grid, (lo[0], lo[1] + at, lo[2]), ids.reshape(depth, z, x).transpose(2, 0, 1))
        at += depth


def _ids(region: _Region, start: int, count: int) -> NDArray[np.uint16]:
    """Return the palette ids of a run of cells."""
    bits = len(region.table).bit_length() - 1
    ids = np.empty(count, np.uint16)
    for done in range(0, count, _CELLS_AT_ONCE):
        part = ids[done : done + _CELLS_AT_ONCE]
        indices = packing.straddling(region.longs, bits, start + done, len(part))
        part[:] = region.table[indices]
        if int(part.max()) == NO_NAME:
            bad = int(indices[part.argmax()])
            raise WorldFormatError(f"its region {region.name!r:.60} has the index {bad} without a name")
    return ids
