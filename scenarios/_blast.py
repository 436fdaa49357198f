"""What a missile does where it hits: a hole, a bang, and debris that is heard as it falls and bounces."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from scenarios._flight import nearest_solid
from scenarios._paths import Point

if TYPE_CHECKING:
    from scenarios._attack import Attack

LATER = 0.005
"""What a hit makes sound begins so long after the tick that tells of it [s]: a tick's news take a quantum."""
LIES = 2.5
"""Debris lies still by then [s]."""
SOFTEST, LOUDEST = 1.0, 8.0
"""Speed at which debris is heard when it hits, and at which it is loudest [m/s]."""

OnHit = Callable[[ea.Stage, ea.Source, ea.Mover], None]


class Blast(NamedTuple):
    """An explosion that is yet to come."""

    radius: float
    """Of its hole [m]."""
    variant: int
    """Of its sounds."""
    debris: list[Point]
    """Velocities of what it throws [m/s]."""
    wall: Point | None = None
    """The middle of a wall that falls with it."""


def make_room(world: ea.World, middle: Point, radius: float) -> None:
    """Have the world take the memory for a hole beforehand: it is dug, and what was there put back."""
    low, high = [floor(a - radius) for a in middle], [ceil(a + radius) for a in middle]
    box = (low[0], low[1], low[2]), (high[0], high[1], high[2])
    if all(world.is_known((x, y, z)) for x, y, z in product(*zip(*box, strict=True))):
        before = world.ids(*box)
        world.carve(middle, radius)
        world.put(box[0], before)


def explode(attack: Attack, blast: Blast, stage: ea.Stage, missile: ea.Source, mover: ea.Mover) -> None:
    """The missile is gone; where it hit there is a hole, from there a bang is heard and debris flies."""
    movers, world, time = stage.engine.movers, stage.engine.world, stage.time
    at = movers.hit_point if movers.hit[mover] else movers.position
    hit, out = at[mover].copy(), movers.hit_normal[mover].copy()
    stage.engine.despawn(missile, ring_out=True)
    where = _point(hit + 0.1 * out)
    attack.blasts.add(time, *where)
    middle = _point(hit)
    for centre in (middle,) if blast.wall is None else (middle, blast.wall):
        broken = nearest_solid(world, centre, blast.radius)
        if broken is not None:
            attack.holes.add(time, *broken)
        world.carve(centre, blast.radius)
    for spawn in attack.bang("blasts", blast.variant, where, time + LATER):
        stage.spawn(spawn)
    if "debris" in attack.options:
        begins = where if blast.wall is None else blast.wall
        for k, velocity in enumerate(blast.debris):
            stage.spawn(
                ea.Spawn(
                    attack.clips["debris"][0],
                    begins,
                    until=time + LIES,
                    # Of debris only its bounces are heard.
                    options={"looping": True, "volume": 0.0},
                    body={"kind": "debris", "velocity": velocity},
                    on_hit=partial(_bounce, attack, blast.variant + k),
                )
            )


def end_flight(on_hit: OnHit, stage: ea.Stage) -> None:
    """Set off the missile with this `on_hit` if it still flies."""
    for source, mover, act in list(stage.flying):
        if act is on_hit and source.alive:
            act(stage, source, mover)


def _bounce(attack: Attack, variant: int, stage: ea.Stage, piece: ea.Source, mover: ea.Mover) -> None:
    movers = stage.engine.movers
    speed = float(movers.hit_speed[mover])
    if speed >= SOFTEST:
        where = _point(movers.hit_point[mover] + 0.1 * movers.hit_normal[mover])
        attack.bounces.add(stage.time, *where)
        share, pitch = min(speed / LOUDEST, 1.0), 0.3 + 0.1 * (variant % 4)
        for spawn in attack.bang("debris", variant, where, stage.time + LATER, pitch, share):
            stage.spawn(spawn)


def _point(at: NDArray[np.float64]) -> Point:
    x, y, z = at.tolist()
    return x, y, z
