"""A car that passes: what must be heard of it where nothing answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import ecs_audio as ea
from ecs_audio.analysis import band_level_db, direction, frequency
from ecs_audio.clips.machines import FIRING_RATE
from scenarios._eyring import SPEED
from scenarios.field import clip_samples

PLACES = (-0.8, -0.6, -0.4, -0.2, 0.2, 0.4, 0.6, 0.8)
"""Where it is listened to: shares of the time from passing to either end of its way."""
AROUND = 0.08
"""It is listened to so long before and after [s]."""
NOTE = (100.0, 1000.0)
"""Where most of its sound is [Hz]."""


def check_passing(car: ea.Recording) -> None:
    """Its level follows 1 / d, its direction and its pitch follow the way it drives.

    car: as it comes directly, the only source. Its facts are `drive`, seconds -> position, `ear`, and when it
    `begin`s, `passes` and comes to a `stop`. It drives along z, and the listener looks along x.
    """
    facts = car.scenario.facts
    passes, half = float(facts["passes"]), 0.5 * float(facts["stop"] - facts["begin"])
    _check_levels(car, [passes + share * half for share in PLACES])
    _check_directions(car, [passes + share * half for share in PLACES])
    for first, last in ((-0.6, -0.2), (0.2, 0.6)):
        _check_pitch(car, passes + first * half, passes + last * half)


def emission(facts: Mapping[str, Any], heard_at: float) -> tuple[float, float]:
    """When the car made what is heard at a time [s], and how far away it was then [m]."""
    time = heard_at
    for _ in range(20):  # each step is nearer by the car's speed over that of sound
        time = heard_at - math.dist(facts["drive"](time), facts["ear"]) / SPEED
    return time, math.dist(facts["drive"](time), facts["ear"])


def _check_levels(car: ea.Recording, times: list[float]) -> None:
    (spawn,) = car.scenario.spawns
    clip = clip_samples(car.scenario.clips, spawn.clip)
    own = band_level_db(clip, *NOTE, car.rate) + 20.0 * math.log10(spawn.options["volume"])
    for time in times:
        distance = emission(car.scenario.facts, time)[1]
        level, due = _level_db(car, time), own - 20.0 * math.log10(distance)
        assert abs(level - due) <= 1.0, (
            f"{distance:.1f} m away the car is at {level:.2f} dBFS; 1/d makes it {due:.2f} ± 1 dB"
        )


def _check_directions(car: ea.Recording, times: list[float]) -> None:
    facts = car.scenario.facts
    for time in times:
        made, distance = emission(facts, time)
        azimuth = direction(car.samples[_around(car, time)])
        due = math.degrees(math.asin((facts["drive"](made)[2] - facts["ear"][2]) / distance))
        assert abs(azimuth - due) <= 8.0, (
            f"at {time:.2f} s the car comes from {azimuth:.1f}°; {due:.1f} ± 8° are due"
        )


def _check_pitch(car: ea.Recording, begin: float, end: float) -> None:
    part = car.samples[round(begin * car.rate) : round(end * car.rate)].sum(axis=1)
    assert np.any(part), f"from {begin:.2f} to {end:.2f} s the car is not heard"
    tone = frequency(part, car.rate)
    # The strongest tone is that of the explosions, or an octave above.
    pitch = tone / (FIRING_RATE * max(round(tone / FIRING_RATE), 1))
    made = [emission(car.scenario.facts, time)[0] for time in (begin, end)]
    due = (made[1] - made[0]) / (end - begin)
    assert abs(pitch / due - 1.0) <= 0.005, (
        f"from {begin:.2f} to {end:.2f} s the car sounds {pitch:.4f} times as high as at rest;"
        f" Doppler makes it {due:.4f} ± 0.5 %"
    )


def _level_db(car: ea.Recording, time: float) -> float:
    """Power of both ears around a time [dBFS]."""
    ears = car.samples[_around(car, time)].T
    return 10.0 * math.log10(
        sum(10.0 ** (band_level_db(ear, *NOTE, car.rate, steady=True) / 10.0) for ear in ears) + 1e-20
    )


def _around(car: ea.Recording, time: float) -> slice:
    return slice(round((time - AROUND) * car.rate), round((time + AROUND) * car.rate))
