"""What happens once in a raid: missiles that fly in and explode, bursts of gunfire, debris, a broken wall."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, cos, dist, pi, sin

import numpy as np

import ecs_audio as ea
from scenarios._flight import FLIGHT, flight, nearest_solid, target
from scenarios._ground import Cell
from scenarios._listener import EYES, Tour
from scenarios._mix import Options
from scenarios._paths import Point, line
from scenarios._site import Site

SOUND = 343.0
"""[m/s]"""
FIRST_HIT = 1.6
"""The first missile hits then [s]."""
SLOWEST, FASTEST = 65.0, 110.0
"""Of missiles [m/s]."""


@dataclass
class Attack:
    """What will happen, as it is worked out."""

    site: Site
    tour: Tour
    clips: dict[str, list[str]]
    """Names of the clips of each role."""
    options: Options
    """Of the sources of each role; a role that is missing is not heard."""
    rate: int
    flights: list[ea.Spawn] = field(default_factory=list)
    """Missiles."""
    shots: list[ea.Spawn] = field(default_factory=list)
    """Whatever sounds once."""
    events: list[ea.Event] = field(default_factory=list)
    bangs: list[tuple[float, Point]] = field(default_factory=list)
    """When and where sounds with a sharp start are made."""
    blasts: list[tuple[float, Point]] = field(default_factory=list)
    """When and where something explodes."""
    holes: list[tuple[float, Cell]] = field(default_factory=list)
    """When an explosion must break which cell."""

    def bang(self, role: str, variant: int, where: Point, at: float, pitch: float = 1.0) -> None:
        """A sound that happens once, starting at its very frame."""
        if role in self.options:
            names = self.clips[role]
            exactly = {**self.options[role], "pitch": pitch, "start_frame": round(at * self.rate)}
            # A little early, because what a tick has only just heard of starts a quantum later.
            spawn = ea.Spawn(names[variant % len(names)], where, at=max(at - 0.05, 0.0), options=exactly)
            self.shots.append(spawn)
            self.bangs.append((at, where))

    def explode(self, place: Point, middle: Point, at: float, radius: float, variant: int) -> None:
        """A blast at a place, and at the same tick a hole of some radius around its middle."""
        self.blasts.append((at, place))
        label = f"a blast at {place[0]:.0f}, {place[1]:.0f}, {place[2]:.0f}"
        self.events.append(ea.Event(at, lambda stage: stage.engine.world.carve(middle, radius), label))
        broken = nearest_solid(self.site.world, middle, radius)
        if broken is not None:
            self.holes.append((at, broken))
        self.bang("blasts", variant, place, at)

    def fly(self, start: Point, end: Point, hit: float, speed: float, variant: int, pitch: float) -> None:
        """A missile that is at `end` when it hits."""
        launch = hit - dist(start, end) / speed
        if "missiles" in self.options and hit - launch > 0.1:
            names = self.clips["missiles"]
            x, y, z = self.tour.feet(hit)
            # It goes on until the last of its sound has arrived, and the blast's sound comes next.
            gone = hit + dist(end, (x, y + EYES, z)) / SOUND
            path = line(start, end, leaves=launch, arrives=hit)
            options = {**self.options["missiles"], "looping": True, "pitch": pitch}
            spawn = ea.Spawn(
                names[variant % len(names)], path, at=max(launch, 0.0), until=gone, options=options
            )
            self.flights.append(spawn)


def missiles(attack: Attack, per_second: float, seconds: float, rng: np.random.Generator) -> None:
    """Missiles that hit, one after another, somewhere around the listener; every other one in view."""
    ground, room = attack.site.ground, attack.site.room
    spared = [*attack.site.route, _above(room.cell), _above(room.outside)]
    hit, count = FIRST_HIT, 0
    while hit < seconds + FLIGHT / SLOWEST:
        x, y, z = attack.tour.feet(hit)
        aim = target(ground, (x, y + EYES, z), spared, count % 2 == 0, rng)
        azimuth, elevation = rng.uniform(0.0, 2.0 * pi), rng.uniform(0.35, 0.9)
        speed, radius = float(rng.uniform(SLOWEST, FASTEST)), float(rng.uniform(1.8, 3.4))
        pitch, debris = float(rng.uniform(0.85, 1.15)), rng.uniform(size=(2, 4))
        if aim is not None:
            start, place = flight(ground, aim, azimuth, elevation)
            attack.fly(start, place, hit, speed, count, pitch)
            attack.explode(place, place, hit, radius, count)
            for late, pitched, *aside in debris:
                u, w = (place[axis] + 4.0 * share - 2.0 for axis, share in zip((0, 2), aside, strict=True))
                surface = ground.surface(u, w)
                if surface is not None:
                    where = (u, max(place[1], surface + 1.2), w)
                    attack.bang("debris", count, where, hit + 0.25 + 0.7 * late, 0.3 + 0.3 * pitched)
        count += 1
        hit += 0.4 / per_second + float(rng.exponential(0.6 / per_second))


def break_wall(attack: Attack, at: float) -> None:
    """A missile hits the wall of the listener's room from outside, and bricks fall into it."""
    room, (dx, dz) = attack.site.room, attack.site.room.side
    outer = room.wall[-1]
    place = (outer[0] + dx + 0.5, outer[1] + 0.5, outer[2] + dz + 0.5)
    x, y, z = (float(a) for a in np.mean(room.wall, axis=0) + 0.5)
    ways = [
        flight(attack.site.ground, place, atan2(dz, dx) + turn, elevation)
        for turn in (0.0, 0.5, -0.5, 1.0, -1.0)
        for elevation in (0.5, 0.8, 1.1)
    ]
    start, end = min(ways, key=lambda way: dist(way[1], place))
    attack.fly(start, end, at, 90.0, 0, 1.0)
    attack.explode(place, (x, y, z), at, 2.2 + len(room.wall) / 4.0, 0)
    for k, late in enumerate((0.12, 0.31, 0.38, 0.6, 0.74)):
        aside = 0.8 * k - 1.6
        where = (place[0] - 2.0 * dx + aside * dz, place[1], place[2] - 2.0 * dz + aside * dx)
        attack.bang("debris", k, where, at + late, 0.35)


def guns(attack: Attack, count: int, per_second: float, seconds: float, rng: np.random.Generator) -> None:
    """Bursts of shots from `count` places, `per_second` shots in all."""
    ground, (x, _, z) = attack.site.ground, attack.site.room.cell
    places: list[Point] = []
    for away, angle in rng.uniform((20.0, 0.0), (85.0, 2.0 * pi), (8 * count, 2)):
        u, w = float(x + away * cos(angle)), float(z + away * sin(angle))
        surface = ground.surface(u, w)
        if surface is not None and len(places) < count:
            places.append((u, surface + 2.5, w))
    time = 0.3
    while time < seconds + 1.0 and places:  # a shorter raid is the beginning of a longer one
        place, shots = places[int(rng.integers(len(places)))], int(rng.integers(3, 9))
        pause, pitch = float(rng.uniform(0.09, 0.13)), float(rng.uniform(0.85, 1.15))
        for k in range(shots):
            attack.bang("guns", k, place, time + k * pause, pitch)
        time += float(rng.exponential(5.5 / per_second))


def _above(cell: Cell) -> Point:
    return cell[0] + 0.5, float(cell[1]), cell[2] + 0.5
