"""How far a box can move through cells before it touches one.

Cells are boxes from their floor to a height between 0 and 1.5 cells. A box that moves has three leading
faces; each time one of them reaches a plane of cells, the cells that the box meets there are looked at, and
the earliest contact of those is kept until no plane is nearer. So a long way costs what it touches, not the
volume that is swept.

A contact leaves a gap. All is in cells, relative to a cell near the body, so that the gap is the same
anywhere; it only grows where float64 itself has become coarser. A box that is in another by less than half of
the gap counts as touching it, so that one put down exactly on a floor stands on it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types

from ecs_audio.kernels.jit import F8_1, I4_1, I8_1, Array, law
from ecs_audio.kernels.sections import U2_1, material_at

INF = np.inf

GAP = 2.0**-16
"""Left between a body and what it touches [cells]: 15 micrometres at a metre a cell."""

GAP_FAR = 2.0**-48
"""What far places add to it, by their largest coordinate: 16 steps of float64."""

# Places of three in the reals of a body.
AT, SPEED, LOW, HIGH, BY, WHEN, SIZE = 0, 3, 6, 9, 12, 15, 18
"""Middle of its floor; velocity [m/s]; lowest and highest corner; way to go; time at which each leading face
is at its next plane; edges. All but velocity and time in cells, relative to BASE."""
CLOSE, BEST, TOP = 21, 22, 23
"""The gap [cells], time of the first contact, height of what is touched."""
REALS = 48

# Places of three in its whole numbers.
BASE, FIRST, LAST, NEXT, FROM, TO, START, END, TOUCHED = 0, 3, 6, 9, 12, 15, 18, 21, 24
"""A cell near the body; cells that it fills from, and to; next planes; cells to look at from, and to; the
world from, and to; the cell that is touched. All but the first relative to it."""
AXIS = 27
"""Axis along which the last sweep touched something, -1 for none."""
FACE = 28
"""Whether it touched a face there, not an edge."""
WHOLES = 32


class Ground(NamedTuple):
    """What bodies can stand on."""

    box: Array
    """int64 (6,): lowest cell, and sections along each axis."""
    slots: Array
    """int32 (sections,): the world's own."""
    cells: Array
    """uint16 (4096 x rows,): the world's own."""
    height: Array
    """float64 (materials,): height of a cell for bodies [cells], at most 1.5, 0 for what they pass."""
    rise: Array
    """float64 (materials,): how much higher than its surface one can step from it [cells]."""


GROUND = types.NamedTuple((I8_1, I4_1, U2_1, F8_1, F8_1), Ground)


@law
def enter(low: float, high: float, by: float, begin: float, end: float, gap: float) -> float:
    """Time at which a box is at another along one axis: -inf where it is from the start, inf for never."""
    if low + 0.5 * gap < end and high - 0.5 * gap > begin:
        return -INF
    if by > 0.0 and begin >= high - 0.5 * gap:
        return max(0.0, (begin - gap - high) / by)
    if by < 0.0 and end <= low + 0.5 * gap:
        return max(0.0, (end + gap - low) / by)
    return INF


@law
def leave(low: float, high: float, by: float, begin: float, end: float) -> float:
    """Time at which a box is past another along one axis."""
    if by > 0.0:
        return (end - low) / by
    return (begin - high) / by if by < 0.0 else INF


@law
def material_near(ground: Ground, n: Array, x: int, y: int, z: int) -> int:
    """Material id of a cell, relative to BASE."""
    return material_at(ground.box, ground.slots, ground.cells, x + n[BASE], y + n[BASE + 1], z + n[BASE + 2])


@law
def meet(s: Array, n: Array, x: int, y: int, z: int, height: float) -> None:
    """Note the contact with a cell if it is the earliest so far.

    Of contacts at the same time, one with a face goes before one with an edge: a body that falls along a wall
    does not stand on the edges between its cells.
    """
    entered, left, axis, face = -INF, INF, -1, True
    for a in range(3):
        begin = x if a == 0 else (y if a == 1 else z)
        end = begin + (height if a == 1 else 1.0)
        t = enter(s[LOW + a], s[HIGH + a], s[BY + a], begin, end, s[CLOSE])
        face = t > entered or (face and t < entered)
        if t > entered:
            entered, axis = t, a
        left = min(left, leave(s[LOW + a], s[HIGH + a], s[BY + a], begin, end))
    first = entered < s[BEST] or (entered == s[BEST] and face and n[FACE] == 0)
    if axis >= 0 and entered < left and first:
        touch(s, n, entered, axis, x, y, z, height, face)


@law
def touch(s: Array, n: Array, t: float, axis: int, x: int, y: int, z: int, height: float, face: bool) -> None:
    """Note a contact."""
    s[BEST], s[TOP], n[AXIS], n[FACE] = t, height, axis, face
    n[TOUCHED], n[TOUCHED + 1], n[TOUCHED + 2] = x, y, z


@law
def resist(s: Array, n: Array, x: int, y: int, z: int, height: float) -> bool:
    """Whether the body is inside a cell; if it would go away from the nearest face of it, it touches it at
    once."""
    nearest, axis, out, inside = INF, -1, 0.0, True
    for a in range(3):
        begin = x if a == 0 else (y if a == 1 else z)
        end = begin + (height if a == 1 else 1.0)
        up, down = end - s[LOW + a], s[HIGH + a] - begin
        inside &= up > 0.5 * s[CLOSE] and down > 0.5 * s[CLOSE]
        if min(up, down) < nearest:
            nearest, axis, out = min(up, down), a, 1.0 if up < down else -1.0
    if inside and s[BY + axis] * out < 0.0:
        touch(s, n, 0.0, axis, x, y, z, height, True)
    return inside


@law
def look(ground: Ground, s: Array, n: Array, begins: bool) -> bool:
    """Look at the cells FROM to TO, and at the row below for what is higher than a cell.

    begins: whether these are the cells in which the body is. Returns whether it is inside one of them then.
    """
    inside = False
    floor = max(n[FROM + 1], n[START + 1])
    for x in range(max(n[FROM], n[START]), min(n[TO], n[END]) + 1):
        for z in range(max(n[FROM + 2], n[START + 2]), min(n[TO + 2], n[END + 2]) + 1):
            for y in range(floor - 1, min(n[TO + 1], n[END + 1]) + 1):
                height = ground.height[material_near(ground, n, x, y, z)]
                if height > (1.0 if y < floor else 0.0):
                    if begins:
                        inside |= resist(s, n, x, y, z, height)
                    else:
                        meet(s, n, x, y, z, height)
    return inside


@law
def settle(s: Array, n: Array) -> None:
    """Corners and cells of the body where it is now."""
    for a in range(3):
        half = 0.0 if a == 1 else 0.5 * s[SIZE + a]
        s[LOW + a] = s[AT + a] - half
        s[HIGH + a] = s[LOW + a] + s[SIZE + a]
        n[FIRST + a] = np.int64(math.floor(s[LOW + a] + 0.5 * s[CLOSE]))
        n[LAST + a] = np.int64(math.ceil(s[HIGH + a] - 0.5 * s[CLOSE])) - 1
        n[FROM + a], n[TO + a] = n[FIRST + a], n[LAST + a]
    s[BEST], n[AXIS], n[FACE] = 1.0, -1, 1


@law
def is_inside(ground: Ground, s: Array, n: Array) -> bool:
    """Whether the body is inside something: since a sweep never takes it there, one look a tick is enough."""
    s[BY], s[BY + 1], s[BY + 2] = 0.0, 0.0, 0.0
    settle(s, n)
    return look(ground, s, n, True)


@law
def reach(s: Array, n: Array, a: int) -> None:
    """When a leading face is at its next plane, inf if the world ends before it."""
    s[WHEN + a] = INF
    if s[BY + a] > 0.0 and n[NEXT + a] <= n[END + a]:
        s[WHEN + a] = max(0.0, (n[NEXT + a] - s[CLOSE] - s[HIGH + a]) / s[BY + a])
    elif s[BY + a] < 0.0 and n[NEXT + a] >= n[START + a]:
        s[WHEN + a] = max(0.0, (n[NEXT + a] + 1.0 + s[CLOSE] - s[LOW + a]) / s[BY + a])


@law
def sweep(ground: Ground, s: Array, n: Array, inside: bool) -> float:
    """Move the body by BY, or until it touches something; returns the share of the way that it went.

    inside: whether it may be inside something, of which it can only get out.
    """
    settle(s, n)
    if inside:
        look(ground, s, n, True)
    for a in range(3):
        # What is beyond the world is empty: a body outside of it goes to its edge in one step.
        if s[BY + a] > 0.0:
            n[NEXT + a] = max(n[LAST + a] + 1, n[START + a])
        else:
            n[NEXT + a] = min(n[FIRST + a] - 1, n[END + a] + (1 if a == 1 else 0))
        reach(s, n, a)
    if s[BY + 1] < 0.0:  # on the way down there may be something low in the cells where it is
        n[TO + 1] = n[FROM + 1]
        look(ground, s, n, False)
    while True:
        a = (
            0
            if s[WHEN] <= s[WHEN + 1] and s[WHEN] <= s[WHEN + 2]
            else (1 if s[WHEN + 1] <= s[WHEN + 2] else 2)
        )
        t = s[WHEN + a]
        if not t < s[BEST]:
            break
        for b in range(3):
            if s[BY + b] > 0.0:
                n[FIRST + b] = np.int64(math.floor(s[LOW + b] + s[BY + b] * t))
            elif s[BY + b] < 0.0:
                n[LAST + b] = np.int64(math.ceil(s[HIGH + b] + s[BY + b] * t)) - 1
            n[FROM + b], n[TO + b] = n[FIRST + b], n[LAST + b]
        n[FROM + a], n[TO + a] = n[NEXT + a], n[NEXT + a]
        if s[BY + a] > 0.0:
            n[LAST + a] = n[NEXT + a]
            n[NEXT + a] += 1
        else:
            n[FIRST + a] = n[NEXT + a]
            n[NEXT + a] -= 1
        look(ground, s, n, False)
        reach(s, n, a)
    arrive(s, n)
    return s[BEST]


@law
def arrive(s: Array, n: Array) -> None:
    """Put the body where the sweep ends; beside what it touches exactly, or roundings would add up."""
    t, axis = s[BEST], n[AXIS]
    if t > 0.0:
        for a in range(3):
            s[AT + a] += s[BY + a] * t
        if axis >= 0:
            half = 0.0 if axis == 1 else 0.5 * s[SIZE + axis]
            if s[BY + axis] > 0.0:
                s[AT + axis] = n[TOUCHED + axis] - s[CLOSE] - (s[SIZE + 1] if axis == 1 else half)
            else:
                s[AT + axis] = n[TOUCHED + axis] + (s[TOP] if axis == 1 else 1.0) + s[CLOSE] + half
