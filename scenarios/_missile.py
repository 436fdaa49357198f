"""Something passes a listener in a straight line: when it is heard, and how much its pitch is shifted."""

from __future__ import annotations

from math import hypot, inf, sqrt
from typing import NamedTuple

import numpy as np

from scenarios._paths import Path

SOUND = 343.0
"""[m/s]"""


class Passing(NamedTuple):
    """From the left to the right, past a listener at (0, 0, 0) who looks towards -z."""

    speed: float
    """[m/s]"""
    at: float
    """When it is nearest [s]."""
    distance: float
    """How near [m]: in front of the listener, and as much above."""
    reach: float
    """Farther away it is silent [m]."""

    def path(self) -> Path:
        """Where it is."""
        speed, at, aside = self.speed, self.at, self.distance / sqrt(2.0)
        return lambda time: (speed * (time - at), aside, -aside)

    def arrival(self, x: float) -> float:
        """When the sound arrives that it makes at x, left to right [s]."""
        return self.at + x / self.speed + hypot(x, self.distance) / SOUND

    def begins(self) -> float:
        """When its first sound arrives [s]: from the end of its reach, or, if it is faster, from later on."""
        if self.speed < SOUND:
            return self.arrival(-self.reach)
        # Where it comes nearer at the speed of sound and no faster, `arrival` is least.
        return self.at + self.distance / SOUND * sqrt(1.0 - (SOUND / self.speed) ** 2)

    def ends(self) -> float:
        """When its last sound arrives [s]."""
        return self.arrival(self.reach)

    def ratio(self, time: float) -> float:
        """Its time by the listener's in what arrives then, the latest if there is more; inf before any.

        Emitted at e after it was nearest, with e + sqrt(v² e² + d²) / c = time: c / (c - v cos) of there.
        """
        c, v, since = SOUND, self.speed, time - self.at
        square, half = c * c - v * v, c * c * since
        inside = half * half - square * (half * since - self.distance**2)
        if (v > c and time < self.begins()) or inside < 0.0:
            return inf
        emitted = (half - sqrt(inside)) / square
        towards = -v * v * emitted / hypot(v * emitted, self.distance)
        return c / (c - towards) if towards < c else inf

    def ratios(self, start: float, end: float) -> tuple[float, float]:
        """Least and largest ratio between two times."""
        between = [self.ratio(float(time)) for time in np.linspace(start, end, 9)]
        return min(between), max(between)
