"""Image sources: what a plane reflects comes in a straight line from the mirror image behind it.

All faces lie along the axes, so an image is one mirrored coordinate and a second bounce mirrors twice
(Allen and Berkley 1979). A plane is one number, `coordinate * 8 + face`: the cell coordinate of the face
along its axis, and the face as rays give it, 2 x axis + 1 if it is hit from above. A path is two of them
in the order of the bounces, the second NO_PLANE where there is one bounce. POINT as the first says that
the path goes through a point of the second plane that mirrors nothing: a face of rough ground.

A path is laid out in a `way`, (19,) float64 [m]: the places named below, and its length.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import Array, law

NO_PLANE = -(1 << 62)
POINT = NO_PLANE + 1

SKIN = 1e-3
"""Nearer to a plane [m] nothing is in front of it; rays go on so far off a surface."""

BEHIND, IN_FRONT, REFLECTED = 0, 1, 2

# Where a way has its places. Typed numbers: a plain one as an argument would compile laws again.
SOURCE, LISTENER, VIA = np.int64(0), np.int64(3), np.int64(6)
IMAGE, LATE, EARLY = np.int64(9), np.int64(12), np.int64(15)
LENGTH = 18
WAY = 19


@law
def plane_met(face: Array, cell: Array, i: int, k: int) -> int:
    """Plane of the face that ray or hit k of row i met, NO_PLANE for none.

    face: (n, m), less than 0 for none. cell: (n, m, 3) cell that was hit.
    """
    f = face[i, k]
    if f < 0:
        return NO_PLANE
    return (cell[i, k, f >> 1] + (f & 1)) * 8 + f


@law
def twofold(first: int, second: int) -> bool:
    """Whether a path bounces off two planes."""
    return first != POINT and second != NO_PLANE


@law
def height(way: Array, at: int, plane: int, cell_size: float) -> float:
    """How far a place is in front of a plane [m], less than 0 behind it."""
    above = way[at + ((plane & 7) >> 1)] - (plane >> 3) * cell_size
    return above if plane & 1 else -above


@law
def gap(way: Array, a: int, b: int) -> float:
    """Distance of two places [m]."""
    x, y, z = way[a] - way[b], way[a + 1] - way[b + 1], way[a + 2] - way[b + 2]
    return math.sqrt(x * x + y * y + z * z)


@law
def meet(way: Array, a: int, image: int, plane: int, cell_size: float, out: int) -> None:
    """Set the place where the line from a place to an image behind a plane meets it, exactly on it."""
    before, behind = height(way, a, plane, cell_size), height(way, image, plane, cell_size)
    t = before / (before - behind)
    for axis in range(3):
        way[out + axis] = way[a + axis] + (way[image + axis] - way[a + axis]) * t
    way[out + ((plane & 7) >> 1)] = (plane >> 3) * cell_size


@law
def mirror(first: int, second: int, cell_size: float, way: Array) -> bool:
    """Mirror the SOURCE by one plane or two: sets the IMAGE, that of the first plane (EARLY), and LENGTH.

    Returns whether what each plane mirrors is in front of it.
    """
    for axis in range(3):
        way[IMAGE + axis] = way[EARLY + axis] = way[SOURCE + axis]
    front = True
    for bounce in range(1 if second == NO_PLANE else 2):
        plane = second if bounce else first
        mirrored = (plane & 7) >> 1
        front = front and height(way, IMAGE, plane, cell_size) > SKIN
        way[IMAGE + mirrored] = 2.0 * ((plane >> 3) * cell_size) - way[IMAGE + mirrored]
        if bounce == 0:
            way[EARLY + mirrored] = way[IMAGE + mirrored]
    way[LENGTH] = gap(way, LISTENER, IMAGE)
    return front


@law
def lay_out(first: int, second: int, cell_size: float, way: Array) -> int:
    """Lay out the path by these planes between the SOURCE and the LISTENER of a way, or VIA its point.

    Sets the IMAGE that it is heard from, the bounce next to the listener (LATE) and the one next to the
    source (EARLY), and its LENGTH. Returns whether an end is BEHIND a plane, all are IN_FRONT, or it is
    REFLECTED: the second plane also meets it in front of the first.
    """
    if first == POINT:
        for axis in range(3):
            way[IMAGE + axis] = way[LATE + axis] = way[EARLY + axis] = way[VIA + axis]
        way[LENGTH] = gap(way, SOURCE, VIA) + gap(way, LISTENER, VIA)
        return REFLECTED
    twice, last = twofold(first, second), first if second == NO_PLANE else second
    front = height(way, SOURCE, first, cell_size) > SKIN and height(way, LISTENER, last, cell_size) > SKIN
    front = mirror(first, second, cell_size, way) and front
    meet(way, LISTENER, IMAGE, last, cell_size, LATE)
    start = LATE if twice else LISTENER
    bounced = height(way, start, first, cell_size) > SKIN
    meet(way, start, EARLY, first, cell_size, EARLY)
    return (REFLECTED if bounced else IN_FRONT) if front else BEHIND


@law
def is_longer(first: int, second: int, least: float, cell_size: float, way: Array) -> bool:
    """Whether `lay_out` would find a path REFLECTED and longer than this [m]; sets its LENGTH then.

    Most paths that are tried are none: whatever is cheap is asked first, and no bounce is laid out.
    """
    if first == POINT:
        way[LENGTH] = gap(way, SOURCE, VIA) + gap(way, LISTENER, VIA)
        return way[LENGTH] > least
    last = first if second == NO_PLANE else second
    if not (height(way, SOURCE, first, cell_size) > SKIN and height(way, LISTENER, last, cell_size) > SKIN):
        return False
    if not mirror(first, second, cell_size, way) or not way[LENGTH] > least:
        return False
    if second == NO_PLANE:
        return True
    meet(way, LISTENER, IMAGE, second, cell_size, LATE)
    return height(way, LATE, first, cell_size) > SKIN
