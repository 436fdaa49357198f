"""Which echoes a source has: at most four paths that rays proved, the longest first."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.distance import distance_gain
from ecs_audio.kernels.echoes import MAX_CANDIDATES, SURVEYS, TAPS, ZERO, Surveys
from ecs_audio.kernels.images import (
    IMAGE,
    LENGTH,
    LISTENER,
    NO_PLANE,
    POINT,
    SOURCE,
    VIA,
    gap,
    lay_out,
    plane_met,
)
from ecs_audio.kernels.jit import F8, F8_1, F8_2, I4_1, I8, Array, kernel, law
from ecs_audio.kernels.proofs import TOUCH, legs_of
from ecs_audio.kernels.surveys import HITS, LEGS

CLAIMS = MAX_CANDIDATES + 16
RANK, PATH, STRENGTH, TOWARD = 0, 1, 2, 3

# What a path that holds is worth: a rough point never pushes out a plane, a new one no point that sounds.
DISPROVED, UNHEARD, NEW_POINT, OLD_POINT, PLANE = 0.0, -1.0, 1.0, 2.0, 3.0


@law
def echo_strength(reflectivity: float) -> float:
    """Amplitude that one reflection leaves, 0.25 (0.75 R + 0.25): stone answers at -9 dB, by taste."""
    return 0.25 * (0.75 * reflectivity + 0.25)


@law
def disproved(i: int, n: int, own: int, plane: Array, claims: Array) -> bool:
    """Whether rays showed that the plane of a point does not reflect by itself: only then the point may."""
    for c in range(n):
        if plane[i, c, 0] == own and plane[i, c, 1] == NO_PLANE:
            return claims[c, RANK] == DISPROVED
    return False


@law
def best_claim(claims: Array) -> int:
    """The claim of the highest rank, among equals the longest path, then the first; -1 if none is left."""
    best = -1
    for c in range(CLAIMS):
        if claims[c, RANK] > 0.0 and (
            best < 0
            or claims[c, RANK] > claims[best, RANK]
            or (claims[c, RANK] == claims[best, RANK] and claims[c, PATH] > claims[best, PATH])
        ):
            best = c
    return best


@law
def strike_out(best: int, apart: float, claims: Array) -> None:
    """Take a claim that was chosen, and all that come from nearly the same direction, out of the choice."""
    x, y, z = claims[best, TOWARD], claims[best, TOWARD + 1], claims[best, TOWARD + 2]
    for c in range(CLAIMS):
        cosine = claims[c, TOWARD] * x + claims[c, TOWARD + 1] * y + claims[c, TOWARD + 2] * z
        if c == best or (claims[c, RANK] > 0.0 and cosine > apart):
            claims[c, RANK] = UNHEARD


@kernel(I8, I4_1, F8, F8, F8, F8, F8_1, SURVEYS, F8_1, F8_2)
def judge(
    active: int,
    rows: Array,
    excess: float,
    apart: float,
    audible: float,
    cell_size: float,
    reflectivity: Array,
    e: Surveys,
    way: Array,
    claims: Array,
) -> None:
    """Choose up to four echoes of each survey whose legs are all traced.

    Planes that hold come first, the longest path first, then points that sound, then first hits that see
    the listener. A point counts only where its own plane was tried and does not reflect.

    rows: (active,) of `CacheEntries`. excess, cell_size: as `find_candidates` had them.
    apart: cosine of the least angle between the directions from which two of them arrive.
    audible: amplitude above which an echo is heard. reflectivity: (materials,).
    way: (19,), claims: (32, 6) scratch.
    e: `plane`, `plane_point` and `strength` are written; of a path through a point, the second plane is that
    of its face. `legs_done` becomes 48, which no number of candidates needs: the survey is judged.
    """
    source, listener, loudness = e.source, e.listener, e.loudness
    face, cell, point, material, couples = e.face, e.cell, e.point, e.material, e.couples
    count, planes, points, legs_done = e.candidates, e.candidate_plane, e.candidate_point, e.legs_done
    leg_time, leg_face, leg_cell, leg_material = e.leg_time, e.leg_face, e.leg_cell, e.leg_material
    out_plane, out_point, out_strength = e.plane, e.plane_point, e.strength
    for a in range(active):
        i = np.int64(rows[a])
        n = count[i]
        if n < 0 or legs_done[i] == LEGS or legs_done[i] < legs_of(i, n, planes):
            continue
        legs_done[i] = LEGS
        for axis in range(3):
            way[SOURCE + axis], way[LISTENER + axis] = source[i, axis], listener[i, axis]
        least = gap(way, SOURCE, LISTENER) + excess
        leg = ZERO
        for c in range(CLAIMS):
            claims[c, RANK] = DISPROVED
            rough, hit = c >= MAX_CANDIDATES, max(c - MAX_CANDIDATES, 0) * HITS
            if c >= n and not rough:
                continue
            first, second = POINT, NO_PLANE
            for axis in range(3):
                way[VIA + axis] = point[i, hit, axis] if rough else points[i, c, axis]
            if rough:
                second = plane_met(face, cell, i, hit)
            else:
                first, second = planes[i, c, 0], planes[i, c, 1]
            surface, other = material[i, hit] if rough else leg_material[i, leg], -1
            if rough:
                holds = (
                    second != NO_PLANE and couples[i, hit] == 1 and disproved(i, n, second, planes, claims)
                )
            else:
                early = second if first == POINT else first
                holds = plane_met(leg_face, leg_cell, i, leg) == (first if second == NO_PLANE else second)
                holds = holds and plane_met(leg_face, leg_cell, i, leg + 1) == early
                if first == POINT:
                    holds = holds and abs(leg_time[i, leg] - gap(way, LISTENER, VIA)) <= TOUCH
                    holds = holds and abs(leg_time[i, leg + 1] - gap(way, SOURCE, VIA)) <= TOUCH
                elif second != NO_PLANE:
                    holds = holds and plane_met(leg_face, leg_cell, i, leg + 2) == early
                    other = leg_material[i, leg + 1]
                    leg += 1
                leg += 2
            if not holds:
                continue
            lay_out(first, second, cell_size, way)
            path = way[LENGTH]
            if not path > least:
                continue
            strength = echo_strength(reflectivity[surface])
            if other >= 0:
                strength *= echo_strength(reflectivity[other])
            level = strength * loudness[i, 0] * distance_gain(
                np.uint8(loudness[i, 1]), path, loudness[i, 2], loudness[i, 3], loudness[i, 4]
            )  # fmt: skip
            rank = NEW_POINT if rough else (OLD_POINT if first == POINT else PLANE)
            claims[c, RANK] = rank if level > audible else UNHEARD
            claims[c, PATH], claims[c, STRENGTH] = path, strength
            away = gap(way, LISTENER, IMAGE)
            for axis in range(3):
                claims[c, TOWARD + axis] = (way[IMAGE + axis] - way[LISTENER + axis]) / away
        for c in range(n):
            if planes[i, c, 0] == POINT and not disproved(i, n, planes[i, c, 1], planes, claims):
                claims[c, RANK] = DISPROVED
        for tap in range(TAPS):
            c = best_claim(claims)
            hit = max(c - MAX_CANDIDATES, 0) * HITS
            out_plane[i, tap, 0], out_plane[i, tap, 1], out_strength[i, tap] = NO_PLANE, NO_PLANE, 0.0
            if c >= MAX_CANDIDATES:
                out_plane[i, tap, 0], out_plane[i, tap, 1] = POINT, plane_met(face, cell, i, hit)
            elif c >= 0:
                out_plane[i, tap, 0], out_plane[i, tap, 1] = planes[i, c, 0], planes[i, c, 1]
            if c >= 0:
                out_strength[i, tap] = claims[c, STRENGTH]
                strike_out(c, apart, claims)
            for axis in range(3):
                place = 0.0 if c < 0 else points[i, min(c, n - 1), axis]
                out_point[i, tap, axis] = point[i, hit, axis] if c >= MAX_CANDIDATES else place
