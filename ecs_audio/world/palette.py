"""The names of one world by id, and what the kernels need to know of each."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.limits import MAX_NAME_LENGTH, MAX_NAMES, MAX_STATED_LENGTH
from ecs_audio.world.materials import OPEN, PARTIAL_FACTOR, SOLID, Materials
from ecs_audio.world.shapes import NOTHING, shape_of

AIR: Final = "air"
"""The name of id 0."""

NO_NAME: Final = MAX_NAMES
"""A number that is never an id, for the readers' tables."""


class Palette:
    """Block names by id; id 0 is air.

    Ids are never taken back, and arrays are longer than the names: what a kernel read once stays true for all
    the ids of that moment.
    """

    def __init__(self, materials: Materials | None = None) -> None:
        self.materials = Materials.shipped() if materials is None else materials
        self.names: list[str] = []
        """Names by id."""
        self.unknown: list[str] = []
        """Names that no pattern knew and that have the default group, each once."""
        self.occlusion: NDArray[np.float64] = np.zeros(64)
        """Occlusion [1/m] by id, partial shapes already reduced, shape [capacity]."""
        self.reflectivity: NDArray[np.float64] = np.zeros(64)
        """Reflectivity by id, shape [capacity]."""
        self.absorption: NDArray[np.float64] = np.zeros((64, 4))
        """Absorption at 125, 500, 2000 and 8000 Hz by id, shape [capacity, 4]."""
        self.kind: NDArray[np.uint8] = np.zeros(64, np.uint8)
        """OPEN, SOLID or FLUID by id, shape [capacity]."""
        self.height: NDArray[np.float64] = np.zeros(64)
        """How high it stands in the way of bodies by id [cells], 0 to be passed through, shape [capacity]."""
        self.rise: NDArray[np.float64] = np.zeros(64)
        """How much higher than its top a walker may step from it by id [cells], shape [capacity]."""
        self._ids: dict[str, int] = {}
        self._add(AIR)

    def __len__(self) -> int:
        return len(self.names)

    def id(self, name: str) -> int:
        """Return the id of a block name, adding it where it is new.

        A `minecraft:` prefix and block states are dropped, but for the `[type=double]` of a slab. Raises
        TypeError for anything but text, ValueError for an empty, overlong or unprintable name and where 65535
        names are too few.
        """
        try:
            known = self._ids.get(name)
        except TypeError:
            known = None
        if known is not None:
            return known
        name = normalised(name)
        known = self._ids.get(name)
        return self._add(name) if known is None else known

    def group(self, name: str) -> str:
        """Return the acoustic group of a block name, whether the world has such a block or not."""
        return self.materials.match(normalised(name)).group

    def memory(self) -> int:
        """Return the bytes of its arrays."""
        numbers = (self.occlusion, self.reflectivity, self.absorption, self.kind, self.height, self.rise)
        return sum(array.nbytes for array in numbers)

    def _add(self, name: str) -> int:
        number = len(self.names)
        if number >= MAX_NAMES:
            raise ValueError(
                f"The palette is full: {name!r} would be name {number + 1} of at most {MAX_NAMES}."
            )
        if number + 1 >= len(self.kind):
            self._grow()
        match = self.materials.match(name)
        group = self.materials.groups[match.group]
        self.occlusion[number] = group.occlusion * (PARTIAL_FACTOR if match.is_partial else 1.0)
        self.reflectivity[number] = group.reflectivity
        self.absorption[number] = group.absorption
        # Air is what a world is made of where nothing is: no material file may turn id 0 into a wall.
        self.kind[number] = group.kind if number else OPEN
        self.height[number], self.rise[number] = shape_of(name) if self.kind[number] == SOLID else NOTHING
        if not match.is_known:
            self.unknown.append(name)
        self.names.append(name)
        self._ids[name] = number
        return number

    def _grow(self) -> None:
        # New arrays, not resized ones: a kernel on another thread may be reading the old.
        self.occlusion = np.concatenate((self.occlusion, np.zeros_like(self.occlusion)))
        self.reflectivity = np.concatenate((self.reflectivity, np.zeros_like(self.reflectivity)))
        self.absorption = np.concatenate((self.absorption, np.zeros_like(self.absorption)))
        self.kind = np.concatenate((self.kind, np.zeros_like(self.kind)))
        self.height = np.concatenate((self.height, np.zeros_like(self.height)))
        self.rise = np.concatenate((self.rise, np.zeros_like(self.rise)))


def normalised(name: str) -> str:
    """Return a block name as palettes keep it: `minecraft:oak_slab[type=double]` as `oak_slab[type=double]`.

    Raises TypeError for anything but text, ValueError for an empty, overlong or unprintable name.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a block name as text, got {name!r:.60}.")
    if len(name) > MAX_STATED_LENGTH:
        raise ValueError(
            f"name must have at most {MAX_STATED_LENGTH} characters with its states, got {name!r:.60}."
        )
    base, _, states = name.strip().partition("[")
    base = base.removeprefix("minecraft:")
    if not 0 < len(base) <= MAX_NAME_LENGTH:
        raise ValueError(
            f"name must have 1 to {MAX_NAME_LENGTH} characters without its states, got {name!r:.60}."
        )
    if not base.isprintable():
        raise ValueError(f"name must have printable characters only, got {name!r:.60}.")
    if "slab" in base and "type=double" in states.rstrip("]").replace(" ", "").split(","):
        return f"{base}[type=double]"
    return base
