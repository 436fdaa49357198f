"""What the chunks of a region are compressed with; nothing unpacks to more than it may."""

from __future__ import annotations

import struct
from typing import Any, Final

from ecs_audio.world import nbt
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_CHUNK_BYTES
from ecs_audio.world.load import Load

_GZIP, _ZLIB, _NONE, _LZ4 = 1, 2, 3, 4

_HEAD: Final = struct.Struct("<8sBIII")
"""Of a block: its magic, how it is kept, its size in the file and unpacked, and a checksum."""
_MAGIC: Final = b"LZ4Block"
_KEPT_AS_IT_IS, _PACKED = 0x10, 0x20
_MAX_BLOCK: Final = 2**25
"""The largest block that the format knows."""


def unpack(packed: bytes, compression: int, load: Load) -> bytes:
    """Return the contents of a chunk, at most MAX_CHUNK_BYTES, paid for by its load also where they are bad.

    Raises WorldFormatError.
    """
    load.bytes_left -= len(packed)
    if compression in (_GZIP, _ZLIB):
        return nbt.decompress(packed, MAX_CHUNK_BYTES, load)
    if compression == _LZ4:
        return _lz4(packed, load)
    if compression != _NONE:
        raise WorldFormatError(
            f"its compression {compression} is none of 1 (gzip), 2 (zlib), 3 (none) and 4 (LZ4)"
        )
    if len(packed) > MAX_CHUNK_BYTES:
        raise WorldFormatError(f"it has more than {MAX_CHUNK_BYTES} bytes")
    return packed


def _lz4(data: bytes, load: Load) -> bytes:
    """Unpack blocks of LZ4, each behind a head of its own, up to an empty one.

    Checksums are not looked at: the NBT within is checked anyhow.
    """
    block = _library()
    parts: list[bytes] = []
    at = total = 0
    while True:
        if at + _HEAD.size > len(data):
            raise WorldFormatError(f"its LZ4 data ends early, after {len(data)} bytes")
        magic, kept, size, unpacked, _ = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if magic != _MAGIC or kept & 0xF0 not in (_KEPT_AS_IT_IS, _PACKED):
            raise WorldFormatError(f"its LZ4 data has no block before byte {at}")
        total += unpacked
        if total > MAX_CHUNK_BYTES:
            raise WorldFormatError(f"its LZ4 data unpacks to more than {MAX_CHUNK_BYTES} bytes")
        if unpacked > _MAX_BLOCK or size > len(data) - at:
            raise WorldFormatError(f"its LZ4 data has a block before byte {at} that does not fit the chunk")
        load.bytes_left -= unpacked
        if not unpacked:
            return b"".join(parts)
        part = data[at : at + size]
        if kept & 0xF0 == _PACKED:
            try:
                part = block.decompress(part, uncompressed_size=unpacked)
            except Exception as error:  # of a type that the library does not export everywhere
                raise WorldFormatError(
                    f"its LZ4 data is damaged before byte {at + size} ({error})"
                ) from error
        if len(part) != unpacked:
            raise WorldFormatError(f"its LZ4 data has a block of {len(part)} bytes instead of {unpacked}")
        parts.append(part)
        at += size


def _library() -> Any:
    try:
        import lz4.block
    except ImportError as error:
        raise WorldFormatError(
            "it is packed with LZ4, which needs the package lz4: pip install 'ecs-audio[lz4]'"
        ) from error
    return lz4.block
