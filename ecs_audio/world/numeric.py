"""Numeric ids and data values, as files had them before Minecraft 1.13, to the ids of a palette."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import dense
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.load import Load
from ecs_audio.world.palette import NO_NAME, Palette


def ids(keys: NDArray[np.uint16], load: Load, named: Mapping[int, str]) -> NDArray[np.uint16]:
    """Return the palette ids of cells by id << 4 | data value, of the same shape.

    `named` has the names of ids beyond the table. Raises WorldFormatError.
    """
    found = dense.renumbered(keys, load.by_number)
    if (found == NO_NAME).any():
        # Each is looked for once in a load, however many there are in each part of it.
        for key in np.unique(keys[found == NO_NAME]).tolist():
            load.by_number[key] = _id(key >> 4, key & 15, load.palette, named)
        found = dense.renumbered(keys, load.by_number)
    return found


def nibbles(pairs: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return two numbers of four bits for each byte, the one in its low half first."""
    return np.stack((pairs & 15, pairs >> 4), axis=-1).reshape(-1)


def _id(number: int, data: int, palette: Palette, named: Mapping[int, str]) -> int:
    listed = _shipped().get(number)
    name = listed[data % len(listed)] if listed else named.get(number, f"numeric:{number}")
    try:
        return palette.id(name)
    except ValueError as error:
        raise WorldFormatError(f"its id {number} has a bad name: {error}") from error


@cache
def _shipped() -> dict[int, list[str]]:
    tree = tomllib.loads(files("ecs_audio.world").joinpath("numeric_ids.toml").read_text(encoding="utf-8"))
    return {int(number): [names] if isinstance(names, str) else names for number, names in tree.items()}
