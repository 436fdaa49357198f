"""Claps in a small room of planks, and in the same one with wool on its walls."""

from __future__ import annotations

import ecs_audio as ea
from scenarios._claps import WOOL, check_box, check_direct, check_wool, scene
from scenarios._shoebox import Box


def scenario(
    *,
    width: int = 5,
    height: int = 3,
    length: int = 4,
    floor: str = "oak_planks",
    ceiling: str = "oak_planks",
    walls: str = "oak_planks",
    acoustics: str = "full",
    seconds: float = 6.0,
    seed: int = 0,
) -> ea.Scenario:
    """A closed room, and in it a clap on the left, on the right, and so on, each when the last has died away.

    width, height, length: inner edges [m]. floor, ceiling, walls: block names.
    acoustics: "off", "direct", "reflect" or "full". seed: of the places.
    """
    box = Box(width, height, length, floor, ceiling, walls)
    return scene(box, acoustics=acoustics, seconds=seconds, seed=seed)


def check(heard: ea.Recording) -> None:
    """It rings as long and as loud as room acoustics says, also in stone, and less with wool on the walls."""
    lined = heard.again(walls=WOOL)
    stone = heard.again(floor="stone", ceiling="stone", walls="stone")
    for one in (heard, lined, stone):
        check_box(one, "room")
    check_direct(heard)
    check_wool(heard, lined)
