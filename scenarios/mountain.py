"""An explosion 300 m away behind a mountain ridge, under the open sky or at a pass beside cliffs."""

from __future__ import annotations

from math import atan2, cos, degrees, dist, pi, radians, sin, sqrt

import numpy as np

import ecs_audio as ea
from ecs_audio.analysis import band_level_db, onset
from scenarios._sight import Vector, first_hit, sees, solids

AWAY = 300.0
"""From the explosion to the listener [m]."""
BLAST_AT = 0.5
"""[s]"""
ARRIVES = (0.875, 0.001)
"""The first sound comes so long after the explosion, and within so much [s]."""
TURNED = 20.0
"""The listener looks so far to the right of the straight line, so that left and right are not alike [°]."""
LOWER = {
    "open": {(88.4, 176.8): (38.0, 48.0), (707.0, 1414.0): (60.0, 200.0)},
    "pass": {(88.4, 176.8): (1.0, 6.0), (4000.0, 8000.0): (12.0, 35.0)},
}
"""Place -> band [Hz] -> what the ridge takes, at least and at most [dB]."""
LEAST_OFF = 15.0
"""At the pass the explosion seems to be at least so far off the straight line [°]."""
GATE = 50
"""x where the ridge ends at the pass; the cliffs begin at CLIFFS [m]."""
CLIFFS, CLIFF_HEIGHT = 130, 80


def scenario(
    *, place: str = "open", ridge: int = 60, acoustics: str = "full", seconds: float = 5.0, seed: int = 0
) -> ea.Scenario:
    """An explosion, a ridge `ridge` m high half-way (0 for none), and a listener.

    place: "open", where nothing else rises, or "pass", where the ridge ends and 80 m cliffs stand beside.
    acoustics: "off", "direct", "reflect" or "full".
    """
    if place not in LOWER:
        raise ValueError(f'place must be "open" or "pass", not {place!r}')
    if not 0 <= ridge <= 100:
        raise ValueError(f"ridge must be 0 to 100 m, not {ridge}")
    world = ea.World.empty(size=(512, 128, 384), origin=(-256, 0, -192))
    world.fill((-256, 0, -192), (256, 1, 192), "grass_block")
    for y in range(ridge):
        half = 4 + round(36.0 * (1.0 - y / ridge))
        end = 256 if place == "open" else GATE - y // 3
        world.fill((-256, 1 + y, -half), (end, 2 + y, half), "stone")
    if place == "pass":
        world.fill((CLIFFS, 1, -192), (CLIFFS + 30, 1 + CLIFF_HEIGHT, 192), "stone")
    clips = ea.Clips()
    clips.synthesize("blast", seed)
    blast = (0.5, 3.5, -AWAY / 2.0)
    ear = (0.5, 2.6, blast[2] + sqrt(AWAY**2 - 0.9**2))
    turn = radians(TURNED)
    noted: list[Vector] = []

    def note(stage: ea.Stage) -> None:
        source = stage.sources.get("blast")
        if source is not None and source.alive:
            noted.append(stage.engine.sources.apparent_position[source].copy())

    exactly = {"start_frame": round(BLAST_AT * clips.rate), "full_within": 400.0}
    options = {"reference": 20.0, "fade_start": 400.0, **exactly}
    return ea.Scenario(
        world=world,
        clips=clips,
        seconds=seconds,
        listener=lambda time: ea.Pose(ear, (sin(turn), 0.0, -cos(turn))),
        spawns=[ea.Spawn("blast", blast, at=BLAST_AT - 0.05, name="blast", options=options)],
        events=[ea.Event(BLAST_AT + ARRIVES[0] + 0.02, note, "it arrives")],
        settings=ea.Settings(acoustics=acoustics),
        seed=seed,
        facts={"blast": np.array(blast), "ear": np.array(ear), "seems": noted},
    )


def check(heard: ea.Recording) -> None:
    """The ridge hides the explosion, but for what comes by the cliffs, from where they are."""
    for place in LOWER:
        behind = heard.again(place=place, ridge=60, acoustics="full", seconds=5.0)
        clear = behind.again(ridge=0)
        for recording in (behind, clear):
            check_arrival(recording)
        check_levels(behind, clear, place)
        check_direction(clear, 0.0)
        if place == "open":
            check_direction(behind, 0.0)
        else:
            check_detour(behind)


def check_arrival(heard: ea.Recording) -> None:
    """The first sound comes after 0.875 s, within a millisecond."""
    assert np.any(heard.samples), "the explosion is not heard at all"
    time = onset(heard.samples) / heard.rate - BLAST_AT
    due, tolerance = ARRIVES
    assert abs(time - due) <= tolerance, (
        f"the explosion arrives {time:.4f} s after it happened; {due} ± {tolerance} s are due at {AWAY:g} m"
    )


def check_levels(behind: ea.Recording, clear: ea.Recording, place: str) -> None:
    """In each band the ridge takes what it should."""
    for (low, high), (least, most) in LOWER[place].items():
        lower = _band_db(clear, low, high) - _band_db(behind, low, high)
        assert least <= lower <= most, (
            f"{place}: behind the ridge {low:g} to {high:g} Hz are {lower:.1f} dB lower than without it;"
            f" {least:g} to {most:g} dB are due"
        )


def check_direction(heard: ea.Recording, off: float) -> None:
    """The explosion comes from `off` degrees to the right of the straight line, within 2."""
    azimuth = azimuth_of(heard)
    assert abs(azimuth - off) <= 2.0, (
        f"the explosion is heard {azimuth:.1f}° to the right of the straight line; {off:.1f} ± 2° are due"
    )


def check_detour(heard: ea.Recording) -> None:
    """It comes from well beside, from a surface that both ends see, in the sound as in the numbers."""
    facts = heard.scenario.facts
    blast, ear = facts["blast"], facts["ear"]
    azimuth = azimuth_of(heard)
    assert azimuth >= LEAST_OFF, (
        f"the explosion is heard {azimuth:.1f}° to the right of the straight line, where the cliffs are;"
        f" at least {LEAST_OFF:g}° are due"
    )
    assert facts["seems"], "the explosion was not alive when it arrived"
    x, y, z = toward = (facts["seems"][-1] - ear) / dist(facts["seems"][-1], ear)
    # What the ears can tell is how far it is to the right; the mixer pans by that alone.
    turn = radians(TURNED)
    side = degrees(np.arcsin(x * cos(turn) + z * sin(turn))) + TURNED
    check_direction(heard, side)
    around = solids(heard.scenario.world)
    surface = first_hit(around, ear, ear + 512.0 * toward)
    assert surface is not None, f"towards {x:.2f}, {y:.2f}, {z:.2f} there is only sky, nothing to come from"
    before = surface - 0.001 * toward
    assert sees(around, before, blast), (
        f"it seems to come from {surface.round(1)}, which the explosion does not see: no sound goes that way"
    )


def azimuth_of(heard: ea.Recording) -> float:
    """How far to the right of the straight line the first 30 ms come from [°], by the level difference."""
    start = onset(heard.samples)
    ears = heard.samples[start : start + round(0.03 * heard.rate)].astype(np.float64)
    left, right = np.sqrt(np.square(ears).sum(axis=0))
    # Constant power: what goes to the right is the sine of an angle that goes with sideways, -1 to 1.
    side = 4.0 / pi * atan2(right, left) - 1.0
    return TURNED + degrees(np.arcsin(side))


def _band_db(heard: ea.Recording, low: float, high: float) -> float:
    """Level of a band in both ears together [dB]."""
    powers = [10.0 ** (band_level_db(ear, low, high, heard.rate) / 10.0) for ear in heard.samples.T]
    return 10.0 * float(np.log10(max(sum(powers), 1e-30)))
