"""Lines of a text file that nobody vouches for."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Final

from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_TEXT_STEPS

_MARK: Final = b"\xef\xbb\xbf"
_MAX_LINE: Final = 2**16
_LINE_STEPS: Final = 2
"""What a line takes beside its words."""
_CONTINUED: Final = (b"\\\n", b"\\\r\n")


def words(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of each line that is not empty, and its words; a backslash at its end continues it.

    Raises WorldFormatError for a line that is too long, and for more lines and words than can be read.
    """
    stream = BytesIO(data)
    if data.startswith(_MARK):
        stream.seek(len(_MARK))
    number = steps = 0
    while line := stream.readline(_MAX_LINE + 1):
        number += 1
        if line.endswith(_CONTINUED):
            line = _joined(line, stream, number)
        if len(line) > _MAX_LINE:
            raise _too_long(number)
        found = line.split()
        steps += _LINE_STEPS + len(found)
        if steps > MAX_TEXT_STEPS:
            raise WorldFormatError(f"it has more lines and words than can be read, at line {number}")
        if found:
            yield number, found


def _joined(line: bytes, stream: BytesIO, number: int) -> bytes:
    parts = []
    length = 0
    while line.endswith(_CONTINUED) and length <= _MAX_LINE:
        parts.append(line.rstrip(b"\r\n\\"))
        length += len(line)
        line = stream.readline(_MAX_LINE + 1)
    if length > _MAX_LINE:
        raise _too_long(number)
    return b" ".join([*parts, line])


def _too_long(number: int) -> WorldFormatError:
    return WorldFormatError(f"its line {number} has more than {_MAX_LINE} characters")
