"""STL meshes: triangles without names, as text or as bytes."""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import text_lines
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_TRIANGLES
from ecs_audio.world.triangles import Surface

_HEAD: Final = 84
_TRIANGLE: Final = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
_LOOKED_AT: Final = 1024


def is_one(data: bytes) -> bool:
    """Return whether a file is an STL mesh: text that begins like one, or as many bytes as it says."""
    if _is_text(data):
        return True
    return len(data) > _HEAD and len(data) == _HEAD + _TRIANGLE.itemsize * _count(data)


def read(data: bytes) -> Surface:
    """Return the triangles of a file, with z up as it has them turned to y up. Raises WorldFormatError."""
    corners, name = (_text(data), _name(data)) if _is_text(data) else (_binary(data), "")
    # y away becomes north, which is -z.
    x, y, z = corners.T
    places = np.stack((x, z, -y), axis=1)
    count = len(places) // 3
    return Surface(places, np.arange(3 * count).reshape(count, 3), np.zeros(count, np.int64), [name])


def _is_text(data: bytes) -> bool:
    start = data[:_LOOKED_AT].lstrip()
    return start.startswith(b"solid") and (b"facet" in start or b"endsolid" in start) and b"\0" not in start


def _count(data: bytes) -> int:
    return int.from_bytes(data[_HEAD - 4 : _HEAD], "little")


def _binary(data: bytes) -> NDArray[np.float64]:
    _check(_count(data))
    triangles = np.frombuffer(data, _TRIANGLE, offset=_HEAD)
    # What is no number is found by the caller, whatever kind of NaN it is.
    with np.errstate(invalid="ignore"):
        return triangles["corners"].reshape(-1, 3).astype(np.float64)


def _name(data: bytes) -> str:
    return data[:_LOOKED_AT].lstrip()[5:].split(b"\n")[0].strip().decode("utf-8", "replace")


def _text(data: bytes) -> NDArray[np.float64]:
    places = array("d")
    last = b""
    for number, words in text_lines.words(data):
        last = words[0].lower()
        if last == b"vertex":
            try:
                x, y, z = map(float, words[1:4])
            except ValueError as error:
                raise WorldFormatError(f"its line {number} has a vertex that is not three numbers") from error
            places.extend((x, y, z))
            _check(len(places) // 9)
    if last != b"endsolid" or len(places) % 9:
        raise WorldFormatError(f"its text ends early, after {len(places) // 3} vertices")
    return np.array(places).reshape(-1, 3)


def _check(count: int) -> None:
    if count > MAX_TRIANGLES:
        raise WorldFormatError(f"it has {count} triangles, more than {MAX_TRIANGLES}")
