"""How long and how loud room acoustics says a space rings, from its volume and what its surfaces swallow."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ecs_audio.world import Materials

BANDS = (125.0, 500.0, 2000.0, 8000.0)
"""Where materials have numbers [Hz]."""
SPEED = 343.0
"""Of sound [m/s]."""
AIR = (0.000101, 0.000628, 0.00228, 0.0242)
"""Intensity attenuation of air in each of the BANDS [1/m] (ISO 9613-1, 20 °C, 50 %)."""
OPEN = "air"
"""The surface of an opening: what goes out does not come back."""
SHORTEST, LONGEST = 0.1, 5.0
"""The engine's limits of a reverberation time [s]; a formula must have them, too, to be compared."""
LOUDEST = 3.0
"""Its limit of a level relative to the direct sound at 1 m."""

Surfaces = Iterable[tuple[float, str]]
"""Areas [m²] and block names."""


def ring_times(volume: float, surfaces: Surfaces) -> tuple[float, ...]:
    """Reverberation time in each of the BANDS [s]: Eyring (1930), with the share of the air.

    T = 24 ln 10 / c · V / (−S ln(1 − a) + 4 m V), a the mean absorption. volume: [m³].
    """
    area, absorption = _absorption(surfaces)
    times = (
        24.0 * math.log(10.0) / SPEED * volume / (-area * math.log(1.0 - a) + 4.0 * air * volume)
        for a, air in zip(absorption, AIR, strict=True)
    )
    return tuple(min(max(time, SHORTEST), LONGEST) for time in times)


def ring_level(surfaces: Surfaces) -> float:
    """Amplitude of the reverberant field relative to the direct sound at 1 m, mean of 500 and 2000 Hz.

    A source of power P gives 4 P (1 − a) / (S a c) of reverberant, P / (4 π r² c) of direct energy density.
    """
    area, (_, low, high, _) = _absorption(surfaces)
    a = 0.5 * (low + high)
    return min(math.sqrt(16.0 * math.pi * (1.0 - a) / (area * a)), LOUDEST)


def _absorption(surfaces: Surfaces) -> tuple[float, list[float]]:
    """Whole area [m²], and the share of energy that it swallows in each of the BANDS."""
    materials = Materials.shipped()
    parts = [(area, materials.groups[materials.match(name).group].absorption) for area, name in surfaces]
    whole = math.fsum(area for area, _ in parts)
    return whole, [math.fsum(area * a[band] for area, a in parts) / whole for band in range(len(BANDS))]
