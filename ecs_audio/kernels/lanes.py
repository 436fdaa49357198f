"""Rays in flight: a wavefront of lanes that all take a step at a time.

Rays are mirrored so that all of them travel upwards along every axis. A step ends where the ray leaves the
largest empty cube known around its cell: of sections, one section, 8, 4 or 2 cells aside, or the cell itself.
The time of every crossing is (edge - origin) / direction by its own, so a ray meets the same cells at the same
times, bit for bit, whichever cubes it skipped (see `walk`). The lanes lie in one flat array for each type, and
what is looked up in memory has loops of its own: then LLVM makes vector code of the rest.
"""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law, part
from ecs_audio.kernels.walk import INF, step_of

LANES = 16

# Rows of `reals`: mirrored cell, origin, 1 / direction, direction, origin less the rounding errors of
# positions, lowest cell of the world [cells], each x, y, z; time of entry into the cell, and reach.
CELL, ORIGIN, INVERSE, DIRECTION, BEFORE, BASE = (3 * k * LANES for k in range(6))
TIME, REACH, LENGTH, SUM = (k * LANES for k in range(18, 22))
REALS = 22 * LANES
# Rows of `wholes`: mirrored cell relative to the world, -1 where mirrored, each x, y, z; where the octant's
# bits lie in a record, state, cells looked at and 2^32 times the unknown ones, record, and the rest as the
# kernels need it.
RELATIVE, FLIP = 0, 3 * LANES
OCTANT, STATE, COUNT, RECORD, RAY, HITS, OWN, THERE, BURIED, HIT_HERE = (k * LANES for k in range(6, 16))
WHOLES = 16 * LANES
# Rows of `words`: both words of a record, place in `bits`, and the word there.
MASK, REST, PLACE, WORD = (k * LANES for k in range(4))
WORDS = 4 * LANES

RUNNING, HIT, OVER, OUTSIDE, AWAY, IDLE, BAD = range(7)
NOT_YET = -1.0
"""TIME of a ray that has not left its first cell; that one is never hit."""
ONE_UNKNOWN = 1 << 32


@law
def lie_down(reals: Array, wholes: Array) -> None:
    """Make all lanes idle."""
    for lane in range(LANES):
        wholes[STATE + lane], wholes[RECORD + lane] = IDLE, 0
        for k in range(lane, lane + 3 * LANES, LANES):
            reals[CELL + k], wholes[RELATIVE + k], wholes[FLIP + k] = 0.0, 0, 0


@part
def launch(reals: Array, wholes: Array, box: Array, lane: int) -> int:
    """Set a ray on its way; returns RUNNING, OUTSIDE if it has to `enter` the world yet, or BAD.

    Its origin, direction [cells] and reach [lengths of direction] stand in `reals`.
    """
    size, speed, moves, outside, octant = 0.0, 0.0, False, False, 0
    for axis in range(3):
        k = axis * LANES + lane
        o, d, low, span = reals[ORIGIN + k], reals[DIRECTION + k], box[axis], box[axis + 3] << 4
        size += abs(o)
        speed += d
        step = step_of(d)
        moves |= step != 0
        flip = -1 if step < 0 else 0
        o, d, low = (-o, -d, -low) if step < 0 else (o, d, low)
        d = 0.0 if step == 0 else d
        cell = np.floor(o) if step == 0 else np.ceil(o) - 1.0
        relative = cell - low
        outside |= not (relative >= flip * span and relative < flip * span + span)
        reals[CELL + k], reals[ORIGIN + k], reals[DIRECTION + k], reals[BASE + k] = cell, o, d, low
        reals[INVERSE + k] = INF if step == 0 else 1.0 / d
        reals[BEFORE + k] = o - 2e-15 * (abs(o) + abs(low) + span + 512)
        wholes[RELATIVE + k], wholes[FLIP + k] = np.int64(relative) if abs(relative) < 1e15 else 0, flip
        octant |= (1 + flip) << axis
    reach = reals[REACH + lane]
    valid = size < 1e12 and reach >= 0.0 and np.isfinite(reach) and np.isfinite(speed) and moves
    state = (OUTSIDE if outside else RUNNING) if valid else BAD
    i = (wholes[RELATIVE + lane] ^ wholes[FLIP + lane]) >> 4
    j = (wholes[RELATIVE + LANES + lane] ^ wholes[FLIP + LANES + lane]) >> 4
    k = (wholes[RELATIVE + 2 * LANES + lane] ^ wholes[FLIP + 2 * LANES + lane]) >> 4
    place = (i * box[4] + j) * box[5] + k
    wholes[RECORD + lane] = 2 * place if state == RUNNING else 0
    wholes[OCTANT + lane] = 32 + 4 * octant
    wholes[STATE + lane] = state
    reals[TIME + lane] = NOT_YET
    return state


@law
def enter(reals: Array, wholes: Array, box: Array, lane: int) -> int:
    """Move a ray that begins outside the world to where it enters; returns RUNNING, or AWAY if it never does.

    The way there counts as one unknown cell.
    """
    t, last = NOT_YET, 0
    for axis in range(3):
        k = axis * LANES + lane
        lowest = wholes[FLIP + k] * (box[axis + 3] << 4)
        entered = ((reals[BASE + k] + lowest) - reals[ORIGIN + k]) * reals[INVERSE + k]
        if wholes[RELATIVE + k] < lowest and entered >= t:
            t, last = entered, axis
    comes, place = t < reals[REACH + lane], 0
    for axis in range(3):
        k = axis * LANES + lane
        lowest = wholes[FLIP + k] * (box[axis + 3] << 4)
        q = np.floor(reals[BEFORE + k] + reals[DIRECTION + k] * t)
        h = (q + 1.0 - reals[ORIGIN + k]) * reals[INVERSE + k]
        q += 1.0 if h < t or (h == t and axis <= last) else 0.0
        q = max(q, reals[CELL + k])
        relative = q - reals[BASE + k]
        comes &= relative >= lowest and relative < lowest + (box[axis + 3] << 4)
        reals[CELL + k], wholes[RELATIVE + k] = q, np.int64(relative) if comes else 0
        place = place * box[axis + 3] + ((wholes[RELATIVE + k] ^ wholes[FLIP + k]) >> 4)
    wholes[RECORD + lane] = 2 * place if comes else 0
    wholes[COUNT + lane] += 1 + ONE_UNKNOWN
    wholes[STATE + lane] = RUNNING if comes else AWAY
    reals[TIME + lane] = t
    return RUNNING if comes else AWAY


@law
def leaves_world(reals: Array, wholes: Array, box: Array, lane: int) -> bool:
    """Whether the way of a ray that met nothing ends outside the world."""
    leaves = False
    for axis in range(3):
        k = axis * LANES + lane
        top = wholes[FLIP + k] * (box[axis + 3] << 4) + (box[axis + 3] << 4)
        leaves |= ((reals[BASE + k] + top) - reals[ORIGIN + k]) * reals[INVERSE + k] < reals[REACH + lane]
    return leaves
