"""The sections of a chunk from before Minecraft 1.18: under `Level`, in one of four layouts.

- from 1.16 on, and from 1.13 to 1.15: a palette each, and packed indices that do not, or do straddle longs
- Anvil before 1.13: numeric ids of 8 or 12 bits and data values of 4, by section
- McRegion, before 1.2: the same for a column of 128 cells, y fastest
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import block_states, nbt, numeric, packing
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.load import Load, pay

_FIRST_ALIGNED: Final = 2529
"""The first DataVersion whose packed indices do not straddle two longs."""
_COLUMN: Final = 128

LEVEL: Final[nbt.Want] = {
    b"xPos": None,
    b"zPos": None,
    b"Blocks": None,
    b"Data": None,
    b"Sections": {
        b"Y": None,
        b"Palette": block_states.STATES,
        b"BlockStates": None,
        b"Blocks": None,
        b"Data": None,
        b"Add": None,
    },
}

Cells: TypeAlias = "int | NDArray[np.uint16]"
"""The id of a uniform section, or the ids of all its cells, shape [4096]."""


def column(level: nbt.Tree, load: Load) -> dict[int, Cells] | None:
    """Return the sections of a McRegion chunk by height, None where it is none. Raises WorldFormatError."""
    if "Blocks" not in level:
        return None
    count = 256 * _COLUMN
    pay(load, _COLUMN // 16)
    keys = _keys(level, count)
    # From x, z, y, y fastest, to sections of y, z, x.
    ids = numeric.ids(keys, load, {}).reshape(16, 16, _COLUMN).transpose(2, 1, 0)
    return {
        height: _joined(ids[16 * height : 16 * height + 16].reshape(-1)) for height in range(_COLUMN // 16)
    }


def section(tree: nbt.Tree, version: object, load: Load) -> Cells | None:
    """Return the cells of an entry of `Sections`, None where it holds light only. Raises WorldFormatError."""
    named = tree.get("Palette")
    if isinstance(named, list):
        straddles = not isinstance(version, int) or version < _FIRST_ALIGNED
        return packing.section(block_states.table(named, load), tree.get("BlockStates"), straddles, load)
    if "Blocks" not in tree:
        return None
    pay(load, 1)
    return _joined(numeric.ids(_keys(tree, 4096), load, {}))


def _keys(tree: nbt.Tree, count: int) -> NDArray[np.uint16]:
    """Return id << 4 | data value of all cells: twelve bits and four."""
    keys = _bytes(tree, "Blocks", count).astype(np.uint16) << np.uint16(4)
    keys |= numeric.nibbles(_bytes(tree, "Data", count // 2))
    if "Add" in tree:
        keys |= numeric.nibbles(_bytes(tree, "Add", count // 2)).astype(np.uint16) << np.uint16(12)
    return keys


def _bytes(tree: nbt.Tree, key: str, count: int) -> NDArray[np.uint8]:
    array = tree.get(key)
    if not isinstance(array, np.ndarray) or array.dtype.itemsize != 1 or len(array) != count:
        raise WorldFormatError(f"its {key} are not an array of {count} bytes")
    return array.view(np.uint8)


def _joined(cells: NDArray[np.uint16]) -> Cells:
    first = int(cells[0])
    return first if bool((cells == first).all()) else cells
