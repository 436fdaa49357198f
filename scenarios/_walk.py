"""The listener of a raid on foot: a walker who follows a tour, where it can be followed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import hypot

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.bodies import MoverOptions, mover_values
from ecs_audio.components import Listener, Movers, Sources
from ecs_audio.systems.move import move
from scenarios._ground import Cell
from scenarios._listener import EYES, RUN, Tour
from scenarios._paths import Point

TICK = 1 / 60
"""[s]"""
AHEAD = 0.15
"""The walker wishes to be where the tour is so much later [s]."""
CLOSE = 0.03
"""A walker so near to where it wishes to be stands [m]."""
LEAP = 0.3
"""It jumps so long before the tour is [s]"""
HIGH = 0.65
"""so much higher [m]: it steps up 0.6 m."""
ASTRAY = 1.5
"""Farther from the tour than that it has lost its way [m]."""
SPEED = 1.2 * RUN
"""At most [m/s], to catch up."""
BODY: MoverOptions = {"size": (0.6, 1.8, 0.6), "eye": EYES, "walk_speed": SPEED}
"""As wide as the tour has room for."""


@dataclass
class Walk:
    """Where a walker wishes to go on a tour, and where it has been."""

    tour: Tour
    seconds: float
    """How long it may walk: what it notes is as long from the beginning, and grows in no tick."""
    count: int = 0
    noted: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.noted = np.full((round(self.seconds / TICK) + 2, 4), np.nan)

    @property
    def soles(self) -> NDArray[np.float64]:
        """Of each tick the time [s] and where it stood [m], shape (ticks, 4)."""
        return self.noted[: self.count]

    def wish(self, time: float, soles: NDArray[np.float64]) -> tuple[Point, bool]:
        """Its wish and whether it jumps."""
        x, y, z = soles.tolist()
        if self.count < len(self.noted):
            self.noted[self.count] = time, x, y, z
            self.count += 1
        u, _, w = self.tour.feet(time + AHEAD)
        dx, dz = u - x, w - z
        away = hypot(dx, dz)
        if away < CLOSE:
            return (0.0, 0.0, 0.0), False
        share = min(away / AHEAD / SPEED, 1.0) / away
        return (share * dx, 0.0, share * dz), self.tour.feet(time + LEAP)[1] - y > HIGH

    def astray(self) -> float:
        """How far from the tour it has been at most, from above [m]."""
        feet = [(*self.tour.feet(time), *at) for time, *at in self.soles.tolist()]
        return max((hypot(x - u, z - w) for x, _, z, u, _, w in feet), default=0.0)

    def ear(self, time: float) -> Point:
        """Where its ears were [m], where the tour has them if it has not walked."""
        if not self.count:
            x, y, z = self.tour.feet(time)
        else:
            _, x, y, z = self.soles[min(max(round(time / TICK) + 1, 0), self.count - 1)].tolist()
        return x, y + EYES, z

    def walker(self) -> ea.Walker:
        """It, as a part of a scenario."""
        return ea.Walker(
            self.tour.feet(0.0), self.wish, lambda time: self.tour.pose(time).forward, options={**BODY}
        )


def can_walk(world: ea.World, tour: Tour, doors: Iterable[tuple[Cell, str]]) -> bool:
    """Whether a walker can follow a tour through a world, its doors open."""
    shut = list(doors)
    for cell, _ in shut:
        world.set(cell, "air")
    settings, movers, sources, listener = ea.Settings(), Movers(1), Sources(1), Listener()
    values = mover_values("walker", BODY, world.cell_size, settings.units_per_metre)
    mover = movers.append(**values, position=np.array(tour.feet(0.0)))
    walk = Walk(tour, tour.arrives + 1.0)
    for tick in range(round((tour.arrives + 1.0) / TICK)):
        movers.wish_direction[mover], movers.jump[mover] = walk.wish(tick * TICK, movers.position[mover])
        move(movers, sources, listener, world, settings, dt=TICK)
    for cell, name in shut:
        world.set(cell, name)
    rises = abs(float(movers.position[mover, 1]) - tour.feet(tour.arrives)[1])
    return walk.astray() < ASTRAY and rises < HIGH
