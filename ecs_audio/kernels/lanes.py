"""Rays in flight: a wavefront of lanes that all take a step at a time.

Rays are mirrored so that all of them travel upwards along every axis. A step ends where the ray leaves the
largest empty cube known around its cell: of sections, one section, 8, 4 or 2 cells aside, or the cell alone.
The time of every crossing is (edge - origin) / direction by its own, so a ray meets the same cells at the
same times, bit for bit, whichever cubes it skipped (see `walk`). The lanes lie in one flat array for each
type, and what is looked up in memory has loops of its own: then LLVM makes vector code of the rest.
"""

from __future__ import annotations

from ecs_audio.kernels.bits import BIAS, BIAS_BITS, float_of
from ecs_audio.kernels.jit import Array, law

LANES = 32

# Rows of `reals`: mirrored origin, 1 / direction and direction [cells], each x, y, z; reach, and time of
# entry into the cell.
ORIGIN, INVERSE, DIRECTION = (3 * k * LANES for k in range(3))
REACH, TIME, LENGTH, SUM = (k * LANES for k in range(9, 13))
# Rows of `wholes`: mirrored cell and the last one inside the world, both plus BIAS_BITS, how far records of
# neighbouring sections lie apart, each x, y, z; record, record of cell 0, which bits of a brick are mirrored,
# where the octant's bits lie in a record, state, brick in the section; then ray, its hits, cells not loaded,
# turn it began at, and the rest as the kernels need it.
CELL, LAST, STRIDE = (3 * k * LANES for k in range(3))
RECORD, FIRST, MIRROR, OCTANT, STATE, BRICK = (k * LANES for k in range(9, 15))
RAY, HITS, UNKNOWN, BEGAN, OWN, THERE, BURIED, HIT_HERE = (k * LANES for k in range(15, 23))
# Rays that are about to start wait in slots laid out like the lanes, behind them.
WAITING_REALS, WAITING_WHOLES = 13 * LANES, 23 * LANES
# Lanes that do not run, those that rays in slots wait for, and those whose cell can be hit.
IDLE_LANES, FOR_LANE, HIT_LANES = (WAITING_WHOLES + (15 + k) * LANES for k in range(3))
# Hits whose material is to be looked up: where it is written, and where it stands.
PENDING = 64
TARGET = WAITING_WHOLES + 18 * LANES
LOOKUP = TARGET + PENDING
BOX = LOOKUP + PENDING
REALS, WHOLES = WAITING_REALS + 10 * LANES, BOX + 6
# Rows of `words`: both words of a record, place in `bits`, and the word there.
MASK, REST, PLACE, WORD = (k * LANES for k in range(4))
WORDS = 4 * LANES

POSITIVE = 0x7FFF_FFFF_FFFF_FFFF
"""Makes plain that an index is not negative: for others numba adds a length, and asks each time."""

RUNNING, HIT, OVER, AWAY, BAD, IDLE = range(6)


@law
def lie_down(wholes: Array, box: Array) -> None:
    """Make all lanes idle, and note the world's box."""
    for lane in range(LANES):
        wholes[STATE + lane], wholes[RECORD + lane], wholes[BRICK + lane] = IDLE, 0, 0
    for k in range(6):
        wholes[BOX + k] = box[k]


@law
def not_running(wholes: Array) -> int:
    """List the lanes that do not run; returns how many."""
    count = 0
    for lane in range(LANES):  # without branches: nobody can guess which
        wholes[IDLE_LANES + count] = lane
        count += 1 if wholes[STATE + lane] != RUNNING else 0
    return count


@law
def flip_of(wholes: Array, lane: int, axis: int) -> int:
    """-1 if a lane is mirrored along an axis, else 0."""
    return -((wholes[MIRROR + lane] >> (6 - 2 * axis if axis > 0 else 0)) & 1)


@law
def cell_of(wholes: Array, lane: int, axis: int) -> int:
    """Cell of a lane along an axis, relative to the world."""
    mirrored = wholes[CELL + axis * LANES + lane] - BIAS_BITS
    return (mirrored ^ flip_of(wholes, lane, axis)) - wholes[BOX + axis]


@law
def mirrored_cell(reals: Array, wholes: Array, lane: int, axis: int) -> float:
    """Cell of a lane along an axis, as the lane sees it."""
    return float_of(wholes[CELL + axis * LANES + lane]) - BIAS
