"""Which planes could give a source an echo: those that its environment rays came upon, and those that sound.

Afterwards rays prove what was found here (`proofs.py`), and `judge` chooses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ecs_audio.kernels.images import (
    LENGTH,
    LISTENER,
    NO_PLANE,
    POINT,
    SOURCE,
    VIA,
    gap,
    is_longer,
    plane_met,
    twofold,
)
from ecs_audio.kernels.jit import (
    F8,
    F8_1,
    F8_2,
    F8_3,
    I4_1,
    I8,
    I8_1,
    I8_2,
    I8_3,
    U1_2,
    Array,
    kernel,
    law,
)
from ecs_audio.kernels.surveys import HITS, segments_left, unseen

TAPS = 4
MAX_FIRST, MAX_SECOND = 10, 6
MAX_CANDIDATES = MAX_FIRST + MAX_SECOND
ZERO = np.int64(0)  # a plain 0 as an argument would compile laws twice

# What is offered in turn: taps, the planes of their points, each hit and the pair with the one before, known.
TRAILS_FROM = 2 * TAPS
KNOWN_FROM = TRAILS_FROM + 2 * 16 * 3


class Surveys(NamedTuple):
    """Columns of `CacheEntries` that echoes are sought in, at full capacity."""

    source: Array
    listener: Array
    done: Array
    face: Array
    cell: Array
    point: Array
    material: Array
    couples: Array
    candidates: Array
    candidate_plane: Array
    candidate_point: Array
    legs_done: Array
    leg_time: Array
    leg_face: Array
    leg_cell: Array
    leg_material: Array
    loudness: Array
    sounding_plane: Array
    sounding_point: Array
    plane: Array
    plane_point: Array
    strength: Array


SURVEYS = types.NamedTuple(
    (
        F8_2, F8_2, I8_2, I8_2, I8_3, F8_3, I8_2, U1_2, I8_1, I8_3, F8_3,
        I8_1, F8_2, I8_2, I8_3, I8_2, F8_2, I8_3, F8_3, I8_3, F8_3, F8_2,
    ),
    Surveys,
)  # fmt: skip


@law
def is_listed(i: int, n: int, first: int, second: int, plane: Array) -> bool:
    """Whether a path by these planes is written down already; one through a point never is."""
    c = n if first == POINT else ZERO
    while c < n and (plane[i, c, 0] != first or plane[i, c, 1] != second):
        c += 1
    return c < n


@law
def row_for(i: int, n: int, fixed: int, path: float, twice: bool, plane: Array, length: Array) -> int:
    """Where to write a path down, moving later ones up; -1 if those that are there are longer.

    fixed: the first so many stay. Of equally short ones the latest found goes.
    """
    same, shortest = 0, -1
    for c in range(n):
        if twice == twofold(plane[i, c, 0], plane[i, c, 1]):
            same += 1
            if c >= fixed and (shortest < 0 or length[c] <= length[shortest]):
                shortest = c
    if same < (MAX_SECOND if twice else MAX_FIRST):
        return n
    if shortest < 0 or length[shortest] >= path:
        return -1
    for c in range(shortest, n - 1):
        plane[i, c, 0], plane[i, c, 1], length[c] = plane[i, c + 1, 0], plane[i, c + 1, 1], length[c + 1]
    return n - 1


@kernel(I8, I4_1, F8, F8, I8_1, SURVEYS, F8_1, F8_1)
def find_candidates(
    active: int,
    rows: Array,
    excess: float,
    cell_size: float,
    known: Array,
    e: Surveys,
    way: Array,
    length: Array,
) -> None:
    """Find paths by one or two planes that could be echoes, where all hits of a survey are known.

    The taps that sound come first and stay, with the planes that their points lie on. Then the planes of
    all hits, pairs of planes that one ray bounced off in turn, and planes that the listener's probe knows.
    Of these the longest paths remain, at most 10 by one plane and 6 by two.

    rows: (active,) of `CacheEntries`. known: (k,) planes of the listener's probe, or NO_PLANE.
    excess: by how much an echo's path is longer than the direct one, at least [m]. cell_size: [m].
    e: `candidates` (-1 until then), `candidate_plane` and `candidate_point` are written.
    way: (19,), length: (16,) scratch.
    """
    source, listener, done, couples = e.source, e.listener, e.done, e.couples
    face, cell = e.face, e.cell
    sounding, sounding_point = e.sounding_plane, e.sounding_point
    count, plane, point = e.candidates, e.candidate_plane, e.candidate_point
    for a in range(active):
        i = np.int64(rows[a])
        if count[i] >= 0 or segments_left(done, i, HITS) + unseen(couples, i) > 0:
            continue
        for axis in range(3):
            way[SOURCE + axis], way[LISTENER + axis] = source[i, axis], listener[i, axis]
        least = gap(way, SOURCE, LISTENER) + excess
        n, fixed = ZERO, np.int64(MAX_CANDIDATES)
        for k in range(KNOWN_FROM + known.shape[0]):
            first, second = NO_PLANE, NO_PLANE
            if k < TRAILS_FROM:
                first, second = sounding[i, k % TAPS, 0], sounding[i, k % TAPS, 1]
                if k >= TAPS:
                    first, second = second if first == POINT else NO_PLANE, NO_PLANE
            elif k < KNOWN_FROM:
                fixed = n if k == TRAILS_FROM else fixed
                hit, pair = (k - TRAILS_FROM) // 2, k % 2 == 1
                first = plane_met(face, cell, i, hit)
                if pair and first != NO_PLANE:
                    second = first
                    first = plane_met(face, cell, i, hit - 1) if hit % HITS > 0 else NO_PLANE
            else:
                first = known[k - KNOWN_FROM]
            if first == NO_PLANE or is_listed(i, n, first, second, plane):
                continue
            for axis in range(3):
                way[VIA + axis] = sounding_point[i, k, axis] if first == POINT else 0.0
            if not is_longer(first, second, least, cell_size, way):
                continue
            c = row_for(i, n, fixed, way[LENGTH], twofold(first, second), plane, length)
            if c < 0:
                continue
            n = c + 1
            plane[i, c, 0], plane[i, c, 1], length[c] = first, second, way[LENGTH]
            for axis in range(3):
                point[i, c, axis] = way[VIA + axis]
        count[i] = n
