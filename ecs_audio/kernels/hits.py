"""What rays hit, followed from hit to hit by mirror reflection."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import F8_1, F8_2, I4_1, I8, I8_1, I8_2, Array, kernel, law
from ecs_audio.kernels.lanes import (
    BAD,
    BEGAN,
    BRICK,
    DIRECTION,
    FOR_LANE,
    HIT,
    HITS,
    IDLE,
    IDLE_LANES,
    INVERSE,
    LANES,
    LOOKUP,
    MASK,
    ORIGIN,
    OVER,
    OWN,
    PENDING,
    POSITIVE,
    RAY,
    REACH,
    RECORD,
    RUNNING,
    STATE,
    TARGET,
    TIME,
    UNKNOWN,
    WAITING_REALS,
    cell_of,
    flip_of,
    lie_down,
    mirrored_cell,
    not_running,
)
from ecs_audio.kernels.launch import NOT_YET, leaves_world, start
from ecs_audio.kernels.sections import (
    CALLS,
    EMPTY,
    FLUID,
    HALF,
    MIXED,
    ONE,
    OWN_ROWS,
    SECTIONS,
    Sections,
    material_in,
)
from ecs_audio.kernels.steps import (
    advance,
    derive_absent,
    fetch,
    fetch_bits,
    fetch_one,
    look_ahead,
    look_ahead_bits,
    touch,
)
from ecs_audio.kernels.walk import INF

MISS, REFUSED = -1, -2
OFF_SURFACE = 1e-3
"""A reflected ray begins so far before the face [m]."""


@law
def within(p: float, low: float, high: float) -> float:
    """A coordinate held between two others."""
    p = p if p > low else low
    return p if p < high else high


@law
def meets(reals: Array, wholes: Array, lane: int, axis: int, t: float) -> int:
    """Whether a ray enters its cell at time t along an axis."""
    k = axis * LANES + lane
    cell = mirrored_cell(reals, wholes, lane, axis)
    return 1 if (cell - reals[ORIGIN + k]) * reals[INVERSE + k] == t else 0


@law
def look_up(wholes: Array, cells: Array, count: int, out_material: Array) -> None:
    """Write the materials of hits, many at once: then memory is asked for all before the first answers."""
    for k in range(count):
        at = wholes[LOOKUP + k]
        mixed = np.int64(cells[at if at > 0 else 0])
        out_material[wholes[TARGET + k]] = mixed if at >= 0 else -2 - (at >> 12)


@kernel(SECTIONS, I8, I8, F8_2, F8_2, F8_1, I8_1, I8_1, I8_1, I4_1, I4_1, F8_1, I8_1, I8_2, F8_2, I8_1)
def trace_hits(
    sections: Sections,
    count: int,
    max_cells: int,
    origin: Array,
    direction: Array,
    reach: Array,
    segments: Array,
    first: Array,
    out_found: Array,
    out_cells: Array,
    out_unknown: Array,
    out_time: Array,
    out_face: Array,
    out_cell: Array,
    out_point: Array,
    out_material: Array,
) -> int:
    """Follow the first `count` rays from hit to hit; returns how many were traced, always a prefix.

    max_cells: no further ray starts once so many cells were looked at; those in flight are finished.
    origin, direction: (n, 3) [m]; afterwards where each ray would go on: reflected, 1 mm before the face.
    reach: (n,) longest way between two hits [lengths of direction].
    segments, first: (n,) hits wanted, and where they begin in the arrays of hits.
    out_found, out_cells, out_unknown: (n,) hits made, cells looked at (an empty cube counts as one), and
    those of them that are not loaded; leaving the world counts as one such.
    out_time, out_face, out_cell, out_point, out_material: way from the hit before [lengths of direction], 2 x
    axis + 1 if the ray came travelling downwards, cell, point on the face [m], material. Behind the last
    hit time is inf and the face MISS, or REFUSED for a ray that is not finite or does not move. Where
    `out_point` has no rows, only times and faces are wanted: cells, points and materials are not written,
    and a ray's last hit does not reflect it.
    """
    records, bits, rows, box = sections.records, sections.bits, sections.rows, sections.state
    slots, cells, kind = sections.slots, sections.cells, sections.kind
    reals, wholes, words = sections.reals, sections.wholes, sections.words
    size = sections.cell_size
    off = min(OFF_SURFACE / size, 0.5)
    touching = box[MIXED] > rows.shape[1] - OWN_ROWS
    places = out_point.shape[0] > 0
    box[CALLS] += 1
    lie_down(wholes, box)
    started, spent, pending, turn = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while True:
        while True:
            waiting, idle = 0, not_running(wholes)
            running = LANES - idle
            for e in range(idle):
                lane = wholes[IDLE_LANES + e] & (LANES - 1)
                ends = wholes[STATE + lane]
                ray, segment = wholes[RAY + lane] & POSITIVE, wholes[HITS + lane]
                if ends == HIT:
                    if wholes[OWN + lane] >= 0:
                        x, y, z = cell_of(wholes, lane, 0), cell_of(wholes, lane, 1), cell_of(wholes, lane, 2)
                        met = material_in(slots, cells, (wholes[RECORD + lane] & HALF) >> 1, x, y, z)
                        if met == wholes[OWN + lane]:  # the fluid that the ray began in
                            reals[TIME + lane] = NOT_YET
                            wholes[STATE + lane] = RUNNING
                            running += 1
                            continue
                    a = (first[ray] + segment) & POSITIVE
                    t = reals[TIME + lane]
                    axis = meets(reals, wholes, lane, 1, t) + meets(reals, wholes, lane, 2, t) * 2
                    axis = 2 if axis == 3 else axis  # of crossings at the same time the last one
                    out_time[a], out_face[a] = t, 2 * axis - flip_of(wholes, lane, axis)
                    if places:
                        x, y, z = cell_of(wholes, lane, 0), cell_of(wholes, lane, 1), cell_of(wholes, lane, 2)
                        out_cell[a, 0], out_cell[a, 1], out_cell[a, 2] = box[0] + x, box[1] + y, box[2] + z
                        slot = np.int64(slots[(wholes[RECORD + lane] & HALF) >> 1])
                        wholes[TARGET + pending] = a
                        wholes[LOOKUP + pending] = (slot << 12) | ((y & 15) << 8) | ((z & 15) << 4) | (x & 15)
                        pending += 1
                        if pending == PENDING:
                            look_up(wholes, cells, pending, out_material)
                            pending = np.int64(0)
                    segment += 1
                    wholes[HITS + lane] = segment
                    if places or segment < segments[ray]:
                        for other in range(3):
                            k = other * LANES + lane
                            cell = mirrored_cell(reals, wholes, lane, other)
                            across = reals[ORIGIN + k] + reals[DIRECTION + k] * t
                            margin = 1e-6 + 1e-15 * abs(cell)
                            p = within(across, cell, cell + 1.0)
                            q = within(across, cell + margin, cell + 1.0 - margin)
                            p, q = (cell, cell - off) if other == axis else (p, q)
                            sign = size * (1 + 2 * flip_of(wholes, lane, other))
                            origin[ray, other] = q * sign
                            if places:
                                out_point[a, other] = p * sign
                        direction[ray, axis] = -direction[ray, axis]
                elif ends != IDLE:
                    if ends == OVER and leaves_world(reals, wholes, lane):
                        wholes[UNKNOWN + lane] += 1
                    behind = first[ray] & POSITIVE
                    for a in range(behind + segment, behind + segments[ray]):
                        out_time[a] = INF
                        out_face[a] = REFUSED if ends == BAD else MISS
                if ends != HIT or segment >= segments[ray]:
                    if ends != IDLE:
                        out_found[ray] = segment
                        out_cells[ray] = turn - wholes[BEGAN + lane]
                        out_unknown[ray] = wholes[UNKNOWN + lane]
                        wholes[STATE + lane] = IDLE
                    while started < count and segments[started] <= 0 and spent < max_cells:
                        out_found[started], out_cells[started], out_unknown[started] = 0, 0, 0
                        started += 1
                    if started >= count or spent >= max_cells:
                        continue
                    ray = started & POSITIVE
                    started += 1
                    wholes[RAY + lane], wholes[HITS + lane] = ray, 0
                    wholes[BEGAN + lane], wholes[UNKNOWN + lane] = turn, 0
                wholes[FOR_LANE + waiting] = lane
                reals[WAITING_REALS + REACH + waiting] = reach[ray]
                for axis in range(3):
                    k = WAITING_REALS + axis * LANES + waiting
                    reals[ORIGIN + k], reals[DIRECTION + k] = origin[ray, axis], direction[ray, axis]
                    if size != 1.0:
                        reals[ORIGIN + k] /= size
                        reals[DIRECTION + k] /= size
                waiting += 1
            absent = fetch(records, wholes, words)
            look_ahead_bits(bits, words)
            begun = start(reals, wholes, waiting)
            running += begun
            for slot in range(waiting):
                lane = wholes[FOR_LANE + slot] & (LANES - 1)
                wholes[OWN + lane] = -1
                if wholes[STATE + lane] != RUNNING:
                    continue
                absent |= fetch_one(records, wholes, words, lane)
                brick = np.uint64(wholes[BRICK + lane])
                if (words[MASK + lane] >> brick) & ONE != EMPTY and reals[TIME + lane] < 0.0:
                    x, y, z = cell_of(wholes, lane, 0), cell_of(wholes, lane, 1), cell_of(wholes, lane, 2)
                    own = material_in(slots, cells, (wholes[RECORD + lane] & HALF) >> 1, x, y, z)
                    wholes[OWN + lane] = own if kind[own] == FLUID else -1
            if begun == waiting:
                break
        if running == 0:
            break
        while absent != EMPTY:
            derive_absent(sections)
            absent = fetch(records, wholes, words)
        fetch_bits(bits, words)
        if touching:
            touch(rows, box[CALLS], words)
        advance(reals, wholes, words, 0.0)
        look_ahead(records, wholes)
        spent += running
        turn += 1
    look_up(wholes, cells, pending, out_material)
    return started
