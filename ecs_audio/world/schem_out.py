"""Write Sponge schematics, version 2: what all editors that know the format read, and 3 only the newest.

Beside the fields of the format, `Metadata` holds a compound `ecs_audio` for `World.load`: `Origin`, the
lowest cell, and `CellSize` [m]. `Offset` is that cell, too, as editors have it, where it fits 32 bits.
"""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Iterator
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import dense
from ecs_audio.world.boxes import depths
from ecs_audio.world.grid import Grid
from ecs_audio.world.limits import MAX_DOCUMENT_BYTES
from ecs_audio.world.palette import Palette

NAMESPACE: Final = "ecs_audio:"
"""Of names that are no names of blocks; what follows has its other characters as `.` and two hex digits."""

_MAX_EDGE: Final = 2**16 - 1
_DATA_VERSION: Final = 1631
"""Minecraft 1.13.2, the oldest with these names: programs rename what a later version calls otherwise, and
let newer names be."""
_PATH: Final = re.compile(r"[a-z0-9_./-]+")
_NAME: Final = re.compile(r"[a-z0-9_.-]+:[a-z0-9_./-]+")
_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_/-")
_CELLS_AT_ONCE: Final = 2**23
"""Bounds what encoding takes beside the world to some 60 MB."""
_BYTE_ARRAY, _LIST, _COMPOUND = 7, 9, 10


def spelled(name: str) -> str:
    """Return a palette's name as schematics have it: with a namespace, and with few kinds of characters."""
    base = name.removesuffix("[type=double]")
    if _PATH.fullmatch(base):
        return f"minecraft:{name}"
    if _NAME.fullmatch(base) and not base.startswith(("minecraft:", NAMESPACE)):
        return name
    return NAMESPACE + "".join(chr(b) if b in _PLAIN else f".{b:02x}" for b in name.encode())


def read_back(name: str) -> str:
    """Return the name that `spelled` was given; other names as they are."""
    if not name.startswith(NAMESPACE):
        return name
    encoded = re.sub(rb"\.([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), name[len(NAMESPACE) :].encode())
    return encoded.decode("utf-8", "replace")


def write(stream: IO[bytes], grid: Grid, palette: Palette, cell_size: float) -> None:
    """Write a grid, layer by layer. Raises ValueError for one that is too large to be read again."""
    dx, dy, dz = (b - a for a, b in zip(grid.lo, grid.hi, strict=True))
    if max(dx, dy, dz) > _MAX_EDGE:
        raise ValueError(
            f"A .schem has edges of at most {_MAX_EDGE} cells, and the world {dx} x {dy} x {dz}."
        )
    length = _data_bytes(grid, palette)
    names = b"".join(_named(3, spelled(name), struct.pack(">i", i)) for i, name in enumerate(palette.names))
    origin = np.array(grid.lo, ">i8")
    own = _named(12, "Origin", _array(origin)) + _named(6, "CellSize", struct.pack(">d", cell_size))
    notes = _named(_COMPOUND, "ecs_audio", own + b"\0")
    # Some readers need these even where they say nothing: pasted at the lowest cell, and no entities.
    notes += b"".join(_named(3, f"WEOffset{axis}", bytes(4)) for axis in "XYZ")
    nothing = bytes([_COMPOUND]) + bytes(4)
    head = b"".join(
        (
            _named(3, "Version", struct.pack(">i", 2)),
            _named(3, "DataVersion", struct.pack(">i", _DATA_VERSION)),
            _named(_COMPOUND, "Metadata", notes + b"\0"),
            _named(_LIST, "BlockEntities", nothing),
            _named(_LIST, "Entities", nothing),
            *(
                _named(2, key, struct.pack(">H", edge))
                for key, edge in (("Width", dx), ("Height", dy), ("Length", dz))
            ),
            _named(11, "Offset", _array(np.clip(origin, -(2**31), 2**31 - 1).astype(">i4"))),
            _named(3, "PaletteMax", struct.pack(">i", len(palette))),
            _named(_COMPOUND, "Palette", names + b"\0"),
            _named(_BYTE_ARRAY, "BlockData", struct.pack(">i", length)),
        )
    )
    if len(head) + length > MAX_DOCUMENT_BYTES - 64:
        raise ValueError(
            f"The world has {length} bytes of block data and {len(head)} of names, of at most"
            f" {MAX_DOCUMENT_BYTES} a .schem."
        )
    # Without a name and a time, equal worlds make equal files.
    with gzip.GzipFile("", "wb", 6, stream, mtime=0) as packed:
        packed.write(b"\x0a\0\x09Schematic" + head)
        for ids in _layers(grid):
            packed.write(_varints(ids))
        packed.write(b"\0")


def _named(tag: int, name: str, payload: bytes) -> bytes:
    return struct.pack(">BH", tag, len(name.encode())) + name.encode() + payload


def _array(values: NDArray[np.int64] | NDArray[np.int32]) -> bytes:
    return struct.pack(">i", len(values)) + values.tobytes()


def _layers(grid: Grid) -> Iterator[NDArray[np.uint16]]:
    """Yield ids in the order of the format, x fastest, then z, then y."""
    x, y, z = grid.lo
    dx, dy, dz = (b - a for a, b in zip(grid.lo, grid.hi, strict=True))
    if dx * dz * 16 <= _CELLS_AT_ONCE:
        for depth in depths(y, dy):
            yield dense.ids(grid, (x, y, z), (dx, depth, dz)).transpose(1, 2, 0)
            y += depth
        return
    rows = max(1, _CELLS_AT_ONCE // dx)
    for layer in range(y, y + dy):
        for start in range(z, z + dz, rows):
            depth = min(rows, z + dz - start)
            yield dense.ids(grid, (x, layer, start), (dx, 1, depth)).transpose(1, 2, 0)


def _data_bytes(grid: Grid, palette: Palette) -> int:
    """Return how long the block data will be, which stands before it."""
    dx, dy, dz = (b - a for a, b in zip(grid.lo, grid.hi, strict=True))
    longer = [limit for limit in (1 << 7, 1 << 14) if len(palette) > limit]
    more = (
        sum(int(np.count_nonzero(ids >= limit)) for ids in _layers(grid) for limit in longer) if longer else 0
    )
    return dx * dy * dz + more


def _varints(ids: NDArray[np.uint16]) -> bytes:
    """Encode numbers of seven bits a byte, low bits first."""
    values = ids.reshape(-1)
    if int(values.max()) < 128:
        return values.astype(np.uint8).tobytes()
    parts = np.stack([values & 127, values >> 7 & 127, values >> 14], axis=1).astype(np.uint8)
    count = 1 + (values >= 1 << 7).astype(np.int8) + (values >= 1 << 14)
    parts[count > 1, 0] |= 128
    parts[count > 2, 1] |= 128
    return parts[np.arange(3) < count[:, None]].tobytes()
