"""Palettes of block states, as chunks and Litematica files list them, to ids."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import nbt
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.palette import Palette

STATES: Final[nbt.Want] = {b"Name": None, b"Properties": {b"type": None}}
"""What is wanted of each entry: its name, and whether it is a double slab."""


def table(entries: list[nbt.Tree], palette: Palette, known: dict[object, int]) -> NDArray[np.uint16]:
    """Return the palette ids of a list of block states by index; `known` remembers ids between lists.

    Raises WorldFormatError.
    """
    numbers = []
    for entry in entries:
        properties = entry.get("Properties")
        is_double = isinstance(properties, dict) and properties.get("type") == "double"
        key = entry.get("Name"), is_double
        number = known.get(key)
        if number is None:
            name = key[0]
            if not isinstance(name, str):
                raise WorldFormatError("its palette has an entry without a name")
            try:
                number = known[key] = palette.id(f"{name}[type=double]" if is_double else name)
            except ValueError as error:
                raise WorldFormatError(f"its palette has a bad name: {error}") from error
        numbers.append(number)
    return np.array(numbers, np.uint16)
