"""What a walker, a projectile and debris have in common: their columns, and how they slide and stand."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types

from ecs_audio.kernels.jit import F8_1, F8_2, I8_2, U1_1, Array, law
from ecs_audio.kernels.sweep import (
    AT,
    AXIS,
    BASE,
    BY,
    CLOSE,
    END,
    GAP,
    GAP_FAR,
    SIZE,
    SPEED,
    START,
    Ground,
    sweep,
)

ORIGIN = 36
"""Where a body was before the tick: place of three in its reals."""

BUMPS = 4
"""Contacts in one tick; what is left of it after the last is lost."""

STOP_SPEED = 10.0
"""Friction takes at least as much from a slow walker as at this speed [units/s]."""

GROUNDED = 2.0
"""A floor so far below is stood on [units]."""


class MoverColumns(NamedTuple):
    """Columns of `Movers`, at full capacity."""

    kind: Array
    position: Array
    velocity: Array
    wish_direction: Array
    jump: Array
    gravity: Array
    size: Array
    walk_speed: Array
    jump_speed: Array
    step_height: Array
    bounce: Array
    friction: Array
    fresh: Array
    held: Array
    rise: Array
    on_ground: Array
    resting: Array
    hit: Array
    hit_point: Array
    hit_normal: Array
    hit_cell: Array
    hit_speed: Array


MOVER_COLUMNS = types.NamedTuple(
    (
        U1_1, F8_2, F8_2, F8_2, U1_1, F8_1, F8_2, F8_1, F8_1, F8_1, F8_1, F8_1, U1_1, U1_1, F8_1, U1_1, U1_1,
        U1_1, F8_2, F8_2, I8_2, F8_1,
    ),
    MoverColumns,
)  # fmt: skip


@law
def begin(
    m: MoverColumns, i: int, ground: Ground, s: Array, n: Array, cell_size: float, limit: float
) -> bool:
    """Take a body in hand, relative to its own cell; whether it is somewhere."""
    far, there = 0.0, True
    for a in range(3):
        at = m.position[i, a] / cell_size
        there = there and np.isfinite(at)
        n[BASE + a] = np.int64(math.floor(at)) if there else 0
        s[AT + a] = at - n[BASE + a]
        s[ORIGIN + a] = s[AT + a]
        s[SIZE + a] = m.size[i, a] / cell_size
        s[SPEED + a] = m.velocity[i, a]
        if not np.isfinite(s[SPEED + a]):
            s[SPEED + a] = 0.0
        s[SPEED + a] = min(max(s[SPEED + a], -limit), limit)
        n[START + a] = ground.box[a] - n[BASE + a]
        n[END + a] = n[START + a] + 16 * ground.box[3 + a] - 1
        far = max(far, abs(at))
        m.hit_normal[i, a] = 0.0
    s[CLOSE] = GAP + GAP_FAR * far
    m.hit[i], m.hit_speed[i] = 0, 0.0
    return there


@law
def trace_down(ground: Ground, s: Array, n: Array, inside: bool, way: float) -> bool:
    """Move down by a way [cells]; whether there was a floor. Moves of less than the gap are not made."""
    before = s[AT + 1]
    s[BY], s[BY + 1], s[BY + 2] = 0.0, -way, 0.0
    sweep(ground, s, n, inside)
    if before - s[AT + 1] < s[CLOSE]:
        s[AT + 1] = before
    return n[AXIS] == 1


@law
def slide(ground: Ground, s: Array, n: Array, inside: bool, way: float) -> bool:
    """Move by the velocity for a time, in `way` [cells / (m/s)], along what is in the way; whether there was
    anything.

    Planes are those of cells: a velocity clipped along several of them has lost the parts along their axes.
    """
    touched = False
    for _ in range(BUMPS):
        for a in range(3):
            s[BY + a] = s[SPEED + a] * way
        if s[BY] == 0.0 and s[BY + 1] == 0.0 and s[BY + 2] == 0.0:
            break
        way *= 1.0 - sweep(ground, s, n, inside)
        if n[AXIS] < 0:
            break
        s[SPEED + n[AXIS]] = 0.0
        touched = True
    return touched


@law
def slow(s: Array, drop: float) -> float:
    """Take so much from the horizontal speed [m/s]; returns what is left."""
    speed = math.sqrt(s[SPEED] ** 2 + s[SPEED + 2] ** 2)
    left = max(0.0, speed - drop)
    share = left / speed if speed > 0.0 else 0.0
    s[SPEED] *= share
    s[SPEED + 2] *= share
    return left
