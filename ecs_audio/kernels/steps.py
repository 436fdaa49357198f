"""A step of all rays in flight: look up what is around them, then leap to the end of what is empty."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.bits import BIAS, ask_for, bits_of, float_of
from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.lanes import (
    BRICK,
    BURIED,
    CELL,
    DIRECTION,
    FIRST,
    HIT,
    HIT_HERE,
    HIT_LANES,
    INVERSE,
    LANES,
    LAST,
    MASK,
    MIRROR,
    OCTANT,
    ORIGIN,
    OVER,
    PLACE,
    REACH,
    RECORD,
    REST,
    RUNNING,
    STATE,
    STRIDE,
    TIME,
    UNKNOWN,
    WORD,
)
from ecs_audio.kernels.sections import (
    ABSENT_ROW,
    EMPTY,
    HALF,
    LOW,
    OLDER,
    ONE,
    OWN_ROWS,
    SIX,
    UNKNOWN_ROW,
    USED,
    Sections,
    derive,
    move_row,
)

_GROUP = np.uint64(0x33_0033)
_EVEN = np.uint64(0b10_1010)
_NIBBLE = np.uint64(15)
_ABSENT, _UNKNOWN = np.uint64(ABSENT_ROW), np.uint64(UNKNOWN_ROW)


@law
def brick_in(x: int, y: int, z: int, mirror: int) -> int:
    """Bit of a cell's brick in the mask of its section."""
    return (((x >> 2) & 3) | (z & 12) | (((y >> 2) & 3) << 4)) ^ mirror


@law
def record_of(x: int, y: int, z: int, across_x: int, across_y: int, across_z: int, first: int) -> int:
    """Record of a cell's section, in the low 32 bits: processors multiply more than those slowly."""
    a, b, c = (x >> 4) & HALF, (y >> 4) & HALF, (z >> 4) & HALF
    return a * (across_x & HALF) + b * (across_y & HALF) + c * (across_z & HALF) + first


@law
def fetch(records: Array, wholes: Array, words: Array) -> int:
    """Look up the record of every lane, and where its bits are; not zero if some are absent."""
    for lane in range(LANES):
        record = np.uint64(wholes[RECORD + lane] & HALF)
        words[MASK + lane] = records[record]
        words[REST + lane] = records[record + ONE]
    absent = EMPTY
    for lane in range(LANES):
        brick = np.uint64(wholes[BRICK + lane])
        filled = (words[MASK + lane] >> brick) & ONE
        row = words[REST + lane] & LOW
        words[PLACE + lane] = ((row << SIX) + brick) & (EMPTY - filled)
        missing = ONE if (row == _ABSENT) & (wholes[STATE + lane] == RUNNING) else EMPTY
        absent |= filled & missing
    return absent


@law
def fetch_one(records: Array, wholes: Array, words: Array, lane: int) -> int:
    """As `fetch`, for one lane that runs."""
    record, brick = np.uint64(wholes[RECORD + lane] & HALF), np.uint64(wholes[BRICK + lane])
    mask, rest = records[record], records[record + ONE]
    filled, row = (mask >> brick) & ONE, rest & LOW
    words[MASK + lane], words[REST + lane] = mask, rest
    words[PLACE + lane] = ((row << SIX) + brick) & (EMPTY - filled)
    return filled if row == _ABSENT else EMPTY


@law
def fetch_bits(bits: Array, words: Array) -> None:
    """Look up the bits around every lane."""
    for lane in range(LANES):
        words[WORD + lane] = bits[words[PLACE + lane]]


@law
def look_ahead(records: Array, wholes: Array) -> None:
    """Ask memory for the records of all lanes, which are fetched after other work."""
    for lane in range(LANES):
        ask_for(records, np.uint64(wholes[RECORD + lane] & HALF))


@law
def look_ahead_bits(bits: Array, words: Array) -> None:
    """Ask memory for the bits around all lanes, which are fetched after other work."""
    for lane in range(LANES):
        ask_for(bits, words[PLACE + lane])


@law
def derive_absent(sections: Sections) -> None:
    """Derive the bits that `fetch` missed."""
    for lane in range(LANES):
        record = sections.wholes[RECORD + lane] & HALF
        missed = (sections.words[PLACE + lane] >> SIX) == _ABSENT and sections.wholes[STATE + lane] == RUNNING
        if missed and (sections.records[record + 1] & LOW) == _ABSENT:
            derive(sections, record >> 1, RECORD, LANES)


@law
def touch(rows: Array, call: int, words: Array) -> None:
    """Note that the rows of bits that the lanes look at are used in this call."""
    for lane in range(LANES):
        row = np.int64(words[PLACE + lane] >> SIX)
        if row >= OWN_ROWS and rows[USED, row] != call:
            rows[USED, row] = call
            move_row(rows, row, rows[OLDER, 0])


@law
def find_hits(wholes: Array, words: Array) -> int:
    """List the running lanes whose cell can be hit; the others are buried no more. Returns how many."""
    for lane in range(LANES):
        x, y, z = wholes[CELL + lane], wholes[CELL + LANES + lane], wholes[CELL + 2 * LANES + lane]
        bit = np.uint64(((x & 3) | ((z & 3) << 2) | ((y & 3) << 4)) ^ wholes[MIRROR + lane])
        is_hit = np.int64((words[WORD + lane] >> bit) & ONE)
        wholes[BURIED + lane] &= -is_hit
        wholes[HIT_HERE + lane] = is_hit if wholes[STATE + lane] == RUNNING else 0
    count = 0
    for lane in range(LANES):  # without branches, as in `not_running`
        wholes[HIT_LANES + count] = lane
        count += wholes[HIT_HERE + lane]
    return count


@law
def advance(reals: Array, wholes: Array, words: Array, stops_after: float) -> None:
    """Let every running lane take a step.

    stops_after: a lane that entered a cell that can be hit at this time or later becomes HIT and stays there.
    """
    for lane in range(LANES):
        x, y, z = wholes[CELL + lane], wholes[CELL + LANES + lane], wholes[CELL + 2 * LANES + lane]
        mirror, brick = wholes[MIRROR + lane], wholes[BRICK + lane]
        bit = np.uint64(((x & 3) | ((z & 3) << 2) | ((y & 3) << 4)) ^ mirror)
        mask, word, rest = words[MASK + lane], words[WORD + lane], words[REST + lane]
        # How many cells around this one are empty: of 8 aligned bricks, the brick, 8 aligned cells, itself.
        filled = word != EMPTY
        looked, at = word if filled else mask, bit if filled else np.uint64(brick)
        clear = ((looked >> (at & _EVEN)) & _GROUP) == EMPTY
        wide, narrow = 1 if filled else 7, 0 if filled else 3
        aside = wide if clear else narrow
        cube = np.int64((rest >> np.uint64(wholes[OCTANT + lane])) & _NIBBLE) << 4
        aside = 15 if mask == EMPTY else aside
        more = cube - 15 if mask == EMPTY else 1
        ox, oy, oz = reals[ORIGIN + lane], reals[ORIGIN + LANES + lane], reals[ORIGIN + 2 * LANES + lane]
        ix, iy, iz = reals[INVERSE + lane], reals[INVERSE + LANES + lane], reals[INVERSE + 2 * LANES + lane]
        tx = ((float_of((x | aside) + more) - BIAS) - ox) * ix
        ty = ((float_of((y | aside) + more) - BIAS) - oy) * iy
        tz = ((float_of((z | aside) + more) - BIAS) - oz) * iz
        tyz = ty if ty < tz else tz
        t = tx if tx < tyz else tyz
        not_x = tx > tyz
        is_z = not_x & (ty > tz)
        # The edges nearest to where the ray is at time t, and whether it is past them.
        px = (ox + reals[DIRECTION + lane] * t) + BIAS
        py = (oy + reals[DIRECTION + LANES + lane] * t) + BIAS
        pz = (oz + reals[DIRECTION + 2 * LANES + lane] * t) + BIAS
        hx, hy, hz = ((px - BIAS) - ox) * ix, ((py - BIAS) - oy) * iy, ((pz - BIAS) - oz) * iz
        nx = bits_of(px) - (0 if hx <= t else 1)
        ny = bits_of(py) - (0 if (hy < t) | ((hy <= t) & not_x) else 1)
        nz = bits_of(pz) - (0 if (hz < t) | ((hz <= t) & is_z) else 1)
        nx = nx if nx > x else x
        ny = ny if ny > y else y
        nz = nz if nz > z else z
        outside = (
            (wholes[LAST + lane] - nx)
            | (wholes[LAST + LANES + lane] - ny)
            | (wholes[LAST + 2 * LANES + lane] - nz)
        ) < 0
        state, entered = wholes[STATE + lane], reals[TIME + lane]
        hit = (((word >> bit) & ONE) != EMPTY) & (entered >= stops_after)
        over = (t >= reals[REACH + lane]) | outside
        ends = HIT if hit else (OVER if over else RUNNING)
        ends = ends if state == RUNNING else state
        goes = ends == RUNNING
        wholes[UNKNOWN + lane] += 1 if ((rest & LOW) == _UNKNOWN) & (state == RUNNING) else 0
        wholes[STATE + lane] = ends
        reals[TIME + lane] = t if goes else entered
        wholes[CELL + lane] = nx if goes else x
        wholes[CELL + LANES + lane] = ny if goes else y
        wholes[CELL + 2 * LANES + lane] = nz if goes else z
        across_x, across_y = wholes[STRIDE + lane], wholes[STRIDE + LANES + lane]
        across_z, first = wholes[STRIDE + 2 * LANES + lane], wholes[FIRST + lane]
        record = record_of(nx, ny, nz, across_x, across_y, across_z, first)
        was = wholes[RECORD + lane]
        wholes[RECORD + lane] = record if goes else was
        there = brick_in(nx, ny, nz, mirror)
        wholes[BRICK + lane] = there if goes else brick
