"""Wavefront meshes (`.obj`): text with a line for each corner and each face."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Final

import numpy as np

from ecs_audio.world import text_lines
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_TRIANGLES
from ecs_audio.world.triangles import Surface

_WORDS: Final = frozenset(
    (b"v", b"vn", b"vt", b"vp", b"f", b"l", b"p", b"o", b"g", b"s", b"usemtl", b"mtllib", b"mg")
)
_LOOKED_AT: Final = 2**16
_MAX_CORNERS: Final = 3 * MAX_TRIANGLES
_MAX_NAME: Final = 1024
"""Bytes of a name: no block is called by more of them."""


def is_one(data: bytes) -> bool:
    """Return whether a file is text whose first line that is no comment begins with a word of the format."""
    start = data[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    if b"\0" in start:
        return False
    for line in start.splitlines():
        words = line.split(None, 1)
        if words and not words[0].startswith(b"#"):
            return words[0] in _WORDS and len(words) == 2
    return False


def read(data: bytes) -> Surface:
    """Return the triangles of a file, y up; they are called as their material, or else as their object.

    Faces of more corners are cut into triangles around the first. Raises WorldFormatError.
    """
    places, faces, materials = array("d"), array("q"), array("q")
    names: dict[str, int] = {}
    material = shape = ""
    for number, words in text_lines.words(data):
        try:
            if words[0] == b"v":
                x, y, z = map(float, words[1:4])
                places.extend((x, y, z))
            elif words[0] == b"f":
                called = names.setdefault(material or shape, len(names))
                count = len(places) // 3
                corners = [_corner(word, count) for word in words[1:]]
                for second, third in pairwise(corners[1:]):
                    faces.extend((corners[0], second, third))
                    materials.append(called)
            elif words[0] == b"usemtl":
                material = _name(words[1:])
            elif words[0] in (b"o", b"g"):
                shape = _name(words[1:])
        except (ValueError, OverflowError) as error:
            raise WorldFormatError(f"its line {number} makes no sense: {b' '.join(words)[:60]!r}") from error
        if len(materials) > MAX_TRIANGLES or len(places) > 3 * _MAX_CORNERS:
            raise WorldFormatError(
                f"it has more than {MAX_TRIANGLES} triangles or {_MAX_CORNERS} corners, at line {number}"
            )
    found = np.array(faces, np.int64).reshape(-1, 3)
    if len(found) and int(found.max()) >= len(places) // 3:
        raise WorldFormatError(f"it has a face of the corner {int(found.max()) + 1} of {len(places) // 3}")
    return Surface(np.array(places).reshape(-1, 3), found, np.array(materials, np.int64), list(names))


def _name(words: list[bytes]) -> str:
    return b" ".join(words)[:_MAX_NAME].decode("utf-8", "replace")


def _corner(word: bytes, count: int) -> int:
    """Return the index of a corner of a face: counted from 1, or backwards from the last one so far."""
    index = int(word.partition(b"/")[0])
    if not -count <= index < 2**40 or not index:
        raise ValueError(index)
    return index - 1 if index > 0 else count + index
