"""MagicaVoxel models (`.vox`), versions 150 and 200: voxels of up to 255 colours, placed by a scene."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import points, vox_scene
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import Grid, make, section_count
from ecs_audio.world.limits import MAX_CELLS, MAX_FILE_SECTIONS, MAX_ROWS, MAX_TAGS
from ecs_audio.world.palette import Palette
from ecs_audio.world.vox_colours import default_colours, names_of

_MAX_EDGE: Final = 256
"""Coordinates of voxels are bytes."""
_MAX_VOXELS: Final = 3 * 2**24
"""Of all placed models together: a small file may place one model many times."""
_VOXELS_AT_ONCE: Final = 2**18


class Model(NamedTuple):
    """Voxels of one box, z up."""

    size: tuple[int, int, int]
    voxels: NDArray[np.uint8]
    """x, y, z and the index of a colour, shape [count, 4]."""


def read(data: bytes, palette: Palette) -> tuple[Grid, list[str]]:
    """Return the cells of all models that are shown, and a report of what was left out.

    Their common box begins at the cell (0, 0, 0); z up becomes y up, and y away becomes north. Colours become
    blocks by `vox_colours.toml`. Raises WorldFormatError.
    """
    models: list[Model] = []
    size: tuple[int, int, int] | None = None
    colours = default_colours()
    types: dict[int, str] = {}
    fields = vox_scene.Fields(data)
    scene = vox_scene.Scene({}, set())
    for kind, start, end in _chunks(data):
        fields.move(start, end)
        if kind == b"SIZE":
            size = _size(fields, start)
        elif kind == b"XYZI":
            models.append(_model(data, fields, size, start, end))
            size = None
        elif kind == b"RGBA":
            if end - start < 1020:
                raise WorldFormatError(f"its palette at byte {start} has {end - start} bytes instead of 1024")
            # The first colour has the index 1.
            colours[1:] = np.frombuffer(data, np.uint8, 1020, start).reshape(255, 4)[:, :3]
        elif kind == b"MATL":
            number, attributes = fields.int32(), fields.texts()
            types[number & 0xFF] = attributes.get(b"_type", b"").decode("utf-8", "replace")
        else:
            vox_scene.decode(scene, kind, fields)
    placed, report = vox_scene.placed(scene, [model.size for model in models])
    return _grid(models, placed, _ids(models, placed, names_of(colours, types), palette)), report


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the kind and the bounds of every chunk of the file."""
    if len(data) < 20 or data[8:12] != b"MAIN":
        raise WorldFormatError("it has no chunk MAIN at byte 8, as a MagicaVoxel file has")
    own, children = struct.unpack_from("<II", data, 12)
    at, end = 20 + own, 20 + own + children
    if end > len(data):
        raise WorldFormatError(f"its chunk MAIN should end at byte {end}, but the file ends at {len(data)}")
    for _ in range(MAX_TAGS):
        if at == end:
            return
        if at + 12 > end:
            raise WorldFormatError(f"it has a chunk at byte {at} that is cut off")
        own, children = struct.unpack_from("<II", data, at + 4)
        start, kind, at = at + 12, data[at : at + 4], at + 12 + own + children
        if at > end:
            raise WorldFormatError(
                f"its chunk {kind!r} before byte {start} should end at byte {at}, not {end}"
            )
        yield kind, start, start + own
    raise WorldFormatError(f"it has more than {MAX_TAGS} chunks")


def _size(fields: vox_scene.Fields, start: int) -> tuple[int, int, int]:
    x, y, z = (fields.int32() for _ in range(3))
    if not 0 < min(x, y, z) <= max(x, y, z) <= _MAX_EDGE:
        raise WorldFormatError(
            f"it has a model of {x}x{y}x{z} voxels at byte {start}, not of 1 to {_MAX_EDGE}"
        )
    return x, y, z


def _model(
    data: bytes, fields: vox_scene.Fields, size: tuple[int, int, int] | None, start: int, end: int
) -> Model:
    if size is None:
        raise WorldFormatError(f"it has voxels at byte {start} without a size before them")
    count = fields.int32()
    if not 0 <= 4 * count <= end - start - 4:
        raise WorldFormatError(f"it has {count} voxels at byte {start}, more than their chunk holds")
    voxels = np.frombuffer(data, np.uint8, 4 * count, start + 4).reshape(count, 4)
    if count and (voxels[:, :3].max(axis=0) >= size).any():
        x, y, z = size
        raise WorldFormatError(f"it has a voxel outside its model of {x}x{y}x{z} after byte {start}")
    return Model(size, voxels)


def _ids(
    models: list[Model], placed: list[vox_scene.Placed], names: list[str], palette: Palette
) -> NDArray[np.uint16]:
    """Return the palette ids by index of a colour, of those that occur; shape [256]."""
    ids = np.zeros(256, np.uint16)
    counts = np.zeros(256, np.int64)
    for number in sorted({one.model for one in placed}):
        counts += np.bincount(models[number].voxels[:, 3], minlength=256)
    for index in np.flatnonzero(counts).tolist():
        # Index 0 is no voxel.
        ids[index] = palette.id(names[index]) if index else 0
    return ids


def _grid(models: list[Model], placed: list[vox_scene.Placed], ids: NDArray[np.uint16]) -> Grid:
    total = sum(len(models[one.model].voxels) for one in placed)
    if total > _MAX_VOXELS:
        raise WorldFormatError(f"its models together place {total} voxels, more than {_MAX_VOXELS}")
    low = np.min([one.low for one in placed], axis=0)
    x, y, z = (np.max([one.high for one in placed], axis=0) - low).tolist()
    if x * y * z > MAX_CELLS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells are more than {MAX_CELLS}")
    if section_count((0, 0, 0), (x, y, z)) > MAX_FILE_SECTIONS:
        raise WorldFormatError(f"its {x}x{y}x{z} cells touch more than {MAX_FILE_SECTIONS} sections")
    grid = make((0, 0, 0), (x, y, z), max_rows=MAX_ROWS)
    for one in placed:
        voxels = models[one.model].voxels
        for start in range(0, len(voxels), _VOXELS_AT_ONCE):
            part = voxels[start : start + _VOXELS_AT_ONCE]
            part = part[part[:, 3] != 0]
            if len(part):
                points.put(grid, vox_scene.cells(one, part[:, :3]) - low, ids[part[:, 3]])
    points.join(grid)
    return grid
