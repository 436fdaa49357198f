"""How a walker moves: by the rules of the Source engine, as they are publicly described.

Gravity acts half before and half after the way, which makes a jump's parabola exact at any rate of ticks.
Figures are in the units that these rules are known in; `unit` is one of them in metres.
"""

from __future__ import annotations

import math

from ecs_audio.kernels.bodies import GROUNDED, STOP_SPEED, MoverColumns, slide, slow, trace_down
from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.sweep import AT, AXIS, BY, CLOSE, SPEED, TOUCHED, Ground, material_near, sweep

LIMIT = 3500.0
"""Fastest walker along each axis [units/s]."""

FRICTION = 8.0
"""Share of the speed that the ground takes [1/s]."""

ACCELERATE, AIR_ACCELERATE = 10.0, 10.0
"""Share of the wished speed that is gained, on the ground and in the air [1/s]."""

AIR_SPEED = 30.0
"""Speed up to which one can steer in the air; the gain is still by the whole wish [units/s]."""

STILL = 1.0
"""A slower walker stands [units/s]."""

STEP_MARGIN = 1.0 / 32.0
"""Steps are tried a little higher, or a ledge as high as a step would be touched [units]."""

BEGAN, SLID = 24, 30
"""AT and SPEED before a step, and after sliding: places of six in the reals of a body."""


@law
def accelerate(s: Array, x: float, z: float, wished: float, target: float, rate: float) -> None:
    """Gain speed [m/s] in a horizontal direction, up to a target there; rate: share of `wished` to gain."""
    missing = target - (s[SPEED] * x + s[SPEED + 2] * z)
    if missing > 0.0:
        gain = min(rate * wished, missing)
        s[SPEED] += gain * x
        s[SPEED + 2] += gain * z


@law
def way2(s: Array) -> float:
    """Square of the horizontal way since BEGAN."""
    return (s[AT] - s[BEGAN]) ** 2 + (s[AT + 2] - s[BEGAN + 2]) ** 2


@law
def stride(ground: Ground, s: Array, n: Array, inside: bool, way: float, step: float) -> None:
    """Slide, and if something is in the way try it a step [cells] higher, too: the farther one wins."""
    for k in range(6):
        s[BEGAN + k] = s[AT + k]
    if slide(ground, s, n, inside, way):
        slid = way2(s)
        for k in range(6):
            s[SLID + k], s[AT + k] = s[AT + k], s[BEGAN + k]
        s[BY], s[BY + 1], s[BY + 2] = 0.0, step, 0.0
        sweep(ground, s, n, inside)
        slide(ground, s, n, inside, way)
        s[BY], s[BY + 1], s[BY + 2] = 0.0, -step - 2.0 * s[CLOSE], 0.0
        sweep(ground, s, n, inside)
        if n[AXIS] != 1 or way2(s) <= slid:
            for k in range(6):
                s[AT + k] = s[SLID + k]
        s[SPEED + 1] = s[SLID + SPEED + 1]


@law
def walk(
    m: MoverColumns,
    i: int,
    ground: Ground,
    s: Array,
    n: Array,
    inside: bool,
    unit: float,
    scale: float,
    dt: float,
) -> None:
    """A walker's tick. scale: cells a metre."""
    fall = 0.5 * m.gravity[i] * dt
    s[SPEED + 1] -= fall
    standing = m.on_ground[i] != 0
    if m.jump[i] != 0 and m.held[i] == 0 and standing:
        s[SPEED + 1] = m.jump_speed[i] - fall
        standing = False
    m.held[i] = m.jump[i]
    x, z = m.wish_direction[i, 0], m.wish_direction[i, 2]
    length = math.sqrt(x * x + z * z)
    wished = m.walk_speed[i] * min(1.0, length)
    x, z = (x / length, z / length) if length > 0.0 else (0.0, 0.0)
    step = (m.step_height[i] + STEP_MARGIN * unit) * scale + m.rise[i]
    reach = GROUNDED * unit * scale
    if standing:
        s[SPEED + 1] = 0.0
        speed = math.sqrt(s[SPEED] ** 2 + s[SPEED + 2] ** 2)
        slow(s, max(speed, STOP_SPEED * unit) * FRICTION * dt)
        accelerate(s, x, z, wished, wished, ACCELERATE * dt)
        if s[SPEED] ** 2 + s[SPEED + 2] ** 2 < (STILL * unit) ** 2:
            s[SPEED], s[SPEED + 2] = 0.0, 0.0
        else:
            stride(ground, s, n, inside, scale * dt, step)
            reach = max(reach, step)
    else:
        accelerate(s, x, z, wished, min(wished, AIR_SPEED * unit), AIR_ACCELERATE * dt)
        slide(ground, s, n, inside, scale * dt)
    before, standing = s[AT + 1], False
    if s[SPEED + 1] <= 0.0:
        standing = trace_down(ground, s, n, inside, reach)
    m.on_ground[i] = standing
    if standing:
        s[SPEED + 1] = 0.0
        m.rise[i] = ground.rise[material_near(ground, n, n[TOUCHED], n[TOUCHED + 1], n[TOUCHED + 2])]
    else:
        s[AT + 1], m.rise[i] = before, 0.0
        s[SPEED + 1] -= fall
