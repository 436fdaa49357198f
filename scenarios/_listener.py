"""A listener who walks and then runs along a way, stops, and turns the head; as a table, read per tick."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from math import atan2, cos, exp, hypot, pi, sin, sqrt
from typing import NamedTuple

import ecs_audio as ea
from scenarios._paths import Point, lengths, mix

STEP = 1 / 60
"""Time between the table's entries [s]."""
WALK, RUN = 1.5, 4.5
"""[m/s]"""
PUSH = 5.0
"""How fast one gets faster or slower [m/s²]."""
EYES = 1.6
"""Ears above the ground [m]."""
NECK = 0.12
"""Time constant of a turn of the head [s]."""

Look = Callable[[float], float | None]
"""Seconds -> where to look [rad, from +x towards +z], None for straight ahead."""


class Tour(NamedTuple):
    """A listener on the way."""

    pose: Callable[[float], ea.Pose]
    feet: Callable[[float], Point]
    """Where the feet are [m]."""
    arrives: float
    """When the way ends [s]."""
    passes: Callable[[Point], float]
    """When the listener is nearest to a point [s]."""


def tour(way: Sequence[Point], *, runs_at: float, seconds: float, look: Callable[[float], Look]) -> Tour:
    """Walk along a polyline on the ground, run from `runs_at` on, stop at its end.

    look: given when the way ends, says where to look until `seconds`.
    """
    stops = _move(way, runs_at)
    arrives = (len(stops) - 1) * STEP
    stops += stops[-1:] * max(0, 2 + int(seconds / STEP) - len(stops))
    ahead = _turn(stops, look(arrives))
    last = len(stops) - 2

    def feet(time: float) -> Point:
        place = min(max(time / STEP, 0.0), last)
        k = int(place)
        return mix(stops[k], stops[k + 1], place - k)

    def pose(time: float) -> ea.Pose:
        place = min(max(time / STEP, 0.0), last)
        k = int(place)
        x, y, z = mix(stops[k], stops[k + 1], place - k)
        yaw = ahead[k] + (place - k) * (ahead[k + 1] - ahead[k])
        return ea.Pose((x, y + EYES, z), (cos(yaw), 0.0, sin(yaw)))

    def passes(point: Point) -> float:
        near = min(range(len(stops)), key=lambda k: hypot(stops[k][0] - point[0], stops[k][2] - point[2]))
        return near * STEP

    return Tour(pose, feet, arrives, passes)


def _move(way: Sequence[Point], runs_at: float) -> list[Point]:
    """Places on the way every STEP: speeding up and slowing down as legs do."""
    far = lengths(way)
    stops, place, speed = [way[0]], 0.0, 0.0
    while place < far[-1] - 1e-3:
        wanted = WALK if len(stops) * STEP < runs_at else RUN
        wanted = min(wanted, sqrt(2.0 * PUSH * (far[-1] - place)) + 0.05)
        speed = min(max(wanted, speed - PUSH * STEP), speed + PUSH * STEP)
        place = min(place + speed * STEP, far[-1])
        k = min(bisect(far, place), len(far) - 1)
        stops.append(mix(way[k - 1], way[k], (place - far[k - 1]) / max(far[k] - far[k - 1], 1e-9)))
    return stops


def _turn(stops: Sequence[Point], look: Look) -> list[float]:
    """Where the head points at each stop [rad], without jumps."""
    yaws: list[float] = []
    course: float | None = None
    share = 1.0 - exp(-STEP / NECK)
    for k, (x, _, z) in enumerate(stops):
        later = stops[min(k + 6, len(stops) - 1)]
        if hypot(later[0] - x, later[2] - z) > 1e-6:
            course = atan2(later[2] - z, later[0] - x)
        wanted = look(k * STEP)
        wanted = (course or 0.0) if wanted is None else wanted
        last = yaws[-1] if yaws else wanted
        yaws.append(last + share * ((wanted - last + pi) % (2.0 * pi) - pi))
    return yaws
