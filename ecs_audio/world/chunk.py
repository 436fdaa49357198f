"""One chunk of a region: a column of sections."""

from __future__ import annotations

from typing import Final, NamedTuple

from ecs_audio.world import block_states, nbt, old_chunk, packing
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.load import Load
from ecs_audio.world.old_chunk import Cells

LOWEST: Final = -128
"""Heights of sections are signed bytes."""

_CHUNK: Final[nbt.Want] = {
    b"DataVersion": None,
    b"xPos": None,
    b"zPos": None,
    b"sections": {b"Y": None, b"block_states": {b"palette": block_states.STATES, b"data": None}},
    b"Level": old_chunk.LEVEL,
}

_PLACE: Final[nbt.Want] = {b"xPos": None, b"zPos": None, b"Level": {b"xPos": None, b"zPos": None}}


class Chunk(NamedTuple):
    """One decoded chunk."""

    region: tuple[int, int] | None
    """The region it says it belongs to, if it does."""
    sections: dict[int, Cells]
    """By height in sections."""


def decode(cursor: nbt.Cursor, number: int, load: Load) -> Chunk:
    """Decode the chunk of a slot of its region. Raises WorldFormatError."""
    _, tree = nbt.read(cursor, _CHUNK)
    version, level = tree.get("DataVersion"), tree.get("Level")
    if isinstance(level, dict):
        tree = level
        column = old_chunk.column(level, load)
        if column is not None:
            return Chunk(_region(tree, number), column)
    listed = tree.get("Sections" if tree is level else "sections")
    if not isinstance(listed, list):
        raise WorldFormatError("it has no list of sections")
    sections: dict[int, Cells] = {}
    for section in listed:
        height = section.get("Y")
        if not isinstance(height, int) or not LOWEST <= height < -LOWEST or height in sections:
            raise WorldFormatError(f"it has a section of the height {height!r}, outside a byte or twice")
        if tree is level:
            cells = old_chunk.section(section, version, load)
        else:
            cells = _cells(section.get("block_states"), load)
        if cells is not None:
            sections[height] = cells
    return Chunk(_region(tree, number), sections)


def region_of(cursor: nbt.Cursor, number: int) -> tuple[int, int] | None:
    """Return the region that a chunk says it belongs to, and decode nothing else. Raises WorldFormatError."""
    _, tree = nbt.read(cursor, _PLACE)
    level = tree.get("Level")
    return _region(level if isinstance(level, dict) else tree, number)


def _cells(states: nbt.Value | None, load: Load) -> Cells | None:
    named = states.get("palette") if isinstance(states, dict) else None
    # A section without names holds light only.
    if not isinstance(states, dict) or not isinstance(named, list):
        return None
    return packing.section(block_states.table(named, load), states.get("data"), False, load)


def _region(tree: nbt.Tree, number: int) -> tuple[int, int] | None:
    x, z = tree.get("xPos"), tree.get("zPos")
    if x is None and z is None:
        return None
    if not isinstance(x, int) or not isinstance(z, int) or (x & 31, z & 31) != (number % 32, number // 32):
        raise WorldFormatError(f"it says that it is the chunk ({x}, {z})")
    return x >> 5, z >> 5
