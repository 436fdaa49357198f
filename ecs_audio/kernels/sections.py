"""How kernels see a world: a small copy of what rays need, beside the world's own cells.

A section of 16 x 16 x 16 cells has a record of 16 bytes: which of its 64 bricks of 4 x 4 x 4 cells hold
anything that can be hit, and how many empty sections lie ahead in each of the eight octants of travel. A
brick has a word of 64 bits. The words are derived from the cells when a ray first needs them, into as many
rows as there is memory for; the row that was not used for longest gives way. Materials are the world's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ecs_audio.kernels.jit import F8, F8_1, I4_1, I8_1, I8_2, U1_1, Array, law

U8_1, U2_1 = types.uint64[::1], types.uint16[::1]

OPEN, SOLID, FLUID = 0, 1, 2

UNKNOWN = -1
"""The world's slot of a section that is not loaded."""

AIR_ROW, FULL_ROW, UNKNOWN_ROW, ABSENT_ROW, OWN_ROWS = 0, 1, 2, 3, 4
"""Rows of `bits` that sections share; a mixed section has one of its own, or none while it is ABSENT."""

EMPTY, ALL = np.uint64(0), np.uint64(0xFFFF_FFFF_FFFF_FFFF)
ONE, SIX, LOW = np.uint64(1), np.uint64(6), np.uint64(0xFFFF_FFFF)

MIXED, TAKEN, CALLS, DERIVED, EVICTED = range(6, 11)
"""Places in `state` behind the box: mixed sections, rows taken, kernel calls, rows derived, rows given up."""
OWNER, USED, NEWER, OLDER = range(4)
"""Lines of `rows`."""

HALF = 0xFFFF_FFFF
"""The bits of a lane's RECORD that count."""


class Sections(NamedTuple):
    """The acoustic copy of a world. Sections are numbered as in the world, the last axis fastest."""

    records: Array
    """uint64 (2 x sections,): bricks that are not empty, bit (x & 3) | (z & 3) << 2 | (y & 3) << 4; then the
    row of `bits` in the low half, and 4 bits for each octant of travel: the side of the empty cube ahead."""
    bits: Array
    """uint64 (64 x rows,): cells that can be hit, for each brick of each row, in the same order of bits."""
    rows: Array
    """int64 (4, rows): section that owns a row, -1 for none; call that used it last; and the rows in a ring
    in the order of use, forwards and backwards, where row 0 stands between the newest and the oldest."""
    state: Array
    """int64 (11,): lowest cell, and sections along each axis; then counts."""
    slots: Array
    """int32 (sections,): the world's own: -1 unknown, a row of `cells`, or -2 - id for a uniform section."""
    cells: Array
    """uint16 (4096 x rows,): the world's own material ids, in y, z, x order."""
    kind: Array
    """uint8 (materials,): OPEN, SOLID or FLUID."""
    occlusion: Array
    """float64 (materials,): occlusion per metre."""
    cell_size: float
    """Edge of a cell [m]."""
    reals: Array
    """Scratch of the rays in flight."""
    wholes: Array
    """Scratch of the rays in flight."""
    words: Array
    """Scratch of the rays in flight."""


SECTIONS = types.NamedTuple(
    (U8_1, U8_1, I8_2, I8_1, I4_1, U2_1, U1_1, F8_1, F8, F8_1, I8_1, U8_1),
    Sections,
)


# Laws that take arrays have one exit, and use every array on every way to it: then numba finds that it need
# not count references, which costs more than the law itself and keeps the processor from looking ahead.


@law
def material_in(slots: Array, cells: Array, place: int, x: int, y: int, z: int) -> int:
    """Material id of a cell of a section; air where it is unknown."""
    slot = np.int64(slots[place])
    mixed = np.int64(cells[(max(slot, 0) << 12) | ((y & 15) << 8) | ((z & 15) << 4) | (x & 15)])
    return mixed if slot >= 0 else (0 if slot == UNKNOWN else -2 - slot)


@law
def material_at(box: Array, slots: Array, cells: Array, x: int, y: int, z: int) -> int:
    """Material id of any cell; air outside the world, too. box: `state`."""
    i, j, k = (x - box[0]) >> 4, (y - box[1]) >> 4, (z - box[2]) >> 4
    inside = (i >= 0) & (i < box[3]) & (j >= 0) & (j < box[4]) & (k >= 0) & (k < box[5])
    place = (i * box[4] + j) * box[5] + k
    material = material_in(slots, cells, place if inside else 0, x, y, z)
    return material if inside else 0


@law
def brick_at(x: int, y: int, z: int) -> int:
    """Bit of a cell's brick in the mask of its section."""
    return np.uint64(((x >> 2) & 3) | (z & 12) | (((y >> 2) & 3) << 4))


@law
def brick_of(cells: Array, kind: Array, start: int, brick: int) -> int:
    """Word of one brick of a section whose cells begin at `start`."""
    first = start + (((brick >> 4) << 10) | (((brick >> 2) & 3) << 6) | ((brick & 3) << 2))
    word = EMPTY
    for k in range(64):
        if kind[cells[first + (((k >> 4) << 8) | (((k >> 2) & 3) << 4) | (k & 3))]] != OPEN:
            word |= ONE << np.uint64(k)
    return word


@law
def move_row(rows: Array, row: int, after: int) -> None:
    """Put a row into the ring of use behind another: 0 makes it the oldest."""
    if row != after:
        rows[NEWER, rows[OLDER, row]], rows[OLDER, rows[NEWER, row]] = rows[NEWER, row], rows[OLDER, row]
        rows[NEWER, row], rows[OLDER, row] = rows[NEWER, after], after
        rows[OLDER, rows[NEWER, after]] = row
        rows[NEWER, after] = row


@law
def take_row(records: Array, rows: Array, state: Array, wholes: Array, first: int, count: int) -> int:
    """A row to write a section's bits to: a fresh one, or else the one not used for longest.

    Sections whose records stand in the low halves of wholes[first : first + count] keep theirs.
    """
    if state[TAKEN] < rows.shape[1]:
        row = state[TAKEN]
        state[TAKEN] += 1
        rows[NEWER, row], rows[OLDER, row] = row, row
    else:
        row, needed = rows[NEWER, 0], True
        while needed:
            needed = False
            for k in range(first, first + count):
                needed |= (wholes[k] & HALF) == 2 * rows[OWNER, row]
            row = rows[NEWER, row] if needed else row
        if rows[OWNER, row] >= 0:
            place = 2 * rows[OWNER, row] + 1
            records[place] = (records[place] & ~LOW) | np.uint64(ABSENT_ROW)
            state[EVICTED] += 1
    move_row(rows, row, rows[OLDER, 0])
    return row


@law
def derive(sections: Sections, place: int, first: int, count: int) -> None:
    """Give a mixed section a row of bits, made from the world's cells; as `take_row`."""
    records, bits, rows, state = sections.records, sections.bits, sections.rows, sections.state
    row = take_row(records, rows, state, sections.wholes, first, count)
    start = np.int64(sections.slots[place]) << 12
    mask = EMPTY
    for brick in range(64):
        word = brick_of(sections.cells, sections.kind, start, brick)
        bits[(row << 6) | brick] = word
        if word != EMPTY:
            mask |= ONE << np.uint64(brick)
    records[2 * place] = mask
    records[2 * place + 1] = (records[2 * place + 1] & ~LOW) | np.uint64(row)
    rows[OWNER, row], rows[USED, row] = place, state[CALLS]
    state[DERIVED] += 1
