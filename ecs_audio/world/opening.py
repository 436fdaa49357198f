"""What is read of a path: a regular file, and no more of it than the limit."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_FILE_BYTES

_LEAST = 2**16
"""Bytes that are read of files that do not say how long they are."""


def contents(file: Path, limit: int | None = None) -> bytes:
    """Return the bytes of a file, or its first `limit`. Raises WorldFormatError and OSError."""
    # Looked at before it is opened: opening a pipe would wait for its writer.
    status = file.stat()
    if not S_ISREG(status.st_mode):
        raise WorldFormatError("it is not a regular file")
    with file.open("rb") as stream:
        if limit is not None:
            return stream.read(limit)
        # Room is taken for as much as is asked for, whatever comes.
        data = stream.read(min(MAX_FILE_BYTES, max(status.st_size, _LEAST)) + 1)
    if len(data) > MAX_FILE_BYTES:
        raise WorldFormatError(f"it is larger than {MAX_FILE_BYTES} bytes")
    return data
