"""A listener on real feet: a body that follows a planned way as far as the world lets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, hypot

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ecs_audio as ea
from ecs_audio.perform import engine_for, perform
from scenarios._listener import STEP
from scenarios._notes import Notes
from scenarios._paths import Point, mix

SPEED = 6.25
"""Fastest walk [m/s]."""
SIZE = (0.6, 1.8, 0.6)
"""Of the body [m]: what `straightened` keeps free of walls."""
TURN = 0.15
"""So much ahead a walker looks along the way [s]: legs need that long for another direction."""
PULL = 8.0
"""Off its place on the way by a metre, it wishes to go so much faster to it [m/s]."""
CLIMB, LEAP = 0.62, 0.35
"""Where the way will be that much higher [m], so much later [s], it jumps: a step is lower."""
JUMP = 5.9
"""Speed upwards of a jump [m/s]: 1.16 m high, as steps of the way are of 1 m, and the air holds one up."""
DROP = 1.25
"""A walker lower than that below the way has fallen; steps of the way are of 1 m [m]."""
TOUCH = 1e-6
"""Deeper than that in a cell it is inside [m]."""

Feet = Callable[[float], Point]
"""Seconds -> soles [m]."""


class Walk:
    """Where a walker shall go in a world of cells of 1 m, and where it has been."""

    def __init__(self, world: ea.World, plan: Feet, seconds: float) -> None:
        self.world, self.plan = world, plan
        self.been = Notes(round(seconds / STEP) + 2, 5)
        """After each tick its time [s], the soles [m], and how far the body reached into something [m]."""

    def walker(self, forward: Callable[[float], ArrayLike]) -> ea.Walker:
        """It, as a part of a scenario of 60 ticks a second; it looks `forward`."""
        return ea.Walker(
            self.plan(0.0), self._wish, forward, {"size": SIZE, "walk_speed": SPEED, "jump_speed": JUMP}
        )

    def feet(self, time: float) -> Point:
        """Where the soles were [m]; where they should be, if it has not walked."""
        places = self.been.rows
        if len(places) < 2:
            return self.plan(time)
        place = min(max(time / STEP, 0.0), len(places) - 1.0)
        k = min(floor(place), len(places) - 2)
        (_, *a, _), (_, *b, _) = places[k : k + 2].tolist()
        return mix((a[0], a[1], a[2]), (b[0], b[1], b[2]), place - k)

    def complaint(self, most: float) -> str:
        """What was first wrong with where it was, as a sentence; nothing if all was well.

        most: how far along the ground it may be from its place on the way [m].
        """
        for time, x, y, z, deep in self.been.rows.tolist():
            u, v, w = self.plan(time)
            aside, below = hypot(x - u, z - w), v - y
            if aside > most:
                return f"at {time:.2f} s the walker is {aside:.2f} m off the path; at most {most:g} m are due"
            if below > DROP:
                return (
                    f"at {time:.2f} s the walker has fallen to {below:.2f} m below the path; at most {DROP:g}"
                )
            if deep > TOUCH:
                return f"at {time:.2f} s the walker is {deep:.3f} m inside a wall; it must never be in one"
        return ""

    def _wish(self, time: float, soles: NDArray[np.float64]) -> tuple[ArrayLike, bool]:
        (x, _, z), (u, _, w) = self.plan(time), self.plan(time + TURN)
        if time > 0.0:  # before a tick, so this is where the tick before has found it
            self.been.add(time - STEP, *soles.tolist(), inside(self.world, soles))
        pace = (u - x) / TURN + PULL * (x - soles[0]), (w - z) / TURN + PULL * (z - soles[2])
        # Only a press is a jump, so it is pressed anew every other tick.
        jumps = self.plan(time + LEAP)[1] - soles[1] > CLIMB and round(time / STEP) % 2 == 0
        return (pace[0] / SPEED, 0.0, pace[1] / SPEED), jumps


def rehearsed(world: ea.World, plan: Feet, seconds: float, events: Sequence[ea.Event]) -> Walk:
    """A walk that was gone once, without sound, to see where it leads.

    events: what the world does on the way; it must be as before in the end.
    """
    walk, silent = Walk(world, plan, seconds), ea.Settings(acoustics="off")
    walker = walk.walker(lambda time: (1.0, 0.0, 0.0))
    rehearsal = ea.Scenario(world, ea.Clips(), seconds, walker=walker, events=events, settings=silent)
    with engine_for(rehearsal) as engine:
        for _ in perform(rehearsal, engine):
            pass
    return walk


def check_feet(walk: Walk, ticks: int, most: float) -> None:
    """The walker is always within `most` [m] of its place on the way, never in a wall, and never falls."""
    seen = len(walk.been.rows)
    assert seen == ticks - 1, f"the walker was seen {seen} times; {ticks - 1} are due"
    complaint = walk.complaint(most)
    assert not complaint, complaint


def inside(world: ea.World, feet: NDArray[np.float64]) -> float:
    """How far a body of SIZE reaches into what stands in cells of 1 m, 0 if nowhere [m]."""
    low = feet - np.multiply(SIZE, (0.5, 0.0, 0.5))
    high = low + SIZE
    # A fence reaches half a cell into the cell above.
    first, end = np.floor(low).astype(int) - (0, 1, 0), np.floor(high).astype(int) + 1
    tops = world.palette.height[world.ids(first, end)]
    x, y, z = np.ogrid[first[0] : end[0], first[1] : end[1], first[2] : end[2]]
    along = np.minimum(high[0] - x, x + 1.0 - low[0]), np.minimum(high[2] - z, z + 1.0 - low[2])
    depth = np.minimum(np.minimum(*along), np.minimum(high[1] - y, y + tops - low[1]))
    return float(np.where(tops > 0.0, depth, 0.0).max(initial=0.0))
