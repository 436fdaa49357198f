"""Indices of cells packed into longs, in the two ways that Minecraft's formats pack them."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.load import Load, pay
from ecs_audio.world.palette import NO_NAME


def section(
    table: NDArray[np.uint16], packed: object, straddles: bool, load: Load
) -> int | NDArray[np.uint16]:
    """Return the id of a uniform section or the ids of all its cells, shape [4096].

    `table` has the ids by index, `packed` must be the longs that hold an index for each cell. Raises
    WorldFormatError.
    """
    count = len(table)
    if not 0 < count <= 4096:
        raise WorldFormatError(f"it has a section with a palette of {count} names")
    if count == 1:
        return int(table[0])
    pay(load, 1)
    bits = max(4, (count - 1).bit_length())
    expected = 64 * bits if straddles else -(-4096 // (64 // bits))
    if not isinstance(packed, np.ndarray) or packed.dtype.itemsize != 8 or len(packed) != expected:
        raise WorldFormatError(f"it has a section without the {expected} longs of its {count} names")
    by_index = padded(table, bits)
    if bits == 4:
        cells = _by_byte(by_index, packed)
    elif straddles:
        cells = by_index[straddling(packed, bits, 0, 4096)]
    else:
        cells = by_index[_aligned(packed, bits)]
    high = int(cells.max())
    if high == NO_NAME:
        raise WorldFormatError(f"it has a section with an index beyond its {count} names")
    # Names that differ only in states have become one.
    return high if int(cells.min()) == high else cells


def padded(table: NDArray[np.uint16], bits: int) -> NDArray[np.uint16]:
    """Return a table of 2 ** bits ids, NO_NAME where the given one has none."""
    by_index = np.full(1 << bits, NO_NAME, np.uint16)
    by_index[: len(table)] = table
    return by_index


def straddling(longs: NDArray[np.int64], bits: int, start: int, count: int) -> NDArray[np.uint16]:
    """Return indices `start` to `start + count` of up to 16 bits each, packed without gaps.

    The caller has made sure that there are as many longs.
    """
    first, end = start // 64 * bits, -(-(start + count) * bits // 64)
    # Eight indices take `bits` bytes. Each is read from the four bytes it begins in, so a few are added.
    groups = -(-(start % 64 + count) // 8)
    data = np.zeros(8 * (end - first) + bits + 4, np.uint8)
    data[: 8 * (end - first)].view("<i8")[:] = longs[first:end]
    indices = np.empty((groups, 8), np.uint16)
    mask = np.uint32((1 << bits) - 1)
    for number in range(8):
        byte, shift = divmod(number * bits, 8)
        four: NDArray[np.uint32] = np.ndarray((groups,), "<u4", data, byte, (bits,))
        indices[:, number] = four >> np.uint32(shift) & mask
    return indices.reshape(-1)[start % 64 : start % 64 + count]


@cache
def _shifts(bits: int) -> NDArray[np.uint64]:
    return np.arange(64 // bits, dtype=np.uint64) * np.uint64(bits)


def _by_byte(by_index: NDArray[np.uint16], packed: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Look up two cells at once where an index has four bits, as in most sections."""
    pairs = np.empty((16, 16, 2), np.uint16)
    pairs[:, :, 0] = by_index
    pairs[:, :, 1] = by_index[:, None]
    low_first = packed.astype("<i8").view(np.uint8)
    cells: NDArray[np.uint16] = pairs.view(np.uint32).reshape(256).take(low_first).view(np.uint16)
    return cells


def _aligned(packed: NDArray[np.int64], bits: int) -> NDArray[np.uint16]:
    """Return 4096 indices of which none straddles two longs."""
    longs = packed.astype(np.int64).view(np.uint64)
    indices = (longs[:, None] >> _shifts(bits)).reshape(-1)[:4096].astype(np.uint16)
    indices &= np.uint16((1 << bits) - 1)
    return indices
