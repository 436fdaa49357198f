"""A closed box of air in a world."""

from __future__ import annotations

from typing import NamedTuple

import ecs_audio as ea

SIDE = (3, 200)
"""Shortest and longest inner edge [m]."""
THICK = 2
"""Of everything around [m]."""


class Box(NamedTuple):
    """Inner edges [m] and block names. It stands from (0, 0, 0) to (width, height, length)."""

    width: int
    height: int
    length: int
    floor: str
    ceiling: str
    walls: str

    @property
    def volume(self) -> float:
        """[m³]"""
        return float(self.width * self.height * self.length)

    @property
    def surfaces(self) -> list[tuple[float, str]]:
        """Areas [m²] and block names of floor, ceiling and walls."""
        ground, around = self.width * self.length, 2 * self.height * (self.width + self.length)
        return [(ground, self.floor), (ground, self.ceiling), (around, self.walls)]


def build(box: Box) -> ea.World:
    """A world with the box in the midst of nothing. Raises ValueError for one that is too small or large."""
    for name, edge in zip(Box._fields, box[:3], strict=False):
        if not SIDE[0] <= edge <= SIDE[1]:
            raise ValueError(f"{name} must be {SIDE[0]} to {SIDE[1]} m, not {edge}")
    x, y, z = box[:3]
    border = 2 * THICK
    world = ea.World.empty(size=(x + 2 * border, y + 2 * border, z + 2 * border), origin=(-border,) * 3)
    world.fill((-THICK, -THICK, -THICK), (x + THICK, y + THICK, z + THICK), box.walls)
    world.fill((-THICK, -THICK, -THICK), (x + THICK, 0, z + THICK), box.floor)
    world.fill((-THICK, y, -THICK), (x + THICK, y + THICK, z + THICK), box.ceiling)
    world.fill((0, 0, 0), (x, y, z), "air")
    return world
