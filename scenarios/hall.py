"""Claps in a hall of stone with a wooden floor, and in the same one with wool on its walls."""

from __future__ import annotations

import ecs_audio as ea
from scenarios._claps import WOOL, check_box, check_direct, check_wool, scene
from scenarios._shoebox import Box


def scenario(
    *,
    width: int = 30,
    height: int = 12,
    length: int = 20,
    floor: str = "oak_planks",
    ceiling: str = "oak_planks",
    walls: str = "stone_bricks",
    acoustics: str = "full",
    seconds: float = 14.0,
    seed: int = 0,
) -> ea.Scenario:
    """A closed hall, and in it a clap on the left, on the right, and so on, each when the last has died away.

    width, height, length: inner edges [m]. floor, ceiling, walls: block names.
    acoustics: "off", "direct", "reflect" or "full". seed: of the places.
    """
    box = Box(width, height, length, floor, ceiling, walls)
    return scene(box, acoustics=acoustics, seconds=seconds, seed=seed)


def check(heard: ea.Recording) -> None:
    """It rings as long and as loud as room acoustics says, and less with wool on the walls."""
    lined = heard.again(walls=WOOL)
    for one in (heard, lined):
        check_box(one, "hall")
    check_direct(heard)
    check_wool(heard, lined)
