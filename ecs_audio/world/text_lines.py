"""Lines of a text file that nobody vouches for."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Final

from ecs_audio.world.errors import WorldFormatError

_MARK: Final = b"\xef\xbb\xbf"
_MAX_LINE: Final = 2**16
_CONTINUED: Final = (b"\\\n", b"\\\r\n")


def words(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of each line that is not empty, and its words; a backslash at its end continues it.

    Raises WorldFormatError for a line that is too long.
    """
    stream = BytesIO(data)
    if data.startswith(_MARK):
        stream.seek(len(_MARK))
    number = 0
    while line := stream.readline(_MAX_LINE + 1):
        number += 1
        while line.endswith(_CONTINUED) and len(line) <= _MAX_LINE:
            line = line.rstrip(b"\r\n\\") + b" " + stream.readline(_MAX_LINE + 1)
        if len(line) > _MAX_LINE:
            raise WorldFormatError(f"its line {number} has more than {_MAX_LINE} characters")
        if found := line.split():
            yield number, found
