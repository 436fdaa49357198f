"""Meshes (`.glb`, `.obj`, `.stl`) as worlds: their triangles become cells of a given size.

Places stay as they are: the corner (x, y, z) in metres lies in the cell (x, y, z) / cell_size. A unit of a
file is taken for a metre, as glTF has it; OBJ and STL do not say. glTF and OBJ have y up, as worlds have; STL
has z up, and y away becomes north, which is -z.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import mesh_gltf, mesh_obj, mesh_stl
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.grid import Grid
from ecs_audio.world.limits import MAX_MESH_BYTES, MAX_NAME_LENGTH, MAX_NAMES
from ecs_audio.world.materials import OPEN
from ecs_audio.world.palette import Palette
from ecs_audio.world.solid import voxelised
from ecs_audio.world.triangles import Surface

_COPY: Final = re.compile(r"\.[0-9]{3}$")
"""What modelling tools add to names that they have already."""
_NAMELESS: Final = "default"


def is_one(data: bytes) -> bool:
    """Return whether a file is a mesh."""
    return data.startswith(mesh_gltf.MAGIC) or mesh_stl.is_one(data) or mesh_obj.is_one(data)


def read(data: bytes, palette: Palette, cell_size: float) -> tuple[Grid, list[str]]:
    """Return the cells of a mesh, and a report of what is not closed or left out. Raises WorldFormatError."""
    if len(data) > MAX_MESH_BYTES:
        raise WorldFormatError(f"it is a mesh of more than {MAX_MESH_BYTES} bytes")
    surface, report = _surface(data)
    is_used = np.zeros(len(surface.corners), np.bool_)
    is_used[surface.faces] = True
    if not bool(np.isfinite(surface.corners[is_used]).all()):
        raise WorldFormatError("it has a corner that is not at a finite place")
    with np.errstate(over="ignore"):
        scaled = surface._replace(corners=surface.corners / cell_size)
    grid, more = voxelised(scaled, _ids(surface, palette))
    return grid, report + more


def _surface(data: bytes) -> tuple[Surface, list[str]]:
    if data.startswith(mesh_gltf.MAGIC):
        return mesh_gltf.read(data)
    return (mesh_stl.read(data) if mesh_stl.is_one(data) else mesh_obj.read(data)), []


def _ids(surface: Surface, palette: Palette) -> NDArray[np.uint16]:
    """Return the palette ids of the names of a surface that occur."""
    ids = np.zeros(len(surface.names), np.uint16)
    used = np.flatnonzero(np.bincount(surface.materials, minlength=1)).tolist()
    if len(used) > MAX_NAMES:
        raise WorldFormatError(f"it has {len(used)} materials, more than {MAX_NAMES}")
    for number in used:
        name = block_name(surface.names[number], palette)
        try:
            ids[number] = palette.id(name)
        except ValueError as error:
            raise WorldFormatError(f"it has a material with a bad name: {error}") from error
    return ids


def block_name(name: str, palette: Palette) -> str:
    """Return the block name for a material: `Oak Planks.001` is `oak_planks`.

    Cells of a mesh are full of what it is made of. So grass is the ground, not the plant, and `brick_wall` no
    thin wall: what would be either is called a block, where that is known and is neither.
    """
    plain = "".join(char if char.isprintable() else " " for char in _COPY.sub("", name.strip()))
    plain = re.sub(r"[\s\[\]]+", "_", plain.strip().lower())[: MAX_NAME_LENGTH - 8].strip("_") or _NAMELESS
    for candidate in (plain, f"{plain}_block"):
        match = palette.materials.match(candidate)
        if match.is_known and not match.is_partial and palette.materials.groups[match.group].kind != OPEN:
            return candidate
    return plain
