"""What a path through the world lets pass: occlusion per metre times the chord in every cell."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import F8_1, F8_2, I4_1, I8, I8_2, Array, kernel, law
from ecs_audio.kernels.lanes import (
    BEGAN,
    BURIED,
    DIRECTION,
    FOR_LANE,
    HIT,
    HIT_LANES,
    HITS,
    IDLE,
    IDLE_LANES,
    INVERSE,
    LANES,
    LENGTH,
    LOOKUP,
    ORIGIN,
    OVER,
    OWN,
    POSITIVE,
    RAY,
    REACH,
    RECORD,
    RUNNING,
    STATE,
    SUM,
    THERE,
    TIME,
    UNKNOWN,
    WAITING_REALS,
    cell_of,
    lie_down,
    mirrored_cell,
    not_running,
)
from ecs_audio.kernels.launch import leaves_world, start
from ecs_audio.kernels.sections import (
    CALLS,
    EMPTY,
    FLUID,
    HALF,
    MIXED,
    OWN_ROWS,
    SECTIONS,
    SOLID,
    Sections,
    material_at,
    material_in,
)
from ecs_audio.kernels.steps import advance, derive_absent, fetch, fetch_bits, find_hits, look_ahead, touch
from ecs_audio.kernels.walk import INF, start_cell, step_of

ENOUGH = 64.0
"""Occlusion at which a path is as good as closed: exp(-192)."""
LISTENER_END, SOURCE_END = np.int64(0), np.int64(3)
"""Where the cells of both ends begin in a row of `own`."""
BLOCKED_END = -1.0
"""Transmission of a path that has an end in a wall."""


@law
def transmission(occlusion: float) -> float:
    """Amplitude at 5 kHz relative to low frequencies, exp(-3 occ) (constant of Sound Physics Remastered)."""
    return math.exp(-3.0 * occlusion)


@law
def longest_solid(cell_size: float) -> int:
    """Solid cells that count on one path: 16 m of them, at least 16."""
    return max(16, math.ceil(16.0 / cell_size))


@law
def end_cell(p: float, toward: float) -> int:
    """Cell of an end along an axis [cells], seen from the other end; 0 for what no world can hold."""
    return start_cell(p, step_of(toward - p)) if abs(p) < 1e12 and abs(toward) < 1e12 else 0


@law
def in_wall(end: Array, toward: Array, own: Array, first: int, ray: int, sections: Sections) -> bool:
    """Whether a shifted end lies in a wall. The cell of the unshifted one, own[ray, first:], is none."""
    x = end_cell(end[ray, 0], toward[ray, 0])
    y = end_cell(end[ray, 1], toward[ray, 1])
    z = end_cell(end[ray, 2], toward[ray, 2])
    if x == own[ray, first] and y == own[ray, first + 1] and z == own[ray, first + 2]:
        return False
    material = material_at(sections.state, sections.slots, sections.cells, x, y, z)
    return sections.kind[material] == SOLID


@law
def same_ends(own: Array, one: int, other: int) -> bool:
    """Whether two paths have their unshifted ends in the same cells."""
    same = True
    for k in range(6):
        same &= own[one, k] == own[other, k]
    return same


@kernel(SECTIONS, I8, I8, I4_1, F8_2, F8_2, I8_2, F8_1, I4_1, I4_1)
def trace_paths(
    sections: Sections,
    count: int,
    max_cells: int,
    path: Array,
    ear: Array,
    mouth: Array,
    own: Array,
    out_transmission: Array,
    out_cells: Array,
    out_unknown: Array,
) -> int:
    """Transmission along the first `count` direct paths; returns how many were traced, always a prefix.

    The cells of the unshifted ends never count. If the listener's is solid, the run of solid next to it does
    not count either. A fluid that holds one of the ends is passed like air.
    max_cells: no further path starts once so many cells were looked at; those in flight are finished.
    path: (n,) 0 for a straight path. ear, mouth: (n, 3) the listener's and the source's end [cells].
    own: (n, 6) cells of the unshifted listener and source.
    out_transmission: (n,) 0 to 1, or BLOCKED_END where a shifted end lies in a wall.
    out_cells, out_unknown: (n,) cells looked at (an empty cube counts as one), and those not loaded.
    """
    records, bits, rows, box = sections.records, sections.bits, sections.rows, sections.state
    slots, cells, kind, occlusion = sections.slots, sections.cells, sections.kind, sections.occlusion
    reals, wholes, words = sections.reals, sections.wholes, sections.words
    size = sections.cell_size
    limit = longest_solid(size)
    touching = box[MIXED] > rows.shape[1] - OWN_ROWS
    box[CALLS] += 1
    lie_down(wholes, box)
    started, spent, turn = np.int64(0), np.int64(0), np.int64(0)
    known, here, there = np.int64(-1), np.int64(0), np.int64(0)
    while True:
        while True:
            waiting, idle = 0, not_running(wholes)
            running = LANES - idle
            for e in range(idle):
                lane = wholes[IDLE_LANES + e] & (LANES - 1)
                ends = wholes[STATE + lane]
                if ends != IDLE:
                    ray = wholes[RAY + lane] & POSITIVE
                    if ends == OVER and leaves_world(reals, wholes, lane):
                        wholes[UNKNOWN + lane] += 1
                    out_transmission[ray] = transmission(reals[SUM + lane])
                    out_cells[ray] = turn - wholes[BEGAN + lane]
                    out_unknown[ray] = wholes[UNKNOWN + lane]
                    wholes[STATE + lane] = IDLE
                walled = True
                while walled and started < count and spent < max_cells:
                    ray = started & POSITIVE
                    started += 1
                    along = 0.0
                    for axis in range(3):
                        p, q = ear[ray, axis], mouth[ray, axis]
                        k = WAITING_REALS + axis * LANES + waiting
                        reals[ORIGIN + k], reals[DIRECTION + k] = p, q - p
                        along += (q - p) * (q - p)
                    walled = path[ray] > 0 and (
                        in_wall(ear, mouth, own, LISTENER_END, ray, sections)
                        or in_wall(mouth, ear, own, SOURCE_END, ray, sections)
                    )
                    if walled:
                        out_transmission[ray], out_cells[ray], out_unknown[ray] = BLOCKED_END, 0, 0
                        continue
                    reals[WAITING_REALS + REACH + waiting] = 1.0
                    reals[SUM + lane], reals[LENGTH + lane] = 0.0, math.sqrt(along) * size
                    wholes[RAY + lane], wholes[BEGAN + lane], wholes[UNKNOWN + lane] = ray, turn, 0
                    wholes[HITS + lane] = 0
                    if known < 0 or not same_ends(own, known, ray):  # a bundle looks up its ends once
                        here = material_at(box, slots, cells, own[ray, 0], own[ray, 1], own[ray, 2])
                        there = material_at(box, slots, cells, own[ray, 3], own[ray, 4], own[ray, 5])
                        known = ray
                    wholes[BURIED + lane] = 1 if kind[here] == SOLID else 0
                    wholes[OWN + lane] = here if kind[here] == FLUID else -1
                    wholes[THERE + lane] = there if kind[there] == FLUID else -1
                    wholes[FOR_LANE + waiting] = lane
                    waiting += 1
            begun = start(reals, wholes, waiting)
            running += begun
            for slot in range(waiting):
                lane = wholes[FOR_LANE + slot] & (LANES - 1)
                if wholes[STATE + lane] == RUNNING and reals[TIME + lane] >= 0.0:
                    wholes[BURIED + lane] = 0
                reals[TIME + lane] = max(reals[TIME + lane], 0.0)
            if begun == waiting:
                break
        if running == 0:
            break
        while fetch(records, wholes, words) != EMPTY:
            derive_absent(sections)
        fetch_bits(bits, words)
        if touching:
            touch(rows, box[CALLS], words)
        found = find_hits(wholes, words)
        for h in range(found):  # a loop of its own: then memory is asked for all before the first answers
            lane = wholes[HIT_LANES + h] & (LANES - 1)
            x, y, z = cell_of(wholes, lane, 0), cell_of(wholes, lane, 1), cell_of(wholes, lane, 2)
            record = wholes[RECORD + lane] & HALF
            wholes[LOOKUP + h] = material_in(slots, cells, record >> 1, x, y, z)
        for h in range(found):
            lane, material = wholes[HIT_LANES + h] & (LANES - 1), wholes[LOOKUP + h] & POSITIVE
            if kind[material] != SOLID:
                wholes[BURIED + lane] = 0
            if wholes[BURIED + lane] != 0 or material in (wholes[OWN + lane], wholes[THERE + lane]):
                continue
            ray = wholes[RAY + lane] & POSITIVE
            x, y, z = cell_of(wholes, lane, 0), cell_of(wholes, lane, 1), cell_of(wholes, lane, 2)
            x, y, z = x + box[0], y + box[1], z + box[2]
            if (x == own[ray, 0] and y == own[ray, 1] and z == own[ray, 2]) or (
                x == own[ray, 3] and y == own[ray, 4] and z == own[ray, 5]
            ):
                continue
            left = 1.0
            for axis in range(3):
                k = axis * LANES + lane
                edge = mirrored_cell(reals, wholes, lane, axis) + 1.0
                crossed = (edge - reals[ORIGIN + k]) * reals[INVERSE + k]
                left = crossed if crossed < left else left
            reals[SUM + lane] += occlusion[material] * ((left - reals[TIME + lane]) * reals[LENGTH + lane])
            wholes[HITS + lane] += 1
            if wholes[HITS + lane] >= limit or reals[SUM + lane] > ENOUGH:
                wholes[STATE + lane] = HIT
        advance(reals, wholes, words, INF)
        look_ahead(records, wholes)
        spent += running
        turn += 1
    return started
