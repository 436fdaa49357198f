"""A clap between the two walls of a canyon, of our own or of a world file: echoes and a long tail."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, dist, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.components.entries import NO_PLANE
from scenarios._gorge import gorge
from scenarios._sight import SKIN, Solids, Vector, mirrors, sees, solids
from scenarios._site import metric

CLAP_AT = 0.5
"""[s]"""
SOUND = 343.0
"""[m/s]"""
WALLS = (12, 52)
"""x of the faces of our own canyon [m]; 60 m high, over grass."""
TAIL = (2.0, 5.0)
"""Reverberation time at 500 Hz, at least and at most [s]."""
NEAREST = 0.001
"""An echo comes within so much of its time [s]."""
LEAST = 0.1
"""What is weaker than so much of the strongest echo is none."""
CENTRE = 500.0
"""[Hz]"""


def scenario(
    *,
    distance: float = 30.0,
    world: str | None = None,
    around: tuple[float, float, float] | None = None,
    radius: float = 256.0,
    cell_size: float | None = None,
    acoustics: str = "full",
    echoes: bool = True,
    seconds: float = 6.0,
    seed: int = 0,
) -> ea.Scenario:
    """A canyon 40 m wide and 60 m deep, or one that is found in a world file, a clap and a listener in it.

    distance: from the clap to the listener along our own canyon [m]. acoustics: "off", "direct", "reflect"
    or "full". echoes: whether walls answer. around, radius: only this part of the world file. cell_size: of
    its cells, where the file is wrong; 1 m is needed.
    """
    if not 1.0 <= distance <= 100.0:
        raise ValueError(f"distance must be 1 to 100 m, not {distance:g}")
    if world is None:
        place, clap, ear, solids = _canyon(distance)
    else:
        place = metric(world, around, radius, cell_size)
        clap, ear, solids = gorge(place, seed)
    clips = ea.Clips()
    clips.synthesize("clap", seed)
    ahead = (clap - ear) * (1.0, 0.0, 1.0) / np.hypot(*(clap - ear)[[0, 2]])
    taps: list[tuple[float, Vector]] = []
    arrives = CLAP_AT + dist(clap, ear) / SOUND
    heard = ea.Event(arrives + 0.02, lambda stage: _note(stage, taps), "it is heard")
    exactly = {"start_frame": round(CLAP_AT * clips.rate), "full_within": 400.0}
    options = {"reference": 3.0, "fade_start": 400.0, **exactly}
    return ea.Scenario(
        world=place,
        clips=clips,
        seconds=seconds,
        listener=lambda time: ea.Pose(ear, ahead),
        spawns=[ea.Spawn("clap", clap, at=CLAP_AT - 0.05, name="clap", options=options)],
        events=[heard],
        settings=ea.Settings(acoustics=acoustics, echoes=echoes),
        seed=seed,
        facts={"clap": clap, "ear": ear, "ahead": ahead, "around": solids, "taps": taps},
    )


def check(heard: ea.Recording) -> None:
    """Echoes come when and whence geometry says, and a canyon's tail follows."""
    for distance in (10.0, 30.0, 60.0):
        canyon = heard.again(world=None, distance=distance, acoustics="full", echoes=True, seconds=6.0)
        check_echoes(canyon, canyon.again(echoes=False), least=2)
        check_tail(canyon)
    if heard.parameters.get("world") is not None:
        real = heard.again(acoustics="full", echoes=True)
        check_echoes(real, real.again(echoes=False), least=0)


def check_echoes(heard: ea.Recording, without: ea.Recording, least: int) -> None:
    """What echoes add to the recording comes by mirrors, or by a point of rough ground that both ends see.

    least: how many of them must come by mirrors.
    """
    facts, rate = heard.scenario.facts, heard.rate
    clap, ear, around = facts["clap"], facts["ear"], facts["around"]
    ways = [(way.length / SOUND, way.points[-1]) for way in mirrors(around, clap, ear)]
    rough = [
        ((dist(clap, point) + dist(point, ear)) / SOUND, point)
        for _, point in facts["taps"]
        if _is_surface(around, point) and sees(around, clap, point) and sees(around, point, ear)
    ]
    found = _arrivals(heard.samples - without.samples, _clip(heard.scenario.clips), rate)
    assert found, "nothing answers the clap; a canyon does"
    mirrored = [(late, side) for late, side in found if _fits(late, side, ways, facts)]
    assert len(mirrored) >= least, (
        f"{len(mirrored)} of {len(found)} echoes, {_times(found)}, come when and whence one of the"
        f" {len(ways)} mirror images does ({_times(ways)}, ± {1000.0 * NEAREST:g} ms each); {least} must"
    )
    for late, side in found:
        assert _fits(late, side, ways + rough, facts), (
            f"an echo comes {1000.0 * late:.2f} ms after the clap from {side:+.2f} to the right; no mirror"
            f" and no point that both ends see has it from there then: {_times(ways + rough)}"
        )
    for late, _ in facts["taps"]:
        assert any(abs(late - other) <= NEAREST for other, _ in found), (
            f"an echo was found whose way takes {1000.0 * late:.2f} ms, but those heard come after"
            f" {_times(found)}"
        )


def check_tail(heard: ea.Recording) -> None:
    """The canyon rings for 2 to 5 s at 500 Hz, once the last echo is gone."""
    assert {row["room"] for row in heard.rows} == {"canyon"}, "the listener is not always in a canyon"
    start = round((CLAP_AT + 0.4) * heard.rate)
    seconds = _rt60(heard.samples[start:].astype(np.float64), heard.rate)
    assert TAIL[0] <= seconds <= TAIL[1], (
        f"the tail at 500 Hz takes {seconds:.2f} s for 60 dB; a canyon's takes {TAIL[0]:g} to {TAIL[1]:g} s"
    )


def _canyon(distance: float) -> tuple[ea.World, Vector, Vector, Solids]:
    world = ea.World.empty(size=(64, 80, 256))
    world.fill((0, 0, 0), (64, 1, 256), "grass_block")
    world.fill((WALLS[0] - 2, 1, 0), (WALLS[0], 61, 256), "stone")
    world.fill((WALLS[1], 1, 0), (WALLS[1] + 2, 61, 256), "stone")
    # Not in the middle, so that the two walls answer at different times.
    ear = np.array((27.0, 2.6, 113.0))
    aside = min(9.0, 0.3 * distance)
    clap = ear + np.array((aside, 0.0, sqrt(distance * distance - aside * aside)))
    return world, clap, ear, solids(world)


def _note(stage: ea.Stage, taps: list[tuple[float, Vector]]) -> None:
    """Delay [s] of each echo that sounds, and its point of rough ground [m], which those by mirrors lack."""
    source, sources = stage.sources["clap"], stage.engine.sources
    if source.alive:
        delays, points = sources.tap_delay[source], sources.tap_point[source].copy()
        sounding = np.flatnonzero(sources.tap_plane[source, :, 0] != NO_PLANE)
        taps.extend((float(delays[tap]), points[tap]) for tap in sounding)


def _is_surface(around: Solids, point: Vector) -> bool:
    """Whether a point lies in the air, and a wall within two skins of it."""
    near = point + 2.0 * SKIN * np.concatenate((np.zeros((1, 3)), np.eye(3), -np.eye(3)))
    solid = around.at(np.floor(near).astype(np.int64))
    return bool(not solid[0] and solid[1:].any())


def _fits(late: float, side: float, ways: list[tuple[float, Vector]], facts: Mapping[str, Any]) -> bool:
    """Whether one of the ways takes so long and ends on that side."""
    ear, ahead = facts["ear"], facts["ahead"]
    right = np.array((-ahead[2], 0.0, ahead[0]))
    return any(
        abs(late - way) <= NEAREST and abs(side - (point - ear) @ right / dist(point, ear)) < 0.1
        for way, point in ways
    )


def _arrivals(
    samples: NDArray[np.float32], clip: NDArray[np.float64], rate: int
) -> list[tuple[float, float]]:
    """How late after the clap each copy of it comes [s], and from how far to the right, -1 to 1."""
    size = 1 << (len(samples) + len(clip)).bit_length()
    spectrum = np.fft.rfft(clip, size)
    power = np.abs(spectrum) ** 2
    # Division by the clip's spectrum makes an impulse of it; where it has no energy, nothing is to be known.
    inverse = np.conj(spectrum) / (power + 0.01 * power.max())
    ears = np.fft.irfft(np.fft.rfft(samples, size, axis=0) * inverse[:, None], size, axis=0)[: len(samples)]
    level = np.hypot(*ears.T)
    strongest, found = float(level.max()), []
    while strongest > 0.0 and level.max() > LEAST * strongest:
        peak = int(np.argmax(level))
        left, right = np.abs(ears[peak])
        found.append((peak / rate - CLAP_AT, 4.0 / pi * atan2(right, left) - 1.0))
        level[max(peak - rate // 1000, 0) : peak + rate // 1000] = 0.0
    return sorted(found)


def _rt60(x: NDArray[np.float64], rate: int) -> float:
    """Reverberation time about 500 Hz [s]: Schroeder's integral from -5 to -25 dB, 0 for silence."""
    size = 2 * len(x)
    at = np.maximum(np.fft.rfftfreq(size, 1.0 / rate), 1.0)
    # A bell an octave wide rings for milliseconds; straight edges would ring longer than the canyon does.
    bell = np.exp(-2.8 * np.log2(at / CENTRE) ** 2)
    band = np.fft.irfft(np.fft.rfft(x, size, axis=0) * bell[:, None], size, axis=0)[: len(x)]
    energy = np.square(band).sum(axis=1)[::-1].cumsum()[::-1]
    if not energy[0] > 1e-20:
        return 0.0
    level = 10.0 * np.log10(np.maximum(energy / energy[0], 1e-12))
    first, last = int(np.argmax(level < -5.0)), int(np.argmax(level < -25.0))
    return float(-60.0 / np.polyfit(np.arange(first, last) / rate, level[first:last], 1)[0])


def _clip(clips: ea.Clips) -> NDArray[np.float64]:
    number = clips.id("clap")
    start, length = int(clips.offset[number]), int(clips.length[number])
    return clips.bank[start : start + length].astype(np.float64)


def _times(ways: list[tuple[float, Vector]] | list[tuple[float, float]]) -> str:
    return ", ".join(f"{1000.0 * late:.1f}" for late, _ in ways) + " ms" if ways else "none"
