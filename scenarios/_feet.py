"""A listener on real feet: a body that follows a planned way as far as the world lets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ecs_audio as ea
from ecs_audio.perform import engine_for, perform
from ecs_audio.telemetry import Telemetry
from scenarios._listener import STEP
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
GLANCE = 0.05
"""Time between two looks at where it stands [s]."""

Feet = Callable[[float], Point]
"""Seconds -> soles [m]."""


class Standing(NamedTuple):
    """Where a walker was at one moment."""

    time: float
    feet: Point
    """[m]"""
    deep: float
    """How far its body reached into something [m]."""


def walker(plan: Feet, forward: Callable[[float], ArrayLike]) -> ea.Walker:
    """A walker who goes where `plan` has the feet at every time, and looks `forward`."""

    def wish(time: float, soles: NDArray[np.float64]) -> tuple[ArrayLike, bool]:
        (x, _, z), (u, _, w) = plan(time), plan(time + TURN)
        pace = (u - x) / TURN + PULL * (x - soles[0]), (w - z) / TURN + PULL * (z - soles[2])
        # Only a press is a jump, so it is pressed anew every other tick.
        jumps = plan(time + LEAP)[1] - soles[1] > CLIMB and round(time / STEP) % 2 == 0
        return (pace[0] / SPEED, 0.0, pace[1] / SPEED), jumps

    return ea.Walker(plan(0.0), wish, forward, {"size": SIZE, "walk_speed": SPEED, "jump_speed": JUMP})


def astray(plan: Feet, standing: Standing, most: float) -> str:
    """What is wrong with where a walker is, as a sentence; nothing if all is well.

    most: how far along the ground it may be from its place on the way [m].
    """
    time, feet, deep = standing
    x, y, z = plan(time)
    aside, below = hypot(feet[0] - x, feet[2] - z), y - feet[1]
    if aside > most:
        return f"at {time:.2f} s the walker is {aside:.2f} m off the path; at most {most:g} m are due"
    if below > DROP:
        return f"at {time:.2f} s the walker has fallen to {below:.2f} m below the path; at most {DROP:g}"
    if deep > TOUCH:
        return f"at {time:.2f} s the walker is {deep:.3f} m inside a wall; it must never be in one"
    return ""


def tried(
    world: ea.World, plan: Feet, seconds: float, events: Sequence[ea.Event], most: float
) -> tuple[Feet, str]:
    """Walk once without sound: where the feet really are, and why the way cannot be walked, if so.

    events: what the world does on the way; it must be as before in the end. most: as for `astray`.
    """
    places: list[Point] = []
    complaints: list[str] = []

    def watch(stage: ea.Stage, telemetry: Telemetry) -> None:
        standing = _standing(stage, stage.time)
        places.append(standing.feet)
        if complaint := astray(plan, standing, most):
            complaints.append(complaint)

    silent = ea.Settings(acoustics="off")
    going = walker(plan, lambda time: (1.0, 0.0, 0.0))
    rehearsal = ea.Scenario(world, ea.Clips(), seconds, walker=going, events=events, settings=silent)
    with engine_for(rehearsal) as engine:
        for _ in perform(rehearsal, engine, watch=watch):
            pass

    def feet(time: float) -> Point:
        place = min(max(time / STEP, 0.0), len(places) - 1.0)
        k = min(floor(place), len(places) - 2)
        return mix(places[k], places[k + 1], place - k)

    return feet, complaints[0] if complaints else ""


def looks(seconds: float, stood: list[Standing]) -> list[ea.Event]:
    """Events that write down where the walker stands."""

    def look(stage: ea.Stage) -> None:
        # Before a tick, so this is where the tick before has found it.
        if stage.walker is not None:
            stood.append(_standing(stage, stage.time - 1.0 / stage.scenario.tick_rate))

    return [ea.Event(GLANCE * k, look) for k in range(1, int(seconds / GLANCE))]


def check_feet(stood: Sequence[Standing], plan: Feet, seconds: float, most: float) -> None:
    """The walker is always within `most` [m] of its place on the way, never in a wall, and never falls."""
    due = int(seconds / GLANCE) - 1
    assert len(stood) == due, f"the walker was seen {len(stood)} times; {due} are due"
    for standing in stood:
        complaint = astray(plan, standing, most)
        assert not complaint, complaint


def inside(world: ea.World, feet: NDArray[np.float64]) -> float:
    """How far a body of SIZE reaches into what stands in cells of 1 m, 0 if nowhere [m]."""
    low = feet - np.multiply(SIZE, (0.5, 0.0, 0.5))
    high = low + SIZE
    # A fence reaches half a cell into the cell above.
    first, end = np.floor(low).astype(int) - (0, 1, 0), np.floor(high).astype(int) + 1
    tops = world.palette.height[world.ids(first, end)]
    begin = np.stack(np.meshgrid(*map(np.arange, first, end), indexing="ij"), -1).astype(float)
    over = np.ones_like(begin)
    over[..., 1] = tops
    depth = np.minimum(high - begin, begin + over - low).min(axis=-1)
    return float(np.where(tops > 0.0, depth, 0.0).max(initial=0.0))


def _standing(stage: ea.Stage, time: float) -> Standing:
    assert stage.walker is not None
    feet = stage.engine.movers.position[stage.walker]
    x, y, z = feet.tolist()
    return Standing(time, (x, y, z), inside(stage.engine.world, feet))
