"""Palettes of block states, as chunks and Litematica files list them, to ids."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world import nbt
from ecs_audio.world.errors import WorldFormatError
from ecs_audio.world.limits import MAX_NAMES
from ecs_audio.world.load import Load

STATES: Final[nbt.Want] = {b"Name": None, b"Properties": {b"type": None}}
"""What is wanted of each entry: its name, and whether it is a double slab."""


def table(entries: list[nbt.Tree], load: Load) -> NDArray[np.uint16]:
    """Return the palette ids of a list of block states by index. Raises WorldFormatError."""
    known = load.by_state
    numbers = []
    for entry in entries:
        properties = entry.get("Properties")
        name, is_double = (
            entry.get("Name"),
            isinstance(properties, dict) and properties.get("type") == "double",
        )
        if not isinstance(name, str):
            raise WorldFormatError("its palette has an entry without a name")
        number = known.get((name, is_double))
        if number is None:
            try:
                number = load.palette.id(f"{name}[type=double]" if is_double else name)
            except ValueError as error:
                raise WorldFormatError(f"its palette has a bad name: {error}") from error
            # Of one block, names with states could be without end.
            if len(known) < MAX_NAMES:
                known[name, is_double] = number
        numbers.append(number)
    return np.array(numbers, np.uint16)
