"""Claps in a closed box to the left and to the right of a listener, and what must be heard of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.analysis import clicks, direction, level_db, octave_levels_db, octave_rt60, onset
from scenarios._eyring import BANDS, SPEED, ring_level, ring_times
from scenarios._shoebox import Box, build
from scenarios.field import clip_samples

F32 = NDArray[np.float32]

BETWEEN = ((250.0, 0, 1), (1000.0, 1, 2), (4000.0, 2, 3))
"""Octaves [Hz] where materials have no numbers: their times lie between those of two of the BANDS."""
WOOL = "white_wool"
FIRST = 0.5
"""When the first clap sounds [s]; the next when nothing is left of it."""
STEP = 1.0
"""From the listener to a clap at least [m]: nearer, nothing gets louder."""
AT_ONCE = 0.002
"""So long after a clap arrives nothing else has [s]."""
LATE = 0.05
"""So long after a clap the room alone is heard [s]."""
DENSE = 0.15
"""So long after a clap its tail is dense enough to listen for clicks [s]."""


class Clap(NamedTuple):
    """When and where."""

    at: float
    """[s]"""
    where: tuple[float, float, float]
    """[m]"""


def scene(box: Box, *, acoustics: str, seconds: float, seed: int) -> ea.Scenario:
    """As many claps as fit into `seconds`, left and right of the listener in turn, at places by chance."""
    clips = ea.Clips()
    clips.synthesize("clap", seed)
    ear = (0.55 * box.width, min(1.6, 0.5 * box.height), 0.4 * box.length)
    # In quarters of a second: their Fourier transforms are fast.
    pause = 0.25 * math.ceil(4.0 * max(ring_times(box.volume, box.surfaces)) + 1.0)
    chance = np.random.Generator(np.random.PCG64(seed))
    times = FIRST + pause * np.arange(max(int((seconds - FIRST) / pause + 1e-9), 0))
    claps = [Clap(float(at), _beside(ear, box, chance, right=k % 2 == 1)) for k, at in enumerate(times)]
    # Spawned a little early, so that each starts at its very frame.
    spawns = [
        ea.Spawn(
            "clap",
            clap.where,
            at=clap.at - 0.1,
            options={"start_frame": round(clap.at * clips.rate), "reference": 1.0, "fade_start": 400.0},
        )
        for clap in claps
    ]
    return ea.Scenario(
        world=build(box),
        clips=clips,
        seconds=seconds,
        listener=lambda time: ea.Pose(ear, (0.0, 0.0, -1.0)),
        spawns=spawns,
        tick_rate=20.0,  # nothing moves
        settings=ea.Settings(acoustics=acoustics),
        seed=seed,
        facts={"box": box, "ear": ear, "claps": claps, "pause": pause},
    )


def check_box(heard: ea.Recording, kind: str) -> None:
    """It is a `kind` of place, and rings as long and as loud as it should, smoothly."""
    check_place(heard, kind)
    check_times(heard)
    check_level(heard)
    check_clicks(heard)


def check_place(heard: ea.Recording, kind: str) -> None:
    """The engine knows at every tick what kind of place it is."""
    kinds = {row["room"] for row in heard.rows}
    assert kinds == {kind}, f"the listener is in a {', a '.join(sorted(kinds))}; it is a {kind}"


def check_times(heard: ea.Recording) -> None:
    """Every clap dies away in each octave as Eyring says, within 15 %."""
    box = heard.scenario.facts["box"]
    due = ring_times(box.volume, box.surfaces)
    bands = [(centre, time, time) for centre, time in zip(BANDS, due, strict=True)]
    bands += [(centre, min(due[i], due[k]), max(due[i], due[k])) for centre, i, k in BETWEEN]
    for number, part in enumerate(parts(heard)):
        times = octave_rt60(part, heard.rate, centres=tuple(centre for centre, _, _ in bands))
        for time, (centre, low, high) in zip(times, bands, strict=True):
            assert 0.85 * low <= time <= 1.15 * high, (
                f"clap {number} rings for {time:.3f} s at {centre:g} Hz; Eyring says"
                f" {low:.3f}{f' to {high:.3f}' if high > low else ''} s ± 15 %"
            )


def check_level(heard: ea.Recording) -> None:
    """What the room adds to each clap is as loud as theory says, within 2 dB."""
    due = 20.0 * math.log10(ring_level(heard.scenario.facts["box"].surfaces))
    for number, level in enumerate(room_levels_db(heard)):
        assert abs(level - due) <= 2.0, (
            f"clap {number}: the room adds {level:.2f} dB of what comes directly at 1 m;"
            f" room acoustics says {due:.2f} ± 2 dB"
        )


def check_direct(heard: ea.Recording) -> None:
    """Each clap arrives d / 343 s late, with 1 / d of its amplitude, from where it is."""
    ear, claps, rate = heard.scenario.facts["ear"], heard.scenario.facts["claps"], heard.rate
    # With silence after it, or its bands would have no edges.
    clip = np.pad(clip_samples(heard.scenario.clips, "clap"), (0, rate))
    alone = heard.again(acoustics="direct")
    for number, (clap, part, direct) in enumerate(zip(claps, parts(heard), parts(alone), strict=True)):
        distance, what = math.dist(clap.where, ear), f"clap {number}, {math.dist(clap.where, ear):.2f} m away"
        assert np.any(part), f"{what}, is not heard"
        # The onset is found by the peak: as early in the clip as in what is heard of it.
        first = onset(part)
        arrival, due = 1000.0 * (first - onset(clip)) / rate, 1000.0 * distance / SPEED
        assert abs(arrival - due) <= 0.3, (
            f"{what}, arrives after {arrival:.2f} ms; d/343 makes it {due:.2f} ± 0.3 ms"
        )
        level = 10.0 * math.log10(_energy(direct, rate, 500.0) / _energy(clip, rate, 500.0))
        due = -20.0 * math.log10(distance)
        assert abs(level - due) <= 0.3, (
            f"{what}, comes directly at {level:.2f} dB of its level; 1/d makes it {due:.2f} ± 0.3 dB"
        )
        azimuth = direction(part[first : first + round(AT_ONCE * rate)])
        due = math.degrees(math.asin((clap.where[0] - ear[0]) / distance))
        assert abs(azimuth - due) <= 3.0, f"{what}, comes from {azimuth:.1f}°; {due:.1f} ± 3° are due"


def check_clicks(heard: ea.Recording) -> None:
    """Nothing clicks while a clap dies away."""
    start = round(DENSE * heard.rate)
    for number, part in enumerate(parts(heard)):
        found = (start + clicks(part[start:], heard.rate)) / heard.rate
        assert not len(found), f"a click {found[0]:.3f} s after clap {number}: its tail should be smooth"


def check_wool(bare: ea.Recording, lined: ea.Recording) -> None:
    """Wool on the walls lowers time and level, unless they swallow much as it is."""
    box, wool = bare.scenario.facts["box"], lined.scenario.facts["box"]
    if ring_times(wool.volume, wool.surfaces)[1] > 0.6 * ring_times(box.volume, box.surfaces)[1]:
        return
    walls = box.walls
    long, short = (octave_rt60(parts(x)[0], x.rate, centres=(500.0,))[0] for x in (bare, lined))
    assert short < 0.8 * long, (
        f"at 500 Hz it rings for {short:.3f} s with wool on the walls, for {long:.3f} s with {walls};"
        " wool should shorten it by a fifth and more"
    )
    loud, soft = (level_db(parts(x)[0][round(LATE * x.rate) :]) for x in (bare, lined))
    assert soft < loud - 1.0, (
        f"{1000 * LATE:.0f} ms after a clap {soft:.1f} dBFS are left with wool on the walls, {loud:.1f} with"
        f" {walls}; wool should soften it by more than 1 dB"
    )


def parts(heard: ea.Recording) -> list[F32]:
    """What is heard from each clap to the next, (n, 2) each; AssertionError when there is none."""
    facts, rate = heard.scenario.facts, heard.rate
    assert facts["claps"], (
        f"{heard.scenario.seconds:g} s are too short: a clap here takes {FIRST + facts['pause']:.1f} s"
    )
    length = round(facts["pause"] * rate)
    return [heard.samples[first : first + length] for first in (round(c.at * rate) for c in facts["claps"])]


def room_levels_db(heard: ea.Recording) -> list[float]:
    """What the room adds to each clap, relative to its direct sound at 1 m [dB].

    By energy, the mean of 500 and 2000 Hz. Echoes are an effect and no part of the theory: "reflect" has the
    same ones, and they are taken off.
    """
    facts, rate = heard.scenario.facts, heard.rate
    echoing, alone = heard.again(acoustics="reflect"), heard.again(acoustics="direct")
    levels = []
    for clap, full, echo, direct in zip(
        facts["claps"], parts(heard), parts(echoing), parts(alone), strict=True
    ):
        ratios = [_energy(full - echo, rate, f) / _energy(direct, rate, f) for f in (500.0, 2000.0)]
        distance = math.dist(clap.where, facts["ear"])
        levels.append(10.0 * math.log10(max(sum(ratios) / 2.0, 1e-12)) - 20.0 * math.log10(distance))
    return levels


def _beside(
    ear: tuple[float, float, float], box: Box, chance: np.random.Generator, *, right: bool
) -> tuple[float, float, float]:
    """A place on one side of the ear, a step away at least, and not at a wall."""
    low, high = (ear[0], 0.9 * box.width) if right else (0.1 * box.width, ear[0])
    while True:
        place = (
            float(chance.uniform(low, high)),
            float(chance.uniform(0.4, 0.6) * min(box.height, 4.0)),
            float(chance.uniform(0.15, 0.85) * box.length),
        )
        distance = math.dist(place, ear)
        if distance >= STEP and abs(place[0] - ear[0]) >= 0.5 * distance:
            return place


def _energy(x: NDArray[np.floating], rate: float, centre: float) -> float:
    """Energy in an octave, summed over frames and channels; never 0."""
    channels = x.reshape(len(x), -1).T
    levels = (float(octave_levels_db(channel, rate, centres=(centre,))[0]) for channel in channels)
    return float(len(x) * sum(10.0 ** (level / 10.0) for level in levels)) + 1e-20
