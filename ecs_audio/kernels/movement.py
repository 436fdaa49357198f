"""All bodies by one tick: walkers, projectiles that stop where they hit, debris that bounces."""

from __future__ import annotations

import math

from ecs_audio.kernels.bodies import (
    BUMPS,
    GROUNDED,
    MOVER_COLUMNS,
    ORIGIN,
    STOP_SPEED,
    MoverColumns,
    begin,
    slow,
    trace_down,
)
from ecs_audio.kernels.jit import F8, F8_1, F8_2, I8, I8_1, Array, kernel, law
from ecs_audio.kernels.sweep import (
    AT,
    AXIS,
    BASE,
    BY,
    GROUND,
    SIZE,
    SPEED,
    TOP,
    TOUCHED,
    Ground,
    is_inside,
    sweep,
)
from ecs_audio.kernels.walking import LIMIT, walk

WALKER, PROJECTILE, DEBRIS = 0, 1, 2

FARTHEST = 1e9
"""Bodies stay within it along each axis [m], and slower than it [m/s]."""


@law
def report_hit(m: MoverColumns, i: int, s: Array, n: Array, cell_size: float) -> None:
    """Note what a projectile or debris touches, at the end of a sweep."""
    axis = n[AXIS]
    for a in range(3):
        at = s[AT + a] + (0.5 * s[SIZE + a] if a == 1 else 0.0)
        low = n[TOUCHED + a]
        high = low + (s[TOP] if a == 1 else 1.0)
        if a == axis:
            at = low if s[BY + a] > 0.0 else high
        m.hit_point[i, a] = (n[BASE + a] + min(max(at, low), high)) * cell_size
        m.hit_cell[i, a] = n[BASE + a] + low
    m.hit_normal[i, axis] = -1.0 if s[BY + axis] > 0.0 else 1.0
    m.hit_speed[i], m.hit[i] = abs(s[SPEED + axis]), 1


@law
def fly(
    m: MoverColumns, i: int, ground: Ground, s: Array, n: Array, inside: bool, cell_size: float, dt: float
) -> None:
    """A projectile's tick: it stays where it hits until it is given another velocity."""
    if s[SPEED] != 0.0 or s[SPEED + 1] != 0.0 or s[SPEED + 2] != 0.0:
        m.resting[i] = 0
    if m.resting[i] == 0:
        fall = 0.5 * m.gravity[i] * dt
        s[SPEED + 1] -= fall
        for a in range(3):
            s[BY + a] = s[SPEED + a] * dt / cell_size
        sweep(ground, s, n, inside)
        if n[AXIS] < 0:
            s[SPEED + 1] -= fall
        else:
            report_hit(m, i, s, n, cell_size)
            s[SPEED], s[SPEED + 1], s[SPEED + 2] = 0.0, 0.0, 0.0
            m.resting[i] = 1


@law
def rebound(m: MoverColumns, i: int, s: Array, axis: int, weak: float) -> None:
    """Speed after a bounce: restitution along the normal, friction by Coulomb across it. A bounce from the
    ground that is weaker than `weak` [m/s] is none."""
    into = s[SPEED + axis]
    back = -m.bounce[i] * into
    if axis == 1 and into < 0.0 and back < weak:
        back, m.on_ground[i] = 0.0, 1
    s[SPEED + axis] = 0.0
    across = math.sqrt(s[SPEED] ** 2 + s[SPEED + 1] ** 2 + s[SPEED + 2] ** 2)
    share = max(0.0, 1.0 - m.friction[i] * abs(back - into) / across) if across > 0.0 else 0.0
    for a in range(3):
        s[SPEED + a] *= share
    s[SPEED + axis] = back


@law
def tumble(
    m: MoverColumns,
    i: int,
    ground: Ground,
    s: Array,
    n: Array,
    inside: bool,
    unit: float,
    cell_size: float,
    dt: float,
) -> None:
    """The tick of debris: it bounces, slides and lies."""
    fall, weak = 0.5 * m.gravity[i] * dt, m.gravity[i] * dt + STOP_SPEED * unit
    if m.on_ground[i] != 0 and s[SPEED + 1] == 0.0:
        slow(s, m.friction[i] * m.gravity[i] * dt)
    else:
        m.on_ground[i] = 0
        s[SPEED + 1] -= fall
    left = dt
    for _ in range(BUMPS):
        for a in range(3):
            s[BY + a] = s[SPEED + a] * left / cell_size
        if s[BY] == 0.0 and s[BY + 1] == 0.0 and s[BY + 2] == 0.0:
            break
        left *= 1.0 - sweep(ground, s, n, inside)
        axis = n[AXIS]
        if axis < 0:
            break
        hard = abs(s[SPEED + axis]) > max(weak, m.hit_speed[i])
        if hard:
            report_hit(m, i, s, n, cell_size)
        rebound(m, i, s, axis, weak)
    if m.on_ground[i] != 0:
        before = s[AT + 1]
        if not trace_down(ground, s, n, inside, GROUNDED * unit / cell_size):
            m.on_ground[i], s[AT + 1] = 0, before
    else:
        s[SPEED + 1] -= fall
    still = s[SPEED] == 0.0 and s[SPEED + 1] == 0.0 and s[SPEED + 2] == 0.0
    m.resting[i] = m.on_ground[i] != 0 and still


@kernel(I8, F8, F8, F8, MOVER_COLUMNS, GROUND, F8_1, I8_1)
def advance(
    count: int,
    dt: float,
    unit: float,
    cell_size: float,
    movers: MoverColumns,
    ground: Ground,
    reals: Array,
    wholes: Array,
) -> None:
    """Move every body by dt [s]; one that has not moved yet stays where it begins.

    unit: of the walkers' figures [m]. cell_size: of the ground [m]. reals, wholes: scratch, (REALS,) and
    (WHOLES,).
    """
    m, s, n = movers, reals, wholes
    for i in range(count):
        kind = m.kind[i]
        limit = LIMIT * unit if kind == WALKER else FARTHEST
        if not begin(m, i, ground, s, n, cell_size, limit):
            continue
        inside = is_inside(ground, s, n)
        passed = 0.0 if m.fresh[i] != 0 else dt
        m.fresh[i] = 0
        if kind == WALKER:
            walk(m, i, ground, s, n, inside, unit, 1.0 / cell_size, passed)
        elif kind == PROJECTILE:
            fly(m, i, ground, s, n, inside, cell_size, passed)
        else:
            tumble(m, i, ground, s, n, inside, unit, cell_size, passed)
        for a in range(3):
            m.velocity[i, a] = min(max(s[SPEED + a], -limit), limit)
            if s[AT + a] != s[ORIGIN + a]:
                at = m.position[i, a] + (s[AT + a] - s[ORIGIN + a]) * cell_size
                m.position[i, a] = min(max(at, -FARTHEST), FARTHEST)


@kernel(I8, F8_2, F8_1, I8_1, I8_1, I8_1, F8_2)
def carry(
    count: int, position: Array, eye: Array, serial: Array, place: Array, serials: Array, out: Array
) -> int:
    """Put each source where its mover has it; returns the mover of the listener, -1 for none.

    position, eye, serial, place: of movers, (capacity,); serial is -1 for the listener, place is where the
    source was last. serials, out: of sources, (sources,) and position [m] (sources, 3).
    """
    listener = -1
    for i in range(count):
        if serial[i] < 0:
            listener = i
        else:
            k = place[i]
            if k >= serials.shape[0] or serials[k] != serial[i]:  # rows move when others are removed
                k = 0
                while k < serials.shape[0] and serials[k] != serial[i]:
                    k += 1
            if k < serials.shape[0]:
                place[i] = k
                out[k, 0], out[k, 1], out[k, 2] = position[i, 0], position[i, 1] + eye[i], position[i, 2]
    return listener
