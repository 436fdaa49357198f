"""Paths: functions of time [s] that say where something is [m], cheap enough for hundreds of them a tick."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import cos, dist, sin

Point = tuple[float, float, float]
Path = Callable[[float], Point]


def circle(
    centre: tuple[float, float],
    *,
    radius: float,
    height: float,
    speed: float,
    phase: float = 0.0,
    bob: float = 0.0,
) -> Path:
    """Round and round above `centre` (x, z) at `speed` [m/s]; against the clock from above if negative.

    phase: of the circle at time 0 [rad]. bob: how far it rises and sinks on the way [m].
    """
    (x, z), turn = centre, speed / radius

    def path(time: float) -> Point:
        angle = phase + turn * time
        return x + radius * cos(angle), height + bob * sin(1.7 * angle), z + radius * sin(angle)

    return path


def line(start: Point, end: Point, *, leaves: float, arrives: float) -> Path:
    """Straight from one point to another between two times, and at rest before and after."""
    (x, y, z), duration = start, arrives - leaves
    dx, dy, dz = end[0] - x, end[1] - y, end[2] - z

    def path(time: float) -> Point:
        share = min(max((time - leaves) / duration, 0.0), 1.0)
        return x + share * dx, y + share * dy, z + share * dz

    return path


def lengths(points: Sequence[Point]) -> list[float]:
    """How far along a polyline each of its points lies [m]."""
    far = [0.0]
    for a, b in pairwise(points):
        far.append(far[-1] + dist(a, b))
    return far


def mix(a: Point, b: Point, share: float) -> Point:
    """The point at a share of the way from a to b."""
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]))


def shuttle(points: Sequence[Point], *, speed: float, start: float = 0.0, rise: float = 0.0) -> Path:
    """Along a polyline and back for ever, or round and round a closed one, `rise` metres above it.

    speed: [m/s]. start: where on the way it is at time 0 [m].
    """
    stops = [(x, y + rise, z) for x, y, z in points]
    if points[0] != points[-1]:
        stops += stops[-2::-1]
    far = lengths(stops)
    total = far[-1]
    if total < 1e-6:
        only = stops[0]
        return lambda time: only

    def path(time: float) -> Point:
        place = (start + speed * time) % total
        k = bisect_right(far, place)
        share = (place - far[k - 1]) / (far[k] - far[k - 1])
        x, y, z = stops[k - 1]
        u, v, w = stops[k]
        return x + share * (u - x), y + share * (v - y), z + share * (w - z)

    return path
