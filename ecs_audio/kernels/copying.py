"""The acoustic copy is made from a world, and kept in step with its edits."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.cubes import all_cubes, cube_of, cubes_around, set_cube
from ecs_audio.kernels.jit import I8, I8_2, Array, kernel, law
from ecs_audio.kernels.sections import (
    ABSENT_ROW,
    AIR_ROW,
    ALL,
    EMPTY,
    FULL_ROW,
    LOW,
    MIXED,
    NEWER,
    OLDER,
    ONE,
    OPEN,
    OWN_ROWS,
    OWNER,
    SECTIONS,
    TAKEN,
    UNKNOWN,
    UNKNOWN_ROW,
    Sections,
    brick_of,
    move_row,
)

AT_ONCE = 8
"""So many sections may change before all cubes are found anew, and one more for 1024 in the world."""


@law
def shared_row(slots: Array, cells: Array, kind: Array, place: int) -> int:
    """Row of a section that has none of its own."""
    slot = np.int64(slots[place])
    row = UNKNOWN_ROW if slot == UNKNOWN else (AIR_ROW if kind[max(-2 - slot, 0)] == OPEN else FULL_ROW)
    if slot >= 0:
        cell, last = slot << 12, (slot << 12) + 4095
        while cell < last and kind[cells[cell]] == OPEN:
            cell += 1
        row = AIR_ROW if kind[cells[cell]] == OPEN else ABSENT_ROW
    return row


@law
def copy_all(sections: Sections) -> None:
    """Make the records of all sections; bits are derived when a ray needs them."""
    records, bits, rows, state = sections.records, sections.bits, sections.rows, sections.state
    for k in range(64):
        bits[64 * AIR_ROW + k], bits[64 * FULL_ROW + k] = EMPTY, ALL
        bits[64 * UNKNOWN_ROW + k], bits[64 * ABSENT_ROW + k] = EMPTY, EMPTY
    for row in range(rows.shape[1]):
        rows[OWNER, row] = -1
    rows[NEWER, 0], rows[OLDER, 0], state[TAKEN], state[MIXED] = 0, 0, OWN_ROWS, 0
    for place in range(records.shape[0] >> 1):
        row = shared_row(sections.slots, sections.cells, sections.kind, place)
        state[MIXED] += 1 if row == ABSENT_ROW else 0
        records[2 * place] = ALL if (row == FULL_ROW) | (row == ABSENT_ROW) else EMPTY
        records[2 * place + 1] = np.uint64(row)
    all_cubes(records, state)


@law
def copy_bricks(sections: Sections, place: int, row: int, low: int, high: int) -> int:
    """Which bricks of a mixed section are not empty, after its cells from `low` to `high` changed.

    low, high: cells as they are numbered in a section. ALL also stands for not known, where bits are absent.
    """
    cells, kind, mask = sections.cells, sections.kind, sections.records[2 * place]
    if row == FULL_ROW or (row == ABSENT_ROW and mask == ALL):
        mask = ALL if shared_row(sections.slots, cells, kind, place) == ABSENT_ROW else EMPTY
    else:
        start = np.int64(sections.slots[place]) << 12
        for y in range(low >> 10, (high >> 10) + 1):
            for z in range((low >> 6) & 3, ((high >> 6) & 3) + 1):
                for x in range((low >> 2) & 3, ((high >> 2) & 3) + 1):
                    brick = (y << 4) | (z << 2) | x
                    word = brick_of(cells, kind, start, brick)
                    if row >= OWN_ROWS:
                        sections.bits[(row << 6) | brick] = word
                    bit = ONE << np.uint64(brick)
                    mask = (mask & ~bit) | (bit if word != EMPTY else EMPTY)
    return mask


@law
def copy_section(sections: Sections, place: int, low: int, high: int) -> bool:
    """Bring one section into step; whether it was or is empty and is another kind than before."""
    records, rows = sections.records, sections.rows
    was = np.int64(records[2 * place + 1] & LOW)
    if sections.slots[place] >= 0:
        mask = copy_bricks(sections, place, was, low, high)
        row = AIR_ROW if mask == EMPTY else (was if was >= OWN_ROWS else ABSENT_ROW)
    else:
        row = shared_row(sections.slots, sections.cells, sections.kind, place)
        mask = ALL if row == FULL_ROW else EMPTY
    was_empty = records[2 * place] == EMPTY
    records[2 * place] = mask
    if row != was:
        sections.state[MIXED] += (1 if row >= ABSENT_ROW else 0) - (1 if was >= ABSENT_ROW else 0)
        if was >= OWN_ROWS:
            rows[OWNER, was] = -1
            move_row(rows, was, np.int64(0))
        records[2 * place + 1] = (records[2 * place + 1] & ~LOW) | np.uint64(row)
    return row != was and (was_empty or mask == EMPTY)


@kernel(SECTIONS, I8_2, I8, I8)
def copy_world(sections: Sections, edits: Array, since: int, until: int) -> int:
    """Bring into step what edits touched; returns how many sections became, or were, empty or unknown.

    edits: (ring, 6) half-open boxes of cells; the one that made revision r lies at (r - 1) % ring.
    since: the revision of the copy, -1 to make it from nothing. until: the world's revision.
    """
    records, box = sections.records, sections.state
    changed, at_once = 0, AT_ONCE + (records.shape[0] >> 11)
    if since < 0:
        copy_all(sections)
        since = until
    for revision in range(since, until):
        e = revision % edits.shape[0]
        x0, y0, z0 = edits[e, 0], edits[e, 1], edits[e, 2]
        x1, y1, z1 = edits[e, 3] - 1, edits[e, 4] - 1, edits[e, 5] - 1
        for i in range(x0 >> 4, (x1 >> 4) + 1):
            for j in range(y0 >> 4, (y1 >> 4) + 1):
                for k in range(z0 >> 4, (z1 >> 4) + 1):
                    low = (max(y0 - 16 * j, 0) << 8) | (max(z0 - 16 * k, 0) << 4) | max(x0 - 16 * i, 0)
                    high = (min(y1 - 16 * j, 15) << 8) | (min(z1 - 16 * k, 15) << 4) | min(x1 - 16 * i, 15)
                    place = i - (box[0] >> 4)
                    place = (place * box[4] + j - (box[1] >> 4)) * box[5] + k - (box[2] >> 4)
                    was_empty = records[2 * place] == EMPTY
                    if copy_section(sections, place, low, high):
                        changed += 1
                        for octant in range(8):
                            set_cube(records, place, octant, cube_of(records, box, place, octant))
                        if changed <= at_once:
                            if was_empty:
                                cubes_around(records, box, place, was_empty)
                            if records[2 * place] == EMPTY:
                                cubes_around(records, box, place, records[2 * place] != EMPTY)
    if changed > at_once:
        all_cubes(records, box)
    return changed
