"""What happens once in a raid: missiles that fly in until they hit, bursts of gunfire, a broken wall."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import atan2, cos, dist, hypot, pi, sin

import numpy as np

import ecs_audio as ea
from scenarios._blast import Blast, end_flight, explode, make_room
from scenarios._flight import FLIGHT, flight, passes_through, target
from scenarios._ground import Cell
from scenarios._listener import EYES, Tour
from scenarios._mix import Options
from scenarios._notes import Notes
from scenarios._paths import Point, line
from scenarios._site import Site

FIRST_HIT = 1.6
"""The first missile hits about then [s]."""
SLOWEST, FASTEST = 65.0, 110.0
"""Of missiles [m/s]."""
LATE = 0.1
"""A missile that has not hit so long after it should explodes where it is [s]."""
FOOTING = 6.0
"""How far from the listener's way missiles stay, or there would be nothing to walk on [m]."""
BEYOND = 9.0
"""Through what others have broken, a missile flies on as far as that [m]."""
KEPT = 1 << 14
"""So many notes of a kind are kept, the last ones: of a hundred sources' bounces 56 min, of blasts 5 h."""


@dataclass
class Attack:
    """What will happen, as it is worked out, and what has happened."""

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
    """Gunfire."""
    events: list[ea.Event] = field(default_factory=list)
    """Fuses: what missiles pass through, as water, sets them off too."""
    due: list[tuple[float, Point]] = field(default_factory=list)
    """When and where missiles should hit."""
    blasts: Notes = field(default_factory=lambda: Notes(KEPT, 4))
    """When and where missiles exploded, and fell silent."""
    holes: Notes = field(default_factory=lambda: Notes(KEPT, 4))
    """When an explosion must have broken which cell."""
    bounces: Notes = field(default_factory=lambda: Notes(KEPT, 4))
    """When and where debris was heard to hit something."""

    def bang(
        self, role: str, variant: int, where: Point, at: float, pitch: float = 1.0, share: float = 1.0
    ) -> list[ea.Spawn]:
        """A sound that happens once, starting at its very frame; none if its role is not heard.

        share: of its role's volume.
        """
        if role not in self.options:
            return []
        names, options = self.clips[role], self.options[role]
        exactly = {"pitch": pitch, "start_frame": round(at * self.rate), "volume": share * options["volume"]}
        # A little early, because what a tick has only just heard of starts a quantum later.
        early = max(at - 0.05, 0.0)
        return [ea.Spawn(names[variant % len(names)], where, at=early, options={**options, **exactly})]

    def fly(self, start: Point, end: Point, hit: float, speed: float, pitch: float, blast: Blast) -> None:
        """A missile that is at `end` at a time, and explodes where it hits something."""
        launch = hit - dist(start, end) / speed
        clips = self.clips["missiles"]
        # Without being heard it still flies.
        options = self.options.get("missiles", {"volume": 0.0})
        ahead = (np.array(end) - start) / dist(start, end)
        on_hit = partial(explode, self, blast)
        fuse = hit if passes_through(self.site.world, end, ahead) else hit + LATE
        self.due.append((hit, end))
        for middle in (end,) if blast.wall is None else (end, blast.wall):
            make_room(self.site.world, middle, blast.radius + BEYOND)
        self.events.append(
            ea.Event(fuse, partial(end_flight, on_hit), f"the fuse of missile {len(self.flights)}")
        )
        self.flights.append(
            ea.Spawn(
                clips[blast.variant % len(clips)],
                line(start, end, leaves=launch, arrives=hit),
                at=max(launch, 0.0),
                options={**options, "looping": True, "pitch": pitch},
                body={"kind": "projectile", "velocity": speed * ahead, "gravity": 0.0},
                on_hit=on_hit,
            )
        )


def missiles(attack: Attack, per_second: float, seconds: float, rng: np.random.Generator) -> None:
    """Missiles that hit, one after another, somewhere around the listener; every other one in view."""
    ground, room = attack.site.ground, attack.site.room
    spared = [*attack.site.route, _above(room.cell), _above(room.outside)]
    way = [attack.tour.feet(time) for time in np.arange(0.0, attack.tour.arrives + 0.2, 0.2)]
    hit, count = FIRST_HIT, 0
    while hit < seconds + FLIGHT / SLOWEST:
        x, y, z = attack.tour.feet(hit)
        aim = target(ground, (x, y + EYES, z), spared, count % 2 == 0, rng)
        azimuth, elevation = rng.uniform(0.0, 2.0 * pi), rng.uniform(0.35, 0.9)
        speed, radius = float(rng.uniform(SLOWEST, FASTEST)), float(rng.uniform(1.8, 3.4))
        pitch, thrown = (
            float(rng.uniform(0.85, 1.15)),
            rng.uniform((0.0, 2.0, 5.0), (2.0 * pi, 4.0, 9.0), (2, 3)),
        )
        if aim is not None:
            inside = aim[0], aim[1] - 0.8, aim[2]  # or it might pass close above
            start, place = flight(ground, inside, azimuth, elevation)
            if dist(start, place) > 0.1 * speed and _nearest(place, way) > FOOTING:
                debris = [(out * cos(angle), up, out * sin(angle)) for angle, out, up in thrown.tolist()]
                attack.fly(start, place, hit, speed, pitch, Blast(radius, count, debris))
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
    bricks = [
        (-2.5 * dx + aside * dz, 1.0 + abs(aside), -2.5 * dz + aside * dx)
        for aside in (-1.6, -0.8, 0.0, 0.8, 1.6)
    ]
    attack.fly(start, end, at, 90.0, 1.0, Blast(2.2 + len(room.wall) / 4.0, 0, bricks, wall=(x, y, z)))


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
            attack.shots += attack.bang("guns", k, place, time + k * pause, pitch)
        time += float(rng.exponential(5.5 / per_second))


def _above(cell: Cell) -> Point:
    return cell[0] + 0.5, float(cell[1]), cell[2] + 0.5


def _nearest(place: Point, way: list[Point]) -> float:
    return min(hypot(place[0] - x, place[2] - z) for x, _, z in way)
