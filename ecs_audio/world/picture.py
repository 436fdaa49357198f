"""A map of a world from above: coloured by acoustic group, shaded by the relief."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import World
from ecs_audio.world.grid import AIR
from ecs_audio.world.materials import FLUID

COLOURS: Final = {
    "stone": "#8d8f94",
    "netherrack": "#8a4a48",
    "metal": "#b9c6cf",
    "anvil": "#5d6770",
    "wood": "#a9743f",
    "earth": "#7da352",
    "gravel": "#9a8f86",
    "sand": "#e0cf95",
    "snow": "#f2f5f8",
    "bamboo": "#b8c25a",
    "wool": "#d98fb0",
    "moss": "#5f8a3a",
    "honey": "#e8a93c",
    "glass": "#a5dbe6",
    "water": "#4d8ad9",
    "lava": "#e2581c",
    "plants": "#9cc26b",
    "leaves": "#3d7a3a",
    "default": "#b07fd0",
}
"""Of each acoustic group, as the ground of the shipped materials looks; others get OTHER."""

OTHER: Final = "#c9c0d6"
NOTHING: Final = (24, 27, 33)
"""Where nothing stands in the way of sound from above, or nothing is loaded."""

_PIXELS: Final = 1024
"""A small world is enlarged to about so many pixels."""
_MAX_PIXELS: Final = 4096
"""A larger one is thinned out to at most so many."""
_MAX_SCALE: Final = 32
_DEPTH: Final = 32
"""Cells down to which water darkens."""
_DARKER: Final = 0.972
"""By how much a cell."""


def colour(group: str) -> str:
    """The colour of an acoustic group on maps, `#rrggbb`."""
    return COLOURS.get(group, OTHER)


class Map(NamedTuple):
    """A picture of a part of a world from above."""

    pixels: NDArray[np.uint8]
    """x to the right, z downwards, so that north is at the top; shape (height, width, 3)."""
    low: tuple[int, int]
    """Lowest x and z that are shown [cells]."""
    high: tuple[int, int]
    """One beyond the highest."""


def picture(world: World) -> Map:
    """The map of that part of a world in which something stands."""
    low = int(world.origin[1])
    heights = world.heights()
    part = _part(heights >= low)
    x, z = (
        world.origin[axis] + np.arange(world.size[axis])[which]
        for axis, which in zip((0, 2), part, strict=True)
    )
    longest = max(len(x), len(z))
    thin, scale = -(-longest // _MAX_PIXELS), max(1, min(_MAX_SCALE, _PIXELS // longest))
    corners = (int(x[0]), int(z[0])), (int(x[-1]) + 1, int(z[-1]) + 1)
    heights, x, z = heights[part][::thin, ::thin], x[::thin], z[::thin]
    there = heights >= low
    ids = np.where(there, _ids(world, x[:, None], np.maximum(heights, low), z[None, :]), 0)
    colours = np.array([_rgb(colour(world.palette.group(name))) for name in world.palette.names])
    light = _relief(heights, there) * _depths(world, heights, there, ids, x, z)
    shaded = np.where(there[:, :, None], colours[ids] * light[:, :, None], NOTHING)
    pixels = np.clip(np.rint(shaded), 0, 255).astype(np.uint8).transpose(1, 0, 2)
    return Map(pixels.repeat(scale, axis=0).repeat(scale, axis=1), *corners)


def _part(there: NDArray[np.bool_]) -> tuple[slice, slice]:
    """The smallest box of columns that holds all where something stands; all columns if nothing does."""
    x, z = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    if not len(x):
        return slice(0, there.shape[0]), slice(0, there.shape[1])
    return slice(int(x[0]), int(x[-1]) + 1), slice(int(z[0]), int(z[-1]) + 1)


def _ids(world: World, x: NDArray[np.int64], y: NDArray[np.int64], z: NDArray[np.int64]) -> NDArray[np.int64]:
    """Palette ids of cells in the declared box, air where unknown, in the shape of the coordinates."""
    base = world.section_origin
    slots = world.slots[(x >> 4) - base[0], (y >> 4) - base[1], (z >> 4) - base[2]].astype(np.int64)
    mixed = world.cells[np.maximum(slots, 0), (y & 15) << 8 | (z & 15) << 4 | (x & 15)]
    ids: NDArray[np.int64] = np.where(slots >= 0, mixed, np.maximum(AIR - slots, 0))
    return ids


def _relief(heights: NDArray[np.int64], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Brightness of each column: slopes that face north-west are bright, and so is high ground."""
    if not there.any():
        return np.ones(heights.shape)
    y = heights.astype(np.float64)
    rise = np.zeros_like(y)
    for axis in (0, 1):
        step = np.diff(y, axis=axis, prepend=np.take(y, [0], axis=axis))
        rise += np.where(there & np.roll(there, 1, axis=axis), step, 0.0)
    bottom, top = np.percentile(y[there], (1, 99))
    relative = np.clip((y - bottom) / max(top - bottom, 1.0), 0.0, 1.0)
    light: NDArray[np.float64] = (0.8 + 0.22 * relative) * (1.0 + 0.25 * np.tanh(0.5 * rise))
    return light


def _depths(
    world: World,
    heights: NDArray[np.int64],
    there: NDArray[np.bool_],
    ids: NDArray[np.int64],
    x: NDArray[np.int64],
    z: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Brightness by the depth of fluids: a sea darkens away from its shore."""
    kind = world.palette.kind
    light = np.ones(heights.shape)
    column, row = np.nonzero(there & (kind[ids] == FLUID))
    y = heights[column, row]
    for _ in range(_DEPTH):
        y = y - 1
        is_deep = y >= world.origin[1]
        column, row, y = column[is_deep], row[is_deep], y[is_deep]
        is_deep = kind[_ids(world, x[column], y, z[row])] == FLUID
        column, row, y = column[is_deep], row[is_deep], y[is_deep]
        light[column, row] *= _DARKER
    return light


def _rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue
