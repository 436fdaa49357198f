"""Rays set on their way: many at a time in one flat loop, which LLVM makes vector code of."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.bits import BIAS, BIAS_BITS, bits_of, float_of
from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.lanes import (
    AWAY,
    BAD,
    BEFORE,
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
    SHIFT,
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
_MOST = np.finfo(np.float64).max  # "below infinity" would become an instruction that has no vector form


@law
def mirrored(o: float, d: float, low: float, span: float) -> tuple[float, ...]:
    """A ray along one axis, mirrored to travel upwards, and the world as it sees it then.

    Returns its origin, 1 / direction, direction, lowest cell of the world, its cell relative to that, the
    last one inside, whether it is mirrored, and whether it begins outside.
    """
    inverse = 1.0 / abs(d)
    moves = inverse < INF
    back = (d < 0.0) & moves
    sign = -1.0 if back else 1.0
    o, base = o * sign, low * sign
    cell = np.ceil(o) - 1.0 if moves else np.floor(o)
    relative = cell - base
    lowest = -span if back else 0.0
    last = lowest + span - 1.0
    outside = not ((relative >= lowest) & (relative <= last))
    relative = relative if abs(relative) < 1e15 else 0.0
    return o, inverse, abs(d) if moves else 0.0, base, relative, last, back, outside


@law
def prepare(reals: Array, wholes: Array, count: int) -> None:
    """Make the first `count` waiting rays ready: RUNNING, OUTSIDE or BAD.

    Their origins, directions [cells] and reaches [lengths of direction] stand in the slots.
    """
    # Without branches: a processor guesses the signs of a random ray wrong half of the time.
    low_x, low_y, low_z = float(wholes[BOX]), float(wholes[BOX + 1]), float(wholes[BOX + 2])
    span_x, span_y, span_z = (
        float(wholes[BOX + 3] << 4),
        float(wholes[BOX + 4] << 4),
        float(wholes[BOX + 5] << 4),
    )
    far_x, far_y, far_z = (
        abs(low_x) + span_x + 512.0,
        abs(low_y) + span_y + 512.0,
        abs(low_z) + span_z + 512.0,
    )
    across_y = 2 * wholes[BOX + 5]
    across_x = across_y * wholes[BOX + 4]
    for slot in range((count + 7) & ~7):
        k, j = WAITING_REALS + slot, WAITING_WHOLES + slot
        x, y, z = reals[ORIGIN + k], reals[ORIGIN + LANES + k], reals[ORIGIN + 2 * LANES + k]
        dx, dy, dz = reals[DIRECTION + k], reals[DIRECTION + LANES + k], reals[DIRECTION + 2 * LANES + k]
        reach = reals[REACH + k]
        valid = (
            (abs(x) + abs(y) + abs(z) < 1e12) & (reach >= 0.0) & (reach <= _MOST) & np.isfinite(dx + dy + dz)
        )
        x, ix, dx, base_x, cell_x, last_x, back_x, out_x = mirrored(x, dx, low_x, span_x)
        y, iy, dy, base_y, cell_y, last_y, back_y, out_y = mirrored(y, dy, low_y, span_y)
        z, iz, dz, base_z, cell_z, last_z, back_z, out_z = mirrored(z, dz, low_z, span_z)
        valid &= (ix < INF) | (iy < INF) | (iz < INF)
        reals[ORIGIN + k], reals[ORIGIN + LANES + k], reals[ORIGIN + 2 * LANES + k] = x, y, z
        reals[INVERSE + k], reals[INVERSE + LANES + k], reals[INVERSE + 2 * LANES + k] = ix, iy, iz
        reals[DIRECTION + k], reals[DIRECTION + LANES + k], reals[DIRECTION + 2 * LANES + k] = dx, dy, dz
        reals[SHIFT + k] = BIAS - base_x
        reals[SHIFT + LANES + k] = BIAS - base_y
        reals[SHIFT + 2 * LANES + k] = BIAS - base_z
        reals[BEFORE + k] = (x - 2e-15 * (abs(x) + far_x)) + 0.5
        reals[BEFORE + LANES + k] = (y - 2e-15 * (abs(y) + far_y)) + 0.5
        reals[BEFORE + 2 * LANES + k] = (z - 2e-15 * (abs(z) + far_z)) + 0.5
        reals[TIME + k] = NOT_YET
        cx, cy, cz = bits_of(cell_x + BIAS), bits_of(cell_y + BIAS), bits_of(cell_z + BIAS)
        wholes[CELL + j], wholes[CELL + LANES + j], wholes[CELL + 2 * LANES + j] = cx, cy, cz
        wholes[LAST + j] = bits_of(last_x + BIAS)
        wholes[LAST + LANES + j] = bits_of(last_y + BIAS)
        wholes[LAST + 2 * LANES + j] = bits_of(last_z + BIAS)
        ax, ay, az = -across_x if back_x else across_x, -across_y if back_y else across_y, -2 if back_z else 2
        wholes[STRIDE + j], wholes[STRIDE + LANES + j], wholes[STRIDE + 2 * LANES + j] = ax, ay, az
        first = (ax if back_x else 0) + (ay if back_y else 0) + (az if back_z else 0)
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
        for k in range(17):
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
        o, base = reals[ORIGIN + k], BIAS - reals[SHIFT + k]
        cell = np.ceil(o) - 1.0 if reals[INVERSE + k] < INF else np.floor(o)
        lowest = wholes[LAST + k] - BIAS_BITS + 1 - (wholes[BOX + 3 + axis] << 4)
        entered = ((base + lowest) - o) * reals[INVERSE + k]
        if cell - base < lowest and entered >= t:
            t, last = entered, axis
    comes = t < reals[REACH + lane]
    for axis in range(3):
        k = axis * LANES + lane
        o, base = reals[ORIGIN + k], BIAS - reals[SHIFT + k]
        cell = np.ceil(o) - 1.0 if reals[INVERSE + k] < INF else np.floor(o)
        lowest = wholes[LAST + k] - BIAS_BITS + 1 - (wholes[BOX + 3 + axis] << 4)
        q = np.floor((reals[BEFORE + k] - 0.5) + reals[DIRECTION + k] * t)
        h = (q + 1.0 - o) * reals[INVERSE + k]
        q += 1.0 if h < t or (h == t and axis <= last) else 0.0
        relative = max(q, cell) - base
        comes &= relative >= lowest and relative < lowest + (wholes[BOX + 3 + axis] << 4)
        wholes[CELL + k] = bits_of(relative + BIAS) if comes else BIAS_BITS
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
        top = (float_of(wholes[LAST + k]) - reals[SHIFT + k]) + 1.0
        leaves |= (top - reals[ORIGIN + k]) * reals[INVERSE + k] < reals[REACH + lane]
    return leaves
