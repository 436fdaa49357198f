"""Rays set on their way: many at a time in one flat loop, which LLVM makes vector code of."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.bits import BIAS, BIAS_BITS, bits_of, float_of
from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.lanes import (
    AWAY,
    BAD,
    BEGAN,
    BOX,
    BRICK,
    CELL,
    DIRECTION,
    FIRST,
    FOR_LANE,
    INVERSE,
    LANES,
    LAST,
    MIRROR,
    OCTANT,
    ORIGIN,
    REACH,
    RECORD,
    RUNNING,
    STATE,
    STRIDE,
    TIME,
    UNKNOWN,
    WAITING_REALS,
    WAITING_WHOLES,
)
from ecs_audio.kernels.steps import brick_in, record_of
from ecs_audio.kernels.walk import INF

NOT_YET = -1.0
"""TIME of a ray that has not left its first cell; that one is never hit."""
OUTSIDE = -1
"""State of a ray that has to `enter` the world yet."""
WIDTH = 4
"""Rays are prepared so many at a time: a vector of 256 bits, and mostly all that wait at once."""
_MOST = np.finfo(np.float64).max  # "below infinity" would become an instruction that has no vector form


@law
def mirrored(o: float, d: float, low: float, high: float) -> tuple[float, ...]:
    """A ray along one axis, mirrored to travel upwards. low, high: first and last cell of the world.

    Returns its origin, 1 / direction, direction, cell, whether it is mirrored, and whether it begins outside.
    """
    inverse = 1.0 / abs(d)
    moves = inverse < INF
    back = (d < 0.0) & moves
    o = -o if back else o
    cell = np.ceil(o) - 1.0 if moves else np.floor(o)
    lowest, last = -1.0 - high if back else low, -1.0 - low if back else high
    outside = not ((cell >= lowest) & (cell <= last))
    return o, inverse, abs(d) if moves else 0.0, cell, back, outside


@law
def prepare(reals: Array, wholes: Array, count: int) -> None:
    """Make the first `count` waiting rays ready: RUNNING, OUTSIDE or BAD.

    Their origins, directions [cells] and reaches [lengths of direction] stand in the slots.
    """
    # Without branches: a processor guesses the signs of a random ray wrong half of the time.
    low_x, low_y, low_z = wholes[BOX], wholes[BOX + 1], wholes[BOX + 2]
    high_x = low_x + (wholes[BOX + 3] << 4) - 1
    high_y = low_y + (wholes[BOX + 4] << 4) - 1
    high_z = low_z + (wholes[BOX + 5] << 4) - 1
    across_y = 2 * wholes[BOX + 5]
    across_x = across_y * wholes[BOX + 4]
    # How many records lie between cell 0 of all coordinates and the world's lowest cell, along each axis.
    ahead_x, ahead_y, ahead_z = (low_x >> 4) * across_x, (low_y >> 4) * across_y, (low_z >> 4) * 2
    for slot in range((count + WIDTH - 1) & -WIDTH):
        k, j = WAITING_REALS + slot, WAITING_WHOLES + slot
        x, y, z = reals[ORIGIN + k], reals[ORIGIN + LANES + k], reals[ORIGIN + 2 * LANES + k]
        dx, dy, dz = reals[DIRECTION + k], reals[DIRECTION + LANES + k], reals[DIRECTION + 2 * LANES + k]
        reach = reals[REACH + k]
        valid = (
            (abs(x) + abs(y) + abs(z) < 1e12) & (reach >= 0.0) & (reach <= _MOST) & np.isfinite(dx + dy + dz)
        )
        x, ix, dx, cell_x, back_x, out_x = mirrored(x, dx, float(low_x), float(high_x))
        y, iy, dy, cell_y, back_y, out_y = mirrored(y, dy, float(low_y), float(high_y))
        z, iz, dz, cell_z, back_z, out_z = mirrored(z, dz, float(low_z), float(high_z))
        valid &= (ix < INF) | (iy < INF) | (iz < INF)
        reals[ORIGIN + k], reals[ORIGIN + LANES + k], reals[ORIGIN + 2 * LANES + k] = x, y, z
        reals[INVERSE + k], reals[INVERSE + LANES + k], reals[INVERSE + 2 * LANES + k] = ix, iy, iz
        reals[DIRECTION + k], reals[DIRECTION + LANES + k], reals[DIRECTION + 2 * LANES + k] = dx, dy, dz
        cx, cy, cz = bits_of(cell_x + BIAS), bits_of(cell_y + BIAS), bits_of(cell_z + BIAS)
        wholes[CELL + j], wholes[CELL + LANES + j], wholes[CELL + 2 * LANES + j] = cx, cy, cz
        wholes[LAST + j] = BIAS_BITS + (-1 - low_x if back_x else high_x)
        wholes[LAST + LANES + j] = BIAS_BITS + (-1 - low_y if back_y else high_y)
        wholes[LAST + 2 * LANES + j] = BIAS_BITS + (-1 - low_z if back_z else high_z)
        ax, ay, az = -across_x if back_x else across_x, -across_y if back_y else across_y, -2 if back_z else 2
        wholes[STRIDE + j], wholes[STRIDE + LANES + j], wholes[STRIDE + 2 * LANES + j] = ax, ay, az
        first = (ax if back_x else 0) + (ay if back_y else 0) + (az if back_z else 0)
        first -= ahead_x + ahead_y + ahead_z
        mirror = (3 if back_x else 0) | (48 if back_y else 0) | (12 if back_z else 0)
        octant = (0 if back_x else 4) + (0 if back_y else 8) + (0 if back_z else 16)
        state = OUTSIDE if out_x | out_y | out_z else RUNNING
        record = record_of(cx, cy, cz, ax, ay, az, first)
        wholes[RECORD + j] = record if valid & (state == RUNNING) else 0
        wholes[STATE + j] = state if valid else BAD
        wholes[FIRST + j], wholes[MIRROR + j], wholes[OCTANT + j] = first, mirror, 32 + octant
        wholes[BRICK + j] = brick_in(cx, cy, cz, mirror)


@law
def start(reals: Array, wholes: Array, count: int) -> int:
    """Move the first `count` waiting rays to their lanes; returns how many of them run."""
    prepare(reals, wholes, count)
    running = 0
    for slot in range(count):
        lane = wholes[FOR_LANE + slot] & (LANES - 1)
        reals[TIME + lane] = NOT_YET
        for k in range(10):
            reals[lane + k * LANES] = reals[WAITING_REALS + slot + k * LANES]
        for k in range(15):
            wholes[lane + k * LANES] = wholes[WAITING_WHOLES + slot + k * LANES]
        if wholes[STATE + lane] == OUTSIDE:
            enter(reals, wholes, lane)
        running += 1 if wholes[STATE + lane] == RUNNING else 0
    return running


@law
def enter(reals: Array, wholes: Array, lane: int) -> None:
    """Move a ray that begins outside the world to where it enters; it is AWAY if it never does.

    The way there counts as one unknown cell.
    """
    t, last = NOT_YET, 0
    for axis in range(3):
        k = axis * LANES + lane
        o = reals[ORIGIN + k]
        cell = np.ceil(o) - 1.0 if reals[INVERSE + k] < INF else np.floor(o)
        lowest = wholes[LAST + k] - BIAS_BITS + 1 - (wholes[BOX + 3 + axis] << 4)
        entered = (lowest - o) * reals[INVERSE + k]
        if cell < lowest and entered >= t:
            t, last = entered, axis
    comes = t < reals[REACH + lane]
    for axis in range(3):
        k = axis * LANES + lane
        o = reals[ORIGIN + k]
        cell = np.ceil(o) - 1.0 if reals[INVERSE + k] < INF else np.floor(o)
        lowest = wholes[LAST + k] - BIAS_BITS + 1 - (wholes[BOX + 3 + axis] << 4)
        q = np.floor(o + reals[DIRECTION + k] * t + 0.5)
        h = (q - o) * reals[INVERSE + k]
        q -= 0.0 if h < t or (h == t and axis <= last) else 1.0
        cell = max(q, cell)
        comes &= cell >= lowest and cell < lowest + (wholes[BOX + 3 + axis] << 4)
        wholes[CELL + k] = bits_of(cell + BIAS) if comes else BIAS_BITS
    x, y, z = wholes[CELL + lane], wholes[CELL + LANES + lane], wholes[CELL + 2 * LANES + lane]
    record = record_of(
        x, y, z, wholes[STRIDE + lane], wholes[STRIDE + LANES + lane], wholes[STRIDE + 2 * LANES + lane],
        wholes[FIRST + lane],
    )  # fmt: skip
    wholes[RECORD + lane] = record if comes else 0
    wholes[BRICK + lane] = brick_in(x, y, z, wholes[MIRROR + lane])
    wholes[UNKNOWN + lane] += 1
    wholes[BEGAN + lane] -= 1
    wholes[STATE + lane] = RUNNING if comes else AWAY
    reals[TIME + lane] = t


@law
def leaves_world(reals: Array, wholes: Array, lane: int) -> bool:
    """Whether the way of a ray that met nothing ends outside the world."""
    leaves = False
    for axis in range(3):
        k = axis * LANES + lane
        top = float_of(wholes[LAST + k]) - BIAS + 1.0
        leaves |= (top - reals[ORIGIN + k]) * reals[INVERSE + k] < reals[REACH + lane]
    return leaves
