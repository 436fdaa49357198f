"""One load of a file: the palette it fills, the ids it has met, and what it may still cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.errors import TooLargeError
from ecs_audio.world.limits import MAX_LOAD_BYTES, MAX_LOAD_SECTIONS, MAX_LOAD_TAGS
from ecs_audio.world.palette import NO_NAME, Palette

ADVICE: Final = "load a smaller part with around=(x, y, z) and radius="
_KEYS: Final = 2**16
_SECTION_TAGS: Final = 64
"""Tags that take as long as the cells of a section."""


def _no_names() -> NDArray[np.uint16]:
    return np.full(_KEYS, NO_NAME, np.uint16)


@dataclass(slots=True, eq=False)
class Load:
    """What all chunks of a load have in common, also those of several regions."""

    palette: Palette
    by_state: dict[tuple[str, bool], int] = field(default_factory=dict)
    """Palette ids by block name, and whether it is a double slab."""
    by_number: NDArray[np.uint16] = field(default_factory=_no_names)
    """Palette ids by id << 4 | data value, NO_NAME where none was met, shape [65536]."""
    bytes_left: int = MAX_LOAD_BYTES
    """Of chunks as they are kept, and once more as they are unpacked."""
    tags_left: int = MAX_LOAD_TAGS
    sections_left: int = MAX_LOAD_SECTIONS
    """Of cells that are listed one by one."""


def pay(load: Load, sections: int) -> None:
    """Charge sections whose cells are about to be read one by one."""
    load.sections_left -= sections
    load.tags_left -= _SECTION_TAGS * sections


def check(load: Load) -> None:
    """Raise TooLargeError where a load has cost as much as it may, so that what comes cannot be read."""
    for left, what in (
        (load.bytes_left, f"have more than {MAX_LOAD_BYTES} bytes, packed and unpacked,"),
        (load.tags_left, f"have more than {MAX_LOAD_TAGS} tags"),
        (load.sections_left, f"have more than {MAX_LOAD_SECTIONS} sections that are not of one block"),
    ):
        if left < 0:
            raise TooLargeError(f"its chunks {what} together; {ADVICE}")
