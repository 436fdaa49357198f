"""Those who go on sounding through a raid: drones, vehicles, people, sirens, music, wind."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, hypot, pi, sin

import numpy as np

from scenarios._ground import Cell, Ground, on_foot, ways
from scenarios._listener import Tour
from scenarios._paths import Path, Point, circle, shuttle
from scenarios._site import Site

SHARES = {"drones": 28, "engines": 18, "voices": 20, "steps": 25, "sirens": 5, "music": 2}
"""How the lasting sources are shared out."""
OVERHEAD_AT = 4.0
"""When the first drone passes over the listener [s]."""
OVERHEAD = 14.0
"""How high above the ground it does, unless a roof on its way is higher [m]."""
PARKED = 4.0
"""How far from the wall that will be broken an engine idles, where there is room [m]."""

Cast = Iterator[tuple[str, Path | Point | None, float]]
"""Role, where, and pitch of each source."""


def crowd(site: Site, tour: Tour, count: int, rng: np.random.Generator) -> Cast:
    """`count` sources that sound all the time, most of them on the move."""
    if count < 1:
        return
    yield "wind", None, 1.0
    numbers = shared_out(count - 1)
    streets = site.streets + _walks(site, tour, rng)
    for k in range(numbers["drones"]):
        path = _overhead(site, tour) if k == 0 else _orbit(site, rng)
        yield "drones", path, float(rng.uniform(0.85, 1.2))
    for k in range(numbers["engines"]):
        # The first one idles behind the wall: it is heard when the wall is gone.
        where = parked(site) if k == 0 else _drive(site, streets, rng, 1.0)
        yield "engines", where, float(rng.uniform(0.8, 1.3))
    for k in range(numbers["voices"]):
        if k % 2 and site.rooms:
            x, y, z = site.rooms[int(rng.integers(len(site.rooms)))]
            aside, along = (float(a) for a in rng.uniform(-1.2, 1.2, 2))
            yield "voices", (x + aside, y + 1.5, z + along), float(rng.uniform(0.85, 1.2))
        else:
            path = _stroll(streets, rng, float(rng.uniform(1.5, 4.0)), 1.5)
            yield "voices", path, float(rng.uniform(0.9, 1.2))
    for _ in range(numbers["steps"]):
        speed = float(rng.uniform(1.2, 5.0))
        yield "steps", _stroll(streets, rng, speed, 0.1), 0.75 + speed / 6.0
    for k in range(numbers["sirens"]):
        if k % 2 == 0:
            yield "sirens", site.heights[k // 2 % len(site.heights)], float(rng.uniform(0.8, 1.1))
        else:
            yield "sirens", _drive(site, streets, rng, 1.5, 16.0), float(rng.uniform(0.9, 1.1))
    for k in range(numbers["music"]):
        yield "music", _jukebox(site, streets, k), 1.0


def shared_out(count: int) -> dict[str, int]:
    """`count` sources by SHARES; what rounding leaves goes to the largest remainders."""
    total = sum(SHARES.values())
    exact = {role: count * share / total for role, share in SHARES.items()}
    numbers = {role: int(n) for role, n in exact.items()}
    rest = sorted(exact, key=lambda role: numbers[role] - exact[role])
    for role in rest[: count - sum(numbers.values())]:
        numbers[role] += 1
    return numbers


def parked(site: Site) -> Point:
    """A free place beyond the wall that will be broken, in line with it."""
    x, y, z = site.room.outside
    dx, dz = site.room.side
    place = site.room.outside
    for n in range(1, int(PARKED) + 1):
        further = (x + n * dx, y, z + n * dz)
        if not site.ground.passable(further):
            break
        place = further
    return place[0] + 0.5, place[1] + 1.0, place[2] + 0.5


def _walks(site: Site, tour: Tour, rng: np.random.Generator) -> list[list[Point]]:
    """Ways that people take through the site: from a few places to many others."""
    starts = [_cell(tour.feet(0.0)), site.room.outside]
    walks = []
    for k in range(4):
        found = ways(site.ground, starts[k], most=6000, farthest=90).order
        starts.append(found[int(rng.integers(len(found)))])
        reached = ways(site.ground, starts[k], most=6000, farthest=90)
        for _ in range(8):
            end = reached.order[int(rng.integers(len(reached.order) // 4, len(reached.order)))]
            walks.append(on_foot(reached.to(end)))
    return walks


def _cell(point: Point) -> Cell:
    return int(point[0] // 1), round(point[1]), int(point[2] // 1)


def _overhead(site: Site, tour: Tour) -> Path:
    """A circle that passes over the listener at OVERHEAD_AT, where it may fly lowest."""
    x, y, z = tour.feet(OVERHEAD_AT)
    radius, speed = 45.0, 18.0
    options = []
    for k in range(8):
        angle = k * pi / 4.0
        centre = (x + radius * cos(angle), z + radius * sin(angle))
        highest = _highest(site.ground, centre, radius)
        if highest is not None:
            options.append((highest, k, centre, angle))
    if not options:  # a narrow world: up and down above the listener's head
        return circle((x, z), radius=4.0, height=y + OVERHEAD, speed=4.0)
    highest, _, centre, angle = min(options)
    phase = angle + pi - speed / radius * OVERHEAD_AT
    return circle(centre, radius=radius, height=max(y + OVERHEAD, highest + 4.0), speed=speed, phase=phase)


def _orbit(site: Site, rng: np.random.Generator) -> Path:
    """A circle somewhere around, above whatever stands there."""
    x, _, z = site.room.cell
    away, angle, phase = rng.uniform(0.0, 50.0), *rng.uniform(0.0, 2.0 * pi, 2)
    radius, clear, bob = rng.uniform(12.0, 45.0), rng.uniform(5.0, 28.0), rng.uniform(0.0, 3.0)
    speed = rng.uniform(8.0, 22.0) * rng.choice((-1.0, 1.0))
    for shrink in (1.0, 0.7, 0.5, 0.3, 0.15, 0.0):
        centre = (x + shrink * away * cos(angle), z + shrink * away * sin(angle))
        size = max(shrink, 0.1) * radius
        highest = _highest(site.ground, centre, size)
        if highest is not None:
            break
    ground = (site.ground.surface(*centre) or site.room.cell[1]) if highest is None else highest
    height = ground + 1.0 + clear + bob
    return circle(
        (float(centre[0]), float(centre[1])), radius=float(size), height=float(height),
        speed=float(speed), phase=float(phase), bob=float(bob),
    )  # fmt: skip


def _highest(ground: Ground, centre: tuple[float, float], radius: float) -> int | None:
    """y of the highest cell below a circle, None if it leaves what is known."""
    angle = np.linspace(0.0, 2.0 * np.pi, max(16, int(2.0 * radius)))
    i = np.floor(centre[0] + radius * np.cos(angle)).astype(int) - ground.lo[0]
    k = np.floor(centre[1] + radius * np.sin(angle)).astype(int) - ground.lo[2]
    nx, nz = ground.top.shape
    if i.min() < 0 or k.min() < 0 or i.max() >= nx or k.max() >= nz or not ground.known[i, k].all():
        return None
    return int(ground.top[i, k].max())


def _drive(
    site: Site, streets: list[list[Point]], rng: np.random.Generator, rise: float, speed: float | None = None
) -> Path:
    """Along a street, or where there is none along a way."""
    roads = site.streets or streets
    road = roads[int(rng.integers(len(roads)))]
    pace = float(rng.uniform(5.0, 13.0)) if speed is None else speed
    return shuttle(road, speed=pace, start=float(rng.uniform(0.0, 200.0)), rise=rise)


def _stroll(streets: list[list[Point]], rng: np.random.Generator, speed: float, rise: float) -> Path:
    street = streets[int(rng.integers(len(streets)))]
    return shuttle(street, speed=speed, start=float(rng.uniform(0.0, 200.0)), rise=rise)


def _jukebox(site: Site, streets: list[list[Point]], k: int) -> Point:
    """Where music plays: in the k-th nearest house, else at the end of a way."""
    x, _, z = site.room.cell
    houses = sorted(site.rooms, key=lambda room: hypot(room[0] - x, room[2] - z))
    place = houses[k % len(houses)] if houses else streets[k % len(streets)][-1]
    return place[0], place[1] + 1.0, place[2]
