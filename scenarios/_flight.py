"""Where missiles hit and how they get there: targets, clear lines, the first thing in the way."""

from __future__ import annotations

from math import cos, dist, floor, hypot, pi, sin

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.world.materials import OPEN, SOLID
from scenarios._ground import Cell, Ground
from scenarios._paths import Point

Floats = NDArray[np.floating]

NEAREST, FARTHEST = 22.0, 80.0
"""How far from the listener missiles hit [m]."""
NEARER = 0.7
"""The same for those that hit in view, as a share."""
SPARED = 12.0
"""How far from the listener's way they do not [m]."""
FLIGHT = 160.0
"""How far a missile is away when it is first heard [m]."""
FINE = 0.1
"""How finely its way is looked at, and its own size [m]."""


def target(
    ground: Ground, ear: Point, spared: list[Point], in_view: bool, rng: np.random.Generator
) -> Point | None:
    """A place on the ground or a roof that is not too near, or None after some attempts.

    in_view: of all attempts the one that least stands in front of, seen from `ear`.
    """
    places = []
    for away, angle in rng.uniform((NEAREST, 0.0), (FARTHEST, 2.0 * pi), (12, 2)):
        reach = away * (NEARER if in_view else 1.0)
        x, z = float(ear[0] + reach * cos(angle)), float(ear[2] + reach * sin(angle))
        surface = ground.surface(x, z)
        if surface is not None and min(hypot(x - p[0], z - p[2]) for p in spared) > SPARED:
            places.append((x, surface + 1.2, z))
    if in_view and places:
        return min(places, key=lambda place: _hidden(ground, ear, place))
    return places[0] if places else None


def flight(ground: Ground, end: Point, azimuth: float, elevation: float) -> tuple[Point, Point]:
    """Start and end of a straight flight towards a place, up to the first thing in the way."""
    n = np.arange(0.0, FLIGHT, FINE)  # backwards, outwards from the target
    across, up = n * cos(elevation), n * sin(elevation)
    x, y, z = end[0] + across * cos(azimuth), end[1] + up, end[2] + across * sin(azimuth)
    i, k = np.floor(x).astype(int) - ground.lo[0], np.floor(z).astype(int) - ground.lo[2]
    inside = (i >= 0) & (k >= 0) & (i < ground.top.shape[0]) & (k < ground.top.shape[1])
    i, k = np.where(inside, i, 0), np.where(inside, k, 0)
    clear = inside & ground.known[i, k] & (y > ground.top[i, k] + 1.0 + FINE)
    first = int(np.flatnonzero(clear)[-1]) if clear.any() else 0
    # Seen from the start, the open sky ends at the first sample that is not clear.
    blocked = np.flatnonzero(~clear[:first])
    last = int(blocked[-1]) + 1 if len(blocked) else 0
    return _at(x, y, z, first), _at(x, y, z, last)


def passes_through(world: ea.World, end: Point, ahead: Floats) -> bool:
    """Whether the first thing within 3 m of the end of a flight is one that does not stop a body."""
    for far in np.arange(0.0, 3.0, FINE):
        x, y, z = (floor(a) for a in end + far * ahead)
        what = int(world.ids((x, y, z), (x + 1, y + 1, z + 1))[0, 0, 0])
        if world.palette.kind[what] != OPEN:
            return bool(world.palette.height[what] == 0.0)
    return False


def nearest_solid(world: ea.World, middle: Point, radius: float) -> Cell | None:
    """The cell that a blast must break before all others, None if there is none within its radius."""
    low = [floor(a - radius) for a in middle]
    size = 2 * int(radius) + 3
    ids = world.ids((low[0], low[1], low[2]), (low[0] + size, low[1] + size, low[2] + size))
    cells = np.argwhere(world.palette.kind[ids] == SOLID) + low
    away = np.linalg.norm(cells + 0.5 - np.array(middle), axis=1)
    if not np.any(away < 0.95 * radius):
        return None
    x, y, z = (int(a) for a in cells[int(np.argmin(away))])
    return x, y, z


def _hidden(ground: Ground, ear: Point, place: Point) -> int:
    """How many metres of the straight line between two places lie below a surface."""
    ahead = np.linspace(ear, place, max(2, int(dist(ear, place))))
    surface = (ground.surface(x, z) for x, _, z in ahead)
    return sum(s is not None and y < s + 1.0 for y, s in zip(ahead[:, 1], surface, strict=True))


def _at(x: Floats, y: Floats, z: Floats, n: int) -> Point:
    return float(x[n]), float(y[n]), float(z[n])
