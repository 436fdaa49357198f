"""A step of all rays in flight: look up what is around them, then leap to the end of what is empty."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.lanes import (
    BASE,
    BEFORE,
    BOX,
    BURIED,
    CELL,
    COUNT,
    DIRECTION,
    FLIP,
    HIT,
    HIT_HERE,
    INVERSE,
    LANES,
    MASK,
    OCTANT,
    ONE_UNKNOWN,
    ORIGIN,
    OVER,
    PLACE,
    REACH,
    RECORD,
    RELATIVE,
    REST,
    RUNNING,
    STATE,
    TIME,
    WORD,
)
from ecs_audio.kernels.sections import (
    ABSENT_ROW,
    EMPTY,
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
_HALF = 0xFFFF_FFFF


@law
def fetch(records: Array, bits: Array, wholes: Array, words: Array) -> int:
    """Look up record and word of bits for the cell of every lane; not zero if bits are absent."""
    for lane in range(LANES):
        record = np.uint64(wholes[RECORD + lane])
        words[MASK + lane] = records[record]
        words[REST + lane] = records[record + ONE]
    absent = EMPTY
    for lane in range(LANES):
        x = wholes[RELATIVE + lane] ^ wholes[FLIP + lane]
        y = wholes[RELATIVE + LANES + lane] ^ wholes[FLIP + LANES + lane]
        z = wholes[RELATIVE + 2 * LANES + lane] ^ wholes[FLIP + 2 * LANES + lane]
        brick = np.uint64(((x >> 2) & 3) | (z & 12) | (((y >> 2) & 3) << 4))
        filled = (words[MASK + lane] >> brick) & ONE
        row = words[REST + lane] & LOW
        words[PLACE + lane] = ((row << SIX) + brick) & (EMPTY - filled)
        missing = ONE if (row == _ABSENT) & (wholes[STATE + lane] == RUNNING) else EMPTY
        absent |= filled & missing
    for lane in range(LANES):
        words[WORD + lane] = bits[words[PLACE + lane]]
    return absent


@law
def derive_absent(sections: Sections) -> None:
    """Derive the bits that `fetch` missed."""
    for lane in range(LANES):
        record = sections.wholes[RECORD + lane]
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
    """Mark the running lanes whose cell can be hit; the others are buried no more. Not zero if any are."""
    found = 0
    for lane in range(LANES):
        x = wholes[RELATIVE + lane] ^ wholes[FLIP + lane]
        y = wholes[RELATIVE + LANES + lane] ^ wholes[FLIP + LANES + lane]
        z = wholes[RELATIVE + 2 * LANES + lane] ^ wholes[FLIP + 2 * LANES + lane]
        brick = np.uint64(((x >> 2) & 3) | (z & 12) | (((y >> 2) & 3) << 4))
        bit = np.uint64((x & 3) | ((z & 3) << 2) | ((y & 3) << 4))
        is_hit = np.int64((words[WORD + lane] >> bit) & (words[MASK + lane] >> brick) & ONE)
        hit = is_hit if wholes[STATE + lane] == RUNNING else 0
        wholes[BURIED + lane] &= -is_hit
        wholes[HIT_HERE + lane] = hit
        found |= hit
    return found


@law
def advance(reals: Array, wholes: Array, words: Array, stops_after: float) -> int:
    """Let every running lane take a step; returns how many took one.

    stops_after: a lane that entered a cell that can be hit at this time or later becomes HIT and stays there.
    """
    across_y, across_z = wholes[BOX + 4] & _HALF, wholes[BOX + 5] & _HALF
    top_x, top_y, top_z = (wholes[BOX + 3] << 4) - 1, (wholes[BOX + 4] << 4) - 1, (wholes[BOX + 5] << 4) - 1
    running = 0
    for lane in range(LANES):
        x, y, z = (
            wholes[RELATIVE + lane],
            wholes[RELATIVE + LANES + lane],
            wholes[RELATIVE + 2 * LANES + lane],
        )
        flip_x, flip_y, flip_z = (
            wholes[FLIP + lane],
            wholes[FLIP + LANES + lane],
            wholes[FLIP + 2 * LANES + lane],
        )
        rx, ry, rz = x ^ flip_x, y ^ flip_y, z ^ flip_z
        brick = np.uint64(((rx >> 2) & 3) | (rz & 12) | (((ry >> 2) & 3) << 4))
        bit = np.uint64((rx & 3) | ((rz & 3) << 2) | ((ry & 3) << 4))
        mask, word, rest = words[MASK + lane], words[WORD + lane], words[REST + lane]
        filled = (mask >> brick) & ONE
        # How many cells around this one are empty: of 8 aligned bricks, the brick, 8 aligned cells, itself.
        near = 1 if ((word >> (bit & _EVEN)) & _GROUP) == EMPTY else 0
        far = 7 if ((mask >> (brick & _EVEN)) & _GROUP) == EMPTY else 3
        aside = near if filled != EMPTY else far
        cube = np.int64((rest >> np.uint64(wholes[OCTANT + lane])) & _NIBBLE) << 4
        aside = 15 if mask == EMPTY else aside
        more = cube - 15 if mask == EMPTY else 1
        ox, oy, oz = reals[ORIGIN + lane], reals[ORIGIN + LANES + lane], reals[ORIGIN + 2 * LANES + lane]
        ix, iy, iz = reals[INVERSE + lane], reals[INVERSE + LANES + lane], reals[INVERSE + 2 * LANES + lane]
        base_x, base_y, base_z = (
            reals[BASE + lane],
            reals[BASE + LANES + lane],
            reals[BASE + 2 * LANES + lane],
        )
        tx = ((np.float64(np.int32((x | aside) + more)) + base_x) - ox) * ix
        ty = ((np.float64(np.int32((y | aside) + more)) + base_y) - oy) * iy
        tz = ((np.float64(np.int32((z | aside) + more)) + base_z) - oz) * iz
        tyz = ty if ty < tz else tz
        t = tx if tx < tyz else tyz
        not_x = tx > tyz
        is_z = not_x & (ty > tz)
        # Cells at time t: a guess that is right or one too low, and whether the next crossing has happened.
        qx = np.floor(reals[BEFORE + lane] + reals[DIRECTION + lane] * t)
        qy = np.floor(reals[BEFORE + LANES + lane] + reals[DIRECTION + LANES + lane] * t)
        qz = np.floor(reals[BEFORE + 2 * LANES + lane] + reals[DIRECTION + 2 * LANES + lane] * t)
        hx, hy, hz = (qx + 1.0 - ox) * ix, (qy + 1.0 - oy) * iy, (qz + 1.0 - oz) * iz
        qx += 1.0 if hx <= t else 0.0
        qy += 1.0 if (hy < t) | ((hy <= t) & not_x) else 0.0
        qz += 1.0 if (hz < t) | ((hz <= t) & is_z) else 0.0
        was_x, was_y, was_z = reals[CELL + lane], reals[CELL + LANES + lane], reals[CELL + 2 * LANES + lane]
        qx = qx if qx > was_x else was_x
        qy = qy if qy > was_y else was_y
        qz = qz if qz > was_z else was_z
        nx = np.int64(np.int32(qx - base_x))
        ny = np.int64(np.int32(qy - base_y))
        nz = np.int64(np.int32(qz - base_z))
        rx, ry, rz = nx ^ flip_x, ny ^ flip_y, nz ^ flip_z
        outside = (rx | ry | rz | (top_x - rx) | (top_y - ry) | (top_z - rz)) < 0
        state, entered = wholes[STATE + lane], reals[TIME + lane]
        hit = (((word >> bit) & filled) != EMPTY) & (entered >= stops_after)
        over = (t >= reals[REACH + lane]) | outside
        ends = HIT if hit else (OVER if over else RUNNING)
        ends = ends if state == RUNNING else state
        goes = ends == RUNNING
        count = wholes[COUNT + lane]
        unknown = ONE_UNKNOWN + 1 if (rest & LOW) == _UNKNOWN else 1
        running += 1 if state == RUNNING else 0
        wholes[COUNT + lane] = count + unknown if state == RUNNING else count
        wholes[STATE + lane] = ends
        reals[CELL + lane] = qx if goes else was_x
        reals[CELL + LANES + lane] = qy if goes else was_y
        reals[CELL + 2 * LANES + lane] = qz if goes else was_z
        reals[TIME + lane] = t if goes else entered
        wholes[RELATIVE + lane] = nx if goes else x
        wholes[RELATIVE + LANES + lane] = ny if goes else y
        wholes[RELATIVE + 2 * LANES + lane] = nz if goes else z
        place = ((((rx >> 4) & _HALF) * across_y + (ry >> 4)) & _HALF) * across_z + (rz >> 4)
        record = wholes[RECORD + lane]
        wholes[RECORD + lane] = place << 1 if goes else record
    return running
