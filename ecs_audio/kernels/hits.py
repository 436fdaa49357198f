"""What rays hit, followed from hit to hit by mirror reflection."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import F8_1, F8_2, I4_1, I8, I8_1, I8_2, Array, kernel, law
from ecs_audio.kernels.lanes import (
    AWAY,
    BAD,
    CELL,
    COUNT,
    DIRECTION,
    FLIP,
    HIT,
    HITS,
    IDLE,
    INVERSE,
    LANES,
    LOOKUP,
    NOT_YET,
    ONE_UNKNOWN,
    ORIGIN,
    OUTSIDE,
    OVER,
    OWN,
    PENDING,
    RAY,
    REACH,
    RECORD,
    RELATIVE,
    RUNNING,
    STATE,
    TARGET,
    TIME,
    enter,
    launch,
    leaves_world,
    lie_down,
)
from ecs_audio.kernels.sections import (
    CALLS,
    EMPTY,
    FLUID,
    MIXED,
    ONE,
    OWN_ROWS,
    SECTIONS,
    Sections,
    brick_at,
    material_at,
    material_in,
)
from ecs_audio.kernels.steps import advance, derive_absent, fetch, touch
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
def meets(reals: Array, lane: int, axis: int, t: float) -> int:
    """Whether a ray enters its cell at time t along an axis."""
    k = axis * LANES + lane
    return 1 if (reals[CELL + k] - reals[ORIGIN + k]) * reals[INVERSE + k] == t else 0


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
    hit time is inf and the face MISS, or REFUSED for a ray that is not finite or does not move.
    """
    records, bits, rows, box = sections.records, sections.bits, sections.rows, sections.state
    slots, cells, kind = sections.slots, sections.cells, sections.kind
    reals, wholes, words = sections.reals, sections.wholes, sections.words
    size = sections.cell_size
    off = min(OFF_SURFACE / size, 0.5)
    touching = box[MIXED] > rows.shape[1] - OWN_ROWS
    box[CALLS] += 1
    lie_down(reals, wholes, box)
    started, spent, pending = np.int64(0), np.int64(0), np.int64(0)
    while True:
        running = 0
        for lane in range(LANES):
            ends = wholes[STATE + lane]
            while ends != RUNNING:
                ray, segment = wholes[RAY + lane], wholes[HITS + lane]
                if ends == HIT:
                    a = first[ray] + segment
                    t = reals[TIME + lane]
                    axis = meets(reals, lane, 1, t) + meets(reals, lane, 2, t) * 2
                    axis = 2 if axis == 3 else axis  # of crossings at the same time the last one
                    for k in range(3):
                        out_cell[a, k] = box[k] + (
                            wholes[RELATIVE + k * LANES + lane] ^ wholes[FLIP + k * LANES + lane]
                        )
                    if wholes[OWN + lane] >= 0:
                        met = material_at(box, slots, cells, out_cell[a, 0], out_cell[a, 1], out_cell[a, 2])
                        if met == wholes[OWN + lane]:  # the fluid that the ray began in
                            reals[TIME + lane] = NOT_YET
                            ends = RUNNING
                            wholes[STATE + lane] = ends
                            break
                    x, y, z = out_cell[a, 0] & 15, out_cell[a, 1] & 15, out_cell[a, 2] & 15
                    slot = np.int64(slots[wholes[RECORD + lane] >> 1])
                    wholes[TARGET + pending] = a
                    wholes[LOOKUP + pending] = (slot << 12) | (y << 8) | (z << 4) | x
                    pending += 1
                    if pending == PENDING:
                        look_up(wholes, cells, pending, out_material)
                        pending = np.int64(0)
                    out_time[a] = t
                    out_face[a] = 2 * axis - wholes[FLIP + axis * LANES + lane]
                    for other in range(3):
                        k = other * LANES + lane
                        cell, across = reals[CELL + k], reals[ORIGIN + k] + reals[DIRECTION + k] * t
                        margin = 1e-6 + 1e-15 * abs(cell)
                        p = within(across, cell, cell + 1.0)
                        q = within(across, cell + margin, cell + 1.0 - margin)
                        p, q = (cell, cell - off) if other == axis else (p, q)
                        sign = size * (1 + 2 * wholes[FLIP + k])
                        out_point[a, other], origin[ray, other] = p * sign, q * sign
                        d = direction[ray, other]
                        direction[ray, other] = -d if other == axis else d
                    segment += 1
                    wholes[HITS + lane] = segment
                elif ends != IDLE:
                    if ends == OVER and leaves_world(reals, wholes, lane):
                        wholes[COUNT + lane] += ONE_UNKNOWN
                    for a in range(first[ray] + segment, first[ray] + segments[ray]):
                        out_time[a] = INF
                        out_face[a] = REFUSED if ends == BAD else MISS
                    ends = AWAY
                if ends != HIT or segment >= segments[ray]:
                    if ends != IDLE:
                        out_found[ray] = segment
                        out_cells[ray] = wholes[COUNT + lane] & 0xFFFF_FFFF
                        out_unknown[ray] = wholes[COUNT + lane] >> 32
                    ends = IDLE
                    wholes[STATE + lane] = IDLE
                    if started >= count or spent >= max_cells:
                        break
                    ray, segment = started, np.int64(0)
                    started += 1
                    wholes[RAY + lane], wholes[COUNT + lane] = ray, 0
                    if segments[ray] <= 0:
                        out_found[ray], out_cells[ray], out_unknown[ray] = 0, 0, 0
                        continue
                for k in range(3):
                    reals[ORIGIN + k * LANES + lane] = origin[ray, k]
                    reals[DIRECTION + k * LANES + lane] = direction[ray, k]
                if size != 1.0:
                    for k in range(lane, lane + 3 * LANES, LANES):
                        reals[ORIGIN + k] /= size
                        reals[DIRECTION + k] /= size
                reals[REACH + lane] = reach[ray]
                wholes[HITS + lane] = segment
                ends = launch(reals, wholes, lane)
                if ends == OUTSIDE:
                    ends = enter(reals, wholes, lane)
                wholes[OWN + lane] = -1
                if ends == RUNNING and reals[TIME + lane] < 0.0:
                    x = wholes[RELATIVE + lane] ^ wholes[FLIP + lane]
                    y = wholes[RELATIVE + LANES + lane] ^ wholes[FLIP + LANES + lane]
                    z = wholes[RELATIVE + 2 * LANES + lane] ^ wholes[FLIP + 2 * LANES + lane]
                    if (records[wholes[RECORD + lane]] >> brick_at(x, y, z)) & ONE:
                        own = material_in(slots, cells, wholes[RECORD + lane] >> 1, x, y, z)
                        wholes[OWN + lane] = own if kind[own] == FLUID else -1
            running += 1 if ends == RUNNING else 0
        if running == 0:
            break
        while fetch(records, bits, wholes, words) != EMPTY:
            derive_absent(sections)
        if touching:
            touch(rows, box[CALLS], words)
        spent += advance(reals, wholes, words, 0.0)
    look_up(wholes, cells, pending, out_material)
    return started
