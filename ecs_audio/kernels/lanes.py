"""Rays in flight: a wavefront of lanes that all take a step at a time.

Rays are mirrored so that all of them travel upwards along every axis. A step ends where the ray leaves the
largest empty cube known around its cell: of sections, one section, 8, 4 or 2 cells aside, or the cell alone.
The time of every crossing is (edge - origin) / direction by its own, so a ray meets the same cells at the
same times, bit for bit, whichever cubes it skipped (see `walk`). The lanes lie in one flat array for each
type, and what is looked up in memory has loops of its own: then LLVM makes vector code of the rest.
"""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.walk import INF

LANES = 32

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
# Hits whose material is to be looked up: where it is written, and where it stands.
TARGET, LOOKUP = 16 * LANES, 16 * LANES + 64
PENDING = 64
BOX = 16 * LANES + 2 * PENDING
WHOLES = BOX + 6
# Rows of `words`: both words of a record, place in `bits`, and the word there.
MASK, REST, PLACE, WORD = (k * LANES for k in range(4))
WORDS = 4 * LANES

RUNNING, HIT, OVER, OUTSIDE, AWAY, IDLE, BAD = range(7)
NOT_YET = -1.0
"""TIME of a ray that has not left its first cell; that one is never hit."""
ONE_UNKNOWN = 1 << 32


@law
def lie_down(reals: Array, wholes: Array, box: Array) -> None:
    """Make all lanes idle, and note the world's box."""
    for lane in range(LANES):
        wholes[STATE + lane], wholes[RECORD + lane] = IDLE, 0
        for k in range(lane, lane + 3 * LANES, LANES):
            reals[CELL + k], wholes[RELATIVE + k], wholes[FLIP + k] = 0.0, 0, 0
    for k in range(6):
        wholes[BOX + k] = box[k]


@law
def launch(reals: Array, wholes: Array, lane: int) -> int:
    """Set a ray on its way; returns RUNNING, OUTSIDE if it has to `enter` the world yet, or BAD.

    Its origin, direction [cells] and reach [lengths of direction] stand in `reals`.
    """
    # Without branches: a processor guesses the signs of a random ray wrong half of the time.
    size, speed, fastest, outside, octant = 0.0, 0.0, INF, False, 0
    for axis in range(3):
        k = axis * LANES + lane
        o, d = reals[ORIGIN + k], reals[DIRECTION + k]
        low, span = wholes[BOX + axis], wholes[BOX + 3 + axis] << 4
        size += abs(o)
        speed += d
        inverse = 1.0 / abs(d)
        moves = inverse < INF
        fastest = inverse if inverse < fastest else fastest
        flip = -1 if (d < 0.0) & moves else 0
        sign = -1.0 if (d < 0.0) & moves else 1.0
        o, low = o * sign, (low ^ flip) - flip
        cell = np.ceil(o) - 1.0 if moves else np.floor(o)
        relative = cell - low
        lowest = flip * span
        outside |= not ((relative >= lowest) & (relative < lowest + span))
        relative = relative if abs(relative) < 1e15 else 0.0
        reals[CELL + k], reals[ORIGIN + k], reals[BASE + k], reals[INVERSE + k] = cell, o, low, inverse
        reals[DIRECTION + k] = abs(d) if moves else 0.0
        reals[BEFORE + k] = o - 2e-15 * (abs(o) + abs(low) + span + 512)
        wholes[RELATIVE + k], wholes[FLIP + k] = np.int64(relative), flip
        octant |= (1 + flip) << axis
    reach = reals[REACH + lane]
    valid = (size < 1e12) & (reach >= 0.0) & (reach < INF) & np.isfinite(speed) & (fastest < INF)
    state = (OUTSIDE if outside else RUNNING) if valid else BAD
    i = (wholes[RELATIVE + lane] ^ wholes[FLIP + lane]) >> 4
    j = (wholes[RELATIVE + LANES + lane] ^ wholes[FLIP + LANES + lane]) >> 4
    k = (wholes[RELATIVE + 2 * LANES + lane] ^ wholes[FLIP + 2 * LANES + lane]) >> 4
    place = (i * wholes[BOX + 4] + j) * wholes[BOX + 5] + k
    wholes[RECORD + lane] = 2 * place if state == RUNNING else 0
    wholes[OCTANT + lane] = 32 + 4 * octant
    wholes[STATE + lane] = state
    reals[TIME + lane] = NOT_YET
    return state


@law
def enter(reals: Array, wholes: Array, lane: int) -> int:
    """Move a ray that begins outside the world to where it enters; returns RUNNING, or AWAY if it never does.

    The way there counts as one unknown cell.
    """
    t, last = NOT_YET, 0
    for axis in range(3):
        k = axis * LANES + lane
        lowest = wholes[FLIP + k] * (wholes[BOX + 3 + axis] << 4)
        entered = ((reals[BASE + k] + lowest) - reals[ORIGIN + k]) * reals[INVERSE + k]
        if wholes[RELATIVE + k] < lowest and entered >= t:
            t, last = entered, axis
    comes, place = t < reals[REACH + lane], 0
    for axis in range(3):
        k = axis * LANES + lane
        lowest = wholes[FLIP + k] * (wholes[BOX + 3 + axis] << 4)
        q = np.floor(reals[BEFORE + k] + reals[DIRECTION + k] * t)
        h = (q + 1.0 - reals[ORIGIN + k]) * reals[INVERSE + k]
        q += 1.0 if h < t or (h == t and axis <= last) else 0.0
        q = max(q, reals[CELL + k])
        relative = q - reals[BASE + k]
        comes &= relative >= lowest and relative < lowest + (wholes[BOX + 3 + axis] << 4)
        reals[CELL + k], wholes[RELATIVE + k] = q, np.int64(relative) if comes else 0
        place = place * wholes[BOX + 3 + axis] + ((wholes[RELATIVE + k] ^ wholes[FLIP + k]) >> 4)
    wholes[RECORD + lane] = 2 * place if comes else 0
    wholes[COUNT + lane] += 1 + ONE_UNKNOWN
    wholes[STATE + lane] = RUNNING if comes else AWAY
    reals[TIME + lane] = t
    return RUNNING if comes else AWAY


@law
def leaves_world(reals: Array, wholes: Array, lane: int) -> bool:
    """Whether the way of a ray that met nothing ends outside the world."""
    leaves = False
    for axis in range(3):
        k = axis * LANES + lane
        top = wholes[FLIP + k] * (wholes[BOX + 3 + axis] << 4) + (wholes[BOX + 3 + axis] << 4)
        leaves |= ((reals[BASE + k] + top) - reals[ORIGIN + k]) * reals[INVERSE + k] < reals[REACH + lane]
    return leaves
