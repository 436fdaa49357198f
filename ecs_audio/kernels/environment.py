"""From finished surveys to the sources that waited for them."""

from __future__ import annotations

from ecs_audio.kernels.cache import BEGUN, FINISHED, READY
from ecs_audio.kernels.heap import FIRST, heapify, pop
from ecs_audio.kernels.images import NO_PLANE
from ecs_audio.kernels.jit import F8, F8_1, F8_2, F8_3, I4_1, I8, I8_1, I8_2, I8_3, U1_1, U1_2, Array, kernel
from ecs_audio.kernels.surveys import HITS, segments_left, unseen
from ecs_audio.kernels.tiers import FULL

JUDGED = 48
"""What `judge` leaves in `legs_done`."""


@kernel(I8, I4_1, I8, I8_2, U1_2, I8_1, U1_1)
def finish(
    active: int,
    rows: Array,
    echoes: int,
    done: Array,
    couples: Array,
    legs_done: Array,
    out_state: Array,
) -> None:
    """Mark surveys FINISHED of which every ray was traced.

    rows: (active,). echoes: 1 if echo paths are looked into. done to legs_done: columns of `CacheEntries`.
    """
    for a in range(active):
        row = rows[a]
        if out_state[row] != BEGUN or segments_left(done, row, HITS) + unseen(couples, row) > 0:
            continue
        if not echoes or legs_done[row] == JUDGED:
            out_state[row] = FINISHED


@kernel(
    F8, U1_1, F8_1, F8_1, F8_2, I8_3, F8_3, F8_2,
    U1_1, I4_1, I4_1, F8_1, F8_1, F8_2, I8_3, F8_3, F8_2,
)  # fmt: skip
def adopt(
    time: float,
    state: Array,
    evaluated: Array,
    coupling: Array,
    bearing: Array,
    plane: Array,
    point: Array,
    strength: Array,
    tier: Array,
    survey: Array,
    environment: Array,
    out_age: Array,
    out_coupling: Array,
    out_bearing: Array,
    out_plane: Array,
    out_point: Array,
    out_strength: Array,
) -> None:
    """Give every source the environment it waits for, if it is READY; echoes only to FULL ones.

    time: of this tick [s]. state to strength: columns of `CacheEntries`. The others: (n,) columns of
    `Sources`.
    """
    for i in range(survey.shape[0]):
        row = survey[i]
        taken = row >= 0 and state[row] == READY
        if taken:
            survey[i], environment[i] = -1, row
            out_age[i], out_coupling[i] = time - evaluated[row], coupling[row]
            for axis in range(3):
                out_bearing[i, axis] = bearing[row, axis]
        if tier[i] != FULL:
            for tap in range(out_plane.shape[1]):
                out_plane[i, tap, 0] = NO_PLANE
        elif taken:
            for tap in range(out_plane.shape[1]):
                out_plane[i, tap, 0], out_plane[i, tap, 1] = plane[row, tap, 0], plane[row, tap, 1]
                out_strength[i, tap] = strength[row, tap]
                for axis in range(3):
                    out_point[i, tap, axis] = point[row, tap, axis]


@kernel(I8, I8_3, F8_1, F8_1, I4_1)
def spare_taps(max_taps: int, plane: Array, loudness: Array, keys: Array, items: Array) -> None:
    """Drop the echoes of the quietest sources where more are wanted than may sound.

    plane: (n, 4, 2) wanted planes, updated. loudness: (n,). keys, items: scratch of n or more.
    """
    total, count = 0, FIRST
    for i in range(plane.shape[0]):
        if plane[i, 0, 0] == NO_PLANE:
            continue
        keys[count], items[count] = -loudness[i], i
        count += 1
        for tap in range(plane.shape[1]):
            total += plane[i, tap, 0] != NO_PLANE
    if total <= max_taps:
        return
    heapify(keys, items, count)
    left = max_taps
    while count > 0:
        i = pop(keys, items, count)
        count -= 1
        for tap in range(plane.shape[1]):
            if plane[i, tap, 0] != NO_PLANE:
                if left == 0:
                    plane[i, tap, 0] = NO_PLANE
                else:
                    left -= 1
