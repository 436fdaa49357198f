"""Chunks too large for a region, which lie beside it in files of their own (`.mcc`)."""

from __future__ import annotations

import re
from pathlib import Path
from stat import S_ISREG
from typing import Final

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_CHUNK_BYTES

_REGION: Final = re.compile(r"r\.(-?[0-9]{1,8})\.(-?[0-9]{1,8})\.mca")


def read(region: Path | None, number: int) -> bytes:
    """Return the packed bytes of the chunk of a slot of a region file. Raises WorldFormatError."""
    named = _REGION.fullmatch(region.name) if region else None
    if region is None or named is None:
        raise WorldFormatError(
            "it is kept in a file of its own (.mcc), which can be found only beside a region called r.X.Z.mca"
        )
    x, z = 32 * int(named[1]) + number % 32, 32 * int(named[2]) + number // 32
    file = region.with_name(f"c.{x}.{z}.mcc")
    try:
        # Looked at before it is opened: opening a pipe would wait for its writer.
        status = file.stat()
        if not S_ISREG(status.st_mode):
            raise WorldFormatError(f"its file {file.name} is not a regular file")
        if status.st_size > MAX_CHUNK_BYTES:
            raise _too_large(file)
        with file.open("rb") as stream:
            data = stream.read(MAX_CHUNK_BYTES + 1)
    except OSError as error:
        raise WorldFormatError(f"its file {file.name} cannot be read ({error.strerror})") from error
    if len(data) > MAX_CHUNK_BYTES:
        raise _too_large(file)
    return data


def _too_large(file: Path) -> WorldFormatError:
    return WorldFormatError(f"its file {file.name} has more than {MAX_CHUNK_BYTES} bytes")
