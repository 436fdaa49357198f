"""One chunk of a region: a column of sections."""

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import nbt
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.palette import NO_NAME, Palette

LOWEST: Final = -128
"""Heights of sections are signed bytes."""

_FIRST_ALIGNED: Final = 2529
"""The first DataVersion whose packed indices do not straddle two longs."""

_STATES: Final[nbt.Want] = {b"palette": {b"Name": None, b"Properties": {b"type": None}}, b"data": None}
_CHUNK: Final[nbt.Want] = {
    b"DataVersion": None,
    b"xPos": None,
    b"zPos": None,
    b"sections": {b"Y": None, b"block_states": _STATES},
    b"Level": {
        b"xPos": None,
        b"zPos": None,
        b"Sections": {b"Y": None, b"Palette": _STATES[b"palette"], b"BlockStates": None},
    },
}

_PLACE: Final[nbt.Want] = {b"xPos": None, b"zPos": None, b"Level": {b"xPos": None, b"zPos": None}}


class Chunk(NamedTuple):
    """One decoded chunk."""

    region: tuple[int, int] | None
    """The region it says it belongs to, if it does."""
    sections: dict[int, int | NDArray[np.uint16]]
    """By height in sections: an id, or the ids of all cells, shape [4096]."""


def decode(cursor: nbt.Cursor, number: int, palette: Palette, ids: dict[object, int]) -> Chunk:
    """Decode the chunk of a slot of its region; `ids` remembers palette ids between chunks.

    Raises WorldFormatError.
    """
    _, tree = nbt.read(cursor, _CHUNK)
    version, level = tree.get("DataVersion"), tree.get("Level")
    if isinstance(level, dict):
        if not isinstance(version, int) or version < _FIRST_ALIGNED:
            raise WorldFormatError(
                f"its DataVersion is {version}, older than the {_FIRST_ALIGNED} of Minecraft 1.16"
            )
        tree = level
    listed = tree.get("Sections" if tree is level else "sections")
    if not isinstance(listed, list):
        raise WorldFormatError("it has no list of sections")
    sections: dict[int, int | NDArray[np.uint16]] = {}
    for section in listed:
        states = section if tree is level else section.get("block_states")
        height = section.get("Y")
        if not isinstance(height, int) or not LOWEST <= height < -LOWEST or height in sections:
            raise WorldFormatError(f"it has a section of the height {height!r}, outside a byte or twice")
        if isinstance(states, dict):
            named = states.get("Palette" if tree is level else "palette")
            # A section without names holds light only.
            if isinstance(named, list):
                table = _table(named, palette, ids)
                packed = states.get("BlockStates" if tree is level else "data")
                sections[height] = _cells(table, packed)
    return Chunk(_region(tree, number), sections)


def region_of(cursor: nbt.Cursor, number: int) -> tuple[int, int] | None:
    """Return the region that a chunk says it belongs to, and decode nothing else. Raises WorldFormatError."""
    _, tree = nbt.read(cursor, _PLACE)
    level = tree.get("Level")
    return _region(level if isinstance(level, dict) else tree, number)


def _region(tree: nbt.Tree, number: int) -> tuple[int, int] | None:
    x, z = tree.get("xPos"), tree.get("zPos")
    if x is None and z is None:
        return None
    if not isinstance(x, int) or not isinstance(z, int) or (x & 31, z & 31) != (number % 32, number // 32):
        raise WorldFormatError(f"it says that it is the chunk ({x}, {z})")
    return x >> 5, z >> 5


def _table(named: list[nbt.Tree], palette: Palette, ids: dict[object, int]) -> NDArray[np.uint16]:
    """Return the palette ids of a section's names."""
    table = []
    for entry in named:
        properties = entry.get("Properties")
        is_double = isinstance(properties, dict) and properties.get("type") == "double"
        key = entry.get("Name"), is_double
        number = ids.get(key)
        if number is None:
            name = key[0]
            if not isinstance(name, str):
                raise WorldFormatError("its palette has an entry without a name")
            try:
                number = ids[key] = palette.id(f"{name}[type=double]" if is_double else name)
            except ValueError as error:
                raise WorldFormatError(f"its palette has a bad name: {error}") from error
        table.append(number)
    if not 0 < len(table) <= 4096:
        raise WorldFormatError(f"it has a section with a palette of {len(table)} names")
    return np.array(table, np.uint16)


@cache
def _shifts(bits: int) -> NDArray[np.uint64]:
    return np.arange(64 // bits, dtype=np.uint64) * np.uint64(bits)


def _cells(table: NDArray[np.uint16], packed: "nbt.Value | None") -> int | NDArray[np.uint16]:
    """Return the id of a uniform section or the ids of all cells, shape [4096]: the file's order is ours."""
    count = len(table)
    if count == 1:
        return int(table[0])
    bits = max(4, (count - 1).bit_length())
    expected = -(-4096 // (64 // bits))
    if not isinstance(packed, np.ndarray) or packed.dtype.itemsize != 8 or len(packed) != expected:
        raise WorldFormatError(f"it has a section without the {expected} longs of its {count} names")
    by_index = np.full(1 << bits, NO_NAME, np.uint16)
    by_index[:count] = table
    cells = _by_byte(by_index, packed) if bits == 4 else _by_shift(by_index, packed, bits)
    high = int(cells.max())
    if high == NO_NAME:
        raise WorldFormatError(f"it has a section with an index beyond its {count} names")
    # Names that differ only in states have become one.
    return high if int(cells.min()) == high else cells


def _by_byte(by_index: NDArray[np.uint16], packed: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Look up two cells at once where an index has four bits, as in most sections."""
    pairs = np.empty((16, 16, 2), np.uint16)
    pairs[:, :, 0] = by_index
    pairs[:, :, 1] = by_index[:, None]
    low_first = packed.astype("<i8").view(np.uint8)
    cells: NDArray[np.uint16] = pairs.view(np.uint32).reshape(256).take(low_first).view(np.uint16)
    return cells


def _by_shift(by_index: NDArray[np.uint16], packed: NDArray[np.int64], bits: int) -> NDArray[np.uint16]:
    longs = packed.astype(np.int64).view(np.uint64)
    indices = (longs[:, None] >> _shifts(bits)).reshape(-1)[:4096].astype(np.uint16)
    cells: NDArray[np.uint16] = by_index[indices & np.uint16((1 << bits) - 1)]
    return cells
