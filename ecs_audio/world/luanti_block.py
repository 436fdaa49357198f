"""One map block of a Luanti world: 16x16x16 nodes, in the formats 25 to 29."""

from __future__ import annotations

import struct
import zlib
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import TooLargeError, WorldFormatError
from ecs_audio.world.limits import MAX_BLOCK_BYTES
from ecs_audio.world.load import ADVICE

_OLDEST, _FIRST_WITH_LIGHTING, _ZSTD = 25, 27, 29
_NODES: Final = 4096
_NODE_BYTES: Final = 4
"""An id of two bytes and two parameters."""
_MAX_OBJECTS: Final = 2**12
_MAX_WINDOW: Final = 23
"""Base 2 logarithm of the most memory that unpacking may need: what all decoders of zstd should allow."""


class Block(NamedTuple):
    """Nodes and what they are called."""

    nodes: NDArray[np.uint16]
    """Ids by z, y and x, shape [4096]."""
    names: list[tuple[int, str]]


class Budget:
    """What the blocks of a map together may still cost: packed, most of them could cost nothing."""

    def __init__(self, blocks: int = 1) -> None:
        self.names_left = 2**19 + 32 * blocks
        self.bytes_left = 2**26 + 2**15 * blocks

    def check(self) -> None:
        """Raise TooLargeError where nothing is left."""
        if self.names_left < 0 or self.bytes_left < 0:
            what = "names and objects" if self.names_left < 0 else "bytes"
            raise TooLargeError(f"its map blocks have more {what} than can be read; {ADVICE}")


class _Fields:
    """Numbers and texts one after the other, high bytes first."""

    def __init__(self, data: bytes, at: int, budget: Budget) -> None:
        self.data = data
        self.at = at
        self.budget = budget

    def take(self, form: str) -> tuple[int, ...]:
        """Return the next numbers. Raises WorldFormatError where the data has ended."""
        self.at += struct.calcsize(form)
        if self.at > len(self.data):
            raise WorldFormatError(f"it ends early, after {len(self.data)} bytes")
        return struct.unpack_from(form, self.data, self.at - struct.calcsize(form))

    def skip(self, count: int) -> bytes:
        """Return the next bytes. Raises WorldFormatError where the data has ended."""
        self.at += count
        if self.at > len(self.data):
            raise WorldFormatError(f"it ends early, after {len(self.data)} bytes")
        return self.data[self.at - count : self.at]


def decode(data: bytes, budget: Budget | None = None) -> Block:
    """Decode a map block as the database has it, and pay for it. Raises WorldFormatError."""
    budget = budget or Budget()
    budget.check()
    budget.bytes_left -= len(data)
    if not data:
        raise WorldFormatError("it is empty")
    version = data[0]
    if version == _ZSTD:
        # What comes after the nodes is left: it is of no interest.
        fields = _Fields(_unpacked(data[1:], budget), 0, budget)
        fields.take(">BHI")
        names = _names(fields)
        _check_widths(fields)
        return Block(_nodes(fields.skip(_NODES * _NODE_BYTES)), names)
    if not _OLDEST <= version < _ZSTD:
        raise WorldFormatError(f"its format is {version}, of which only {_OLDEST} to {_ZSTD} are read")
    fields = _Fields(data, 1, budget)
    fields.take(">BH" if version >= _FIRST_WITH_LIGHTING else ">B")
    _check_widths(fields)
    contents = _inflated(fields)
    if len(contents) != _NODES * _NODE_BYTES:
        raise WorldFormatError(f"its nodes have {len(contents)} bytes, not {_NODES * _NODE_BYTES}")
    nodes = _nodes(contents)
    # Metadata and objects lie before the names.
    _inflated(fields)
    _, objects = fields.take(">BH")
    if objects > _MAX_OBJECTS:
        raise WorldFormatError(f"it has {objects} objects, more than {_MAX_OBJECTS}")
    budget.names_left -= objects
    for _ in range(objects):
        fields.skip(fields.take(">B12sH")[-1])
    fields.take(">I")
    return Block(nodes, _names(fields))


def _check_widths(fields: _Fields) -> None:
    content, parameters = fields.take(">BB")
    if (content, parameters) != (2, 2):
        raise WorldFormatError(f"its ids and parameters have {content} and {parameters} bytes, not 2 and 2")


def _names(fields: _Fields) -> list[tuple[int, str]]:
    version, count = fields.take(">BH")
    if version:
        raise WorldFormatError(f"its names are in the format {version}, of which only 0 is read")
    if count > _NODES:
        raise WorldFormatError(f"it has {count} names, more than its {_NODES} nodes")
    fields.budget.names_left -= count
    names = []
    for _ in range(count):
        number, length = fields.take(">HH")
        names.append((number, fields.skip(length).decode("utf-8", "replace")))
    return names


def _nodes(data: bytes) -> NDArray[np.uint16]:
    return np.frombuffer(data, ">u2", _NODES).astype(np.uint16)


def _inflated(fields: _Fields) -> bytes:
    """Unpack the next zlib stream."""
    stream = zlib.decompressobj()
    # What fails late is paid for as well.
    fields.budget.bytes_left -= (cost := min(MAX_BLOCK_BYTES, 1032 * (len(fields.data) - fields.at)))
    try:
        contents = stream.decompress(fields.data[fields.at :], MAX_BLOCK_BYTES + 1)
    except zlib.error as error:
        raise WorldFormatError(f"its zlib data is damaged ({error})") from error
    if len(contents) > MAX_BLOCK_BYTES:
        raise WorldFormatError(f"its zlib data unpacks to more than {MAX_BLOCK_BYTES} bytes")
    if not stream.eof:
        raise WorldFormatError("its zlib data ends early")
    fields.budget.bytes_left += cost - len(contents)
    fields.at = len(fields.data) - len(stream.unused_data)
    return contents


def _unpacked(data: bytes, budget: Budget) -> bytes:
    """Return the beginning of what zstd data unpacks to, at most MAX_BLOCK_BYTES."""
    zstd = _library()
    budget.bytes_left -= MAX_BLOCK_BYTES
    options = {zstd.DecompressionParameter.window_log_max: _MAX_WINDOW}
    try:
        contents: bytes = zstd.ZstdDecompressor(options=options).decompress(data, MAX_BLOCK_BYTES)
    except zstd.ZstdError as error:
        raise WorldFormatError(f"its zstd data is damaged ({error})") from error
    budget.bytes_left += MAX_BLOCK_BYTES - len(contents)
    return contents


@cache
def _library() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingZstdError(
        "its blocks are packed with zstd, which before Python 3.14 needs a package:"
        " pip install 'ecs-audio[luanti]'"
    )


class MissingZstdError(WorldFormatError):
    """No block of the format 29 can be read on this machine."""
