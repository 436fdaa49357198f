"""A listener who walks into a room, rests there, and runs back; doors open on the way."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, hypot
from typing import NamedTuple

import numpy as np

import ecs_audio as ea
from scenarios._listener import STEP, Look, tour
from scenarios._paths import Point
from scenarios._site import Site
from scenarios._story import doors

RESTS, STANDS = 4.0, 3.0
"""How long the listener stays in the room, and stands where the way began in the end [s]."""
NEVER = 1e9
"""[s]"""
INSIDE = 10.0
"""Nearer to where the way ends one may be in the house already [m]."""
AROUND = 4
"""The sky is open where, so far around, most of the ground has nothing as high as one's head [m]."""
GLANCE = 0.1
"""Time between two looks at the sky [s]."""


class Visit(NamedTuple):
    """There and back."""

    pose: Callable[[float], ea.Pose]
    feet: Callable[[float], Point]
    """[m]"""
    arrives: float
    """In the room [s]."""
    leaves: float
    """The room [s]."""
    returns: float
    """To where it began [s]."""
    ends: float
    """[s]"""
    doors: list[ea.Event]
    """They open before the listener, and close behind."""


def visit(site: Site) -> Visit:
    """Along the site's way into its room at 1.5 m/s, a rest there, and back at 4.5 m/s."""
    (x, _, z), (u, _, w) = site.route[-1], site.route[-2]
    outwards = atan2(w - z, u - x)

    def look_back(arrives: float) -> Look:
        return lambda time: None if time < arrives + 1.0 else outwards

    there = tour(site.route, runs_at=NEVER, seconds=100.0, look=look_back)
    back = tour(site.route[::-1], runs_at=0.0, seconds=0.0, look=lambda arrives: lambda time: None)
    leaves = there.arrives + RESTS
    later = back._replace(passes=lambda point: leaves + back.passes(point))
    return Visit(
        lambda time: there.pose(time) if time < leaves else back.pose(time - leaves),
        lambda time: there.feet(time) if time < leaves else back.feet(time - leaves),
        there.arrives,
        leaves,
        leaves + back.arrives,
        leaves + back.arrives + STANDS,
        [*doors(site, there), *doors(site, later)],
    )


def nears(going: Visit, place: Point) -> tuple[float, float]:
    """When the listener comes within INSIDE of a place, and is farther away again [s]."""
    times = np.arange(0.0, going.returns, STEP)
    feet = [going.feet(float(time)) for time in times]
    near = [hypot(x - place[0], z - place[2]) < INSIDE for x, _, z in feet]
    return float(times[np.argmax(near)]), float(times[len(near) - 1 - np.argmax(near[::-1])])


def open_air(site: Site, going: Visit, start: float, end: float) -> tuple[float, float]:
    """The longest time between two others that the listener is under the open sky [s]."""
    times = np.arange(start, end, GLANCE)
    best, since = (start, start), start
    for time in times.tolist():
        if not _is_open(site, going.feet(time)):
            since = time + GLANCE
        elif time - since > best[1] - best[0]:
            best = since, time
    return best


def _is_open(site: Site, feet: Point) -> bool:
    """Whether less than half of the columns around a place rise above one's head; unknown ones do not."""
    ground = site.ground
    x, z = int(feet[0] // 1) - ground.lo[0], int(feet[2] // 1) - ground.lo[2]
    around = np.s_[max(x - AROUND, 0) : x + AROUND + 1, max(z - AROUND, 0) : z + AROUND + 1]
    return bool((ground.known[around] & (ground.top[around] >= feet[1] + 2.0)).mean() < 0.5)
