"""A walk from one room through a door into another, where a machine hisses: first heard from the door."""

from __future__ import annotations

from math import atan2, degrees, dist, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.analysis import clicks
from scenarios._feet import SIZE, Walk, check_feet
from scenarios._listener import tour
from scenarios._sight import Vector

DOOR = np.array((10.5, 1.0, 5.0))
"""Middle of the door, 2 m wide and high, in a wall of 1 m [m]; the rooms are 10 x 3 x 10 m."""
MACHINE = (2.5, 1.5, 1.5)
"""Beyond the door, but beside it [m]."""
ASIDE, CLEAR = 0.1, 0.5
"""The listener is as near as that to the place on the way, and as far as that from the door's sides [m]."""
WAY = [(20.0, 0.0, 5.0), (9.0, 0.0, 5.0), (4.5, 0.0, 2.5)]
"""On the floor [m]."""
STEP = 0.02
"""Levels are compared from one such time to the next [s]."""
STEEPEST = 3.0
"""[dB]"""
SETTLED = 0.5
"""Until then reverbs fill up [s]."""
FALL = {"reflect": 0.1, "full": 1.5}
"""Below what was loudest before, a level falls by that much at most [dB]; the room's own sound wavers."""
MEDIAN, MOST = 10.0, 30.0
"""Off the door, half and nine tenths of all directions are nearer [°]."""


class Look(NamedTuple):
    """What the engine said at one moment."""

    time: float
    ear: Vector
    """[m]"""
    right: Vector
    """Unit vector to the listener's right."""
    straight: float
    """Transmission of the straight path."""
    coupling: float
    seems: Vector
    """Unit vector to where the machine seems to be."""


def scenario(
    *,
    acoustics: str = "full",
    echoes: bool = True,
    steady: bool = False,
    walls: str = "stone",
    seed: int = 0,
) -> ea.Scenario:
    """Two rooms of `walls` with a door between, through which the listener walks; the way takes 12 s.

    acoustics: "off", "direct", "reflect" or "full". echoes: whether walls answer. steady: whether the hiss
    repeats every 20 ms, to measure levels, rather than every second.
    """
    world = ea.World.empty(size=(48, 24, 32), origin=(-8, -8, -8))
    world.fill((-1, -1, -1), (22, 4, 11), walls)
    world.fill((0, 0, 0), (10, 3, 10), "air")
    world.fill((11, 0, 0), (21, 3, 10), "air")
    world.fill((10, 0, 4), (11, 2, 6), "air")
    clips = ea.Clips()
    clips.add("hiss", _hiss(clips.rate, STEP if steady else 1.0, seed))
    going = tour(WAY, runs_at=np.inf, seconds=20.0, look=lambda arrives: lambda time: None)
    seconds = going.arrives + 0.5
    walk = Walk(world, going.feet, seconds)
    seen: list[Look] = []

    def look(stage: ea.Stage) -> None:
        # Before a tick, so all of this belongs to the time of the tick before.
        time = stage.time - 1.0 / stage.scenario.tick_rate
        listener = stage.engine.listener
        ear, (x, _, z) = listener.position.copy(), listener.forward
        machine, s = stage.sources["machine"], stage.engine.sources
        seems = s.apparent_position[machine] - ear
        straight, coupling = float(s.path[machine, 0]), float(s.coupling[machine])
        right = np.array((-z, 0.0, x))
        seen.append(Look(time, ear, right, straight, coupling, seems / np.linalg.norm(seems)))

    options = {"looping": True, "reference": 1.0, "fade_start": 400.0}
    return ea.Scenario(
        world=world,
        clips=clips,
        seconds=seconds,
        listener=going.pose,
        walker=walk.walker(lambda time: going.pose(time).forward),
        spawns=[ea.Spawn("hiss", MACHINE, name="machine", options=options)],
        events=[ea.Event(0.05 * k, look) for k in range(2, int(seconds / 0.05))],
        settings=ea.Settings(acoustics=acoustics, echoes=echoes),
        seed=seed,
        facts={"seen": seen, "walk": walk, "arrives": going.arrives},
    )


def check(heard: ea.Recording) -> None:
    """It grows louder all the way, without a step, and comes from the door until it is in view."""
    # Without echoes and reverb there is one sound alone, whose level and direction are exact. The modes of
    # a reverb need noise instead: some of the few tones of a steady hiss would meet one, others none.
    alone = heard.again(acoustics="reflect", echoes=False, steady=True)
    check_growth(alone, FALL["reflect"])
    check_no_click(alone)
    check_direction(alone)
    check_walk(alone)
    whole = heard.again(acoustics="full", echoes=True, steady=False)
    check_growth(whole, FALL["full"])
    check_no_click(whole)


def check_walk(heard: ea.Recording) -> None:
    """The listener walks through the door, and touches neither side of it."""
    walk = heard.scenario.facts["walk"]
    check_feet(walk, len(heard.rows), ASIDE)
    half = 0.5 * SIZE[2]
    for time, x, _, z, _ in walk.been.rows.tolist():
        if abs(x - DOOR[0]) < 0.5 + half:
            left = 1.0 - half - abs(z - DOOR[2])
            assert left > CLEAR, (
                f"at {time:.2f} s the walker is {left:.2f} m from a side of the door; {CLEAR:g} m are due"
            )


def check_growth(heard: ea.Recording, most: float) -> None:
    """The level only rises, but for `most` dB over half a second, and never steps by 3 dB in 20 ms."""
    first, level = round(SETTLED / STEP), levels(heard)
    steps = np.diff(level[first:])
    worst = int(np.argmax(np.abs(steps)))
    assert abs(steps[worst]) <= STEEPEST, (
        f"at {SETTLED + STEP * (worst + 1):.2f} s the level steps by {steps[worst]:.1f} dB in 20 ms;"
        f" at most {STEEPEST:g} dB"
    )
    half = len(level) % 25
    power = np.power(10.0, level[half:] / 10.0).reshape(-1, 25).mean(axis=1)
    slow = 10.0 * np.log10(power[2:])
    falls = np.maximum.accumulate(slow) - slow
    worst = int(np.argmax(falls))
    assert falls[worst] <= most, (
        f"{0.5 * (worst + 2.5):.1f} s on the way the level is {falls[worst]:.2f} dB lower than it was before;"
        f" towards the machine it falls by {most:g} dB at most"
    )


def check_no_click(heard: ea.Recording) -> None:
    """Nothing jumps."""
    found = clicks(heard.samples[round(SETTLED * heard.rate) :], heard.rate)
    assert not len(found), (
        f"a click at {SETTLED + found[0] / heard.rate:.3f} s, where nothing but hiss is due"
    )


def check_direction(heard: ea.Recording) -> None:
    """Behind the wall it comes from the door, by the numbers and by the levels of the two ears."""
    hidden = [look for look in heard.scenario.facts["seen"] if look.straight < 0.5 and look.coupling > 0.0]
    assert len(hidden) >= 50, f"only {len(hidden)} looks found the machine behind the wall and still heard"
    said, sounded = [], []
    for look in hidden:
        door = (DOOR - look.ear) / dist(DOOR, look.ear)
        said.append(degrees(np.arccos(np.clip(look.seems @ door, -1.0, 1.0))))
        sounded.append(degrees(abs(np.arcsin(side_of(heard, look.time)) - np.arcsin(door @ look.right))))
    for what, errors in (("seems to be", said), ("is heard", sounded)):
        median, most = np.median(errors), np.percentile(errors, 90.0)
        assert max(median / MEDIAN, most / MOST) <= 1.0, (
            f"behind the wall the machine {what} {median:.1f}° off the door in the median and {most:.1f}° at"
            f" 90 %; at most {MEDIAN:g}° and {MOST:g}°"
        )
    for look in heard.scenario.facts["seen"]:
        if look.time > SETTLED:
            side, due = side_of(heard, look.time), float(look.seems @ look.right)
            assert abs(side - due) <= 0.1, (
                f"at {look.time:.2f} s the ears hear the machine {side:+.2f} to the right, and it seems to be"
                f" {due:+.2f} to the right; they must agree within 0.1"
            )


def levels(heard: ea.Recording) -> NDArray[np.float64]:
    """Level of both ears together every 20 ms [dB]."""
    size = round(STEP * heard.rate)
    samples = heard.samples[: len(heard.samples) // size * size].astype(np.float64)
    power = np.square(samples).sum(axis=1).reshape(-1, size).mean(axis=1)
    return np.asarray(10.0 * np.log10(np.maximum(power, 1e-20)))


def side_of(heard: ea.Recording, time: float) -> float:
    """How far to the right it comes from, -1 to 1, by the level difference of constant power."""
    first = round(time * heard.rate)
    ears = heard.samples[first : first + round(STEP * heard.rate)].astype(np.float64)
    left, right = np.sqrt(np.square(ears).sum(axis=0))
    return 4.0 / pi * atan2(right, left) - 1.0


def _hiss(rate: int, period: float, seed: int) -> NDArray[np.float32]:
    """Noise from 200 Hz to 10 kHz, -3 dB an octave, that repeats every `period` [s]; 1 s of it."""
    rng = np.random.Generator(np.random.PCG64(seed))
    frames = round(period * rate)
    order = np.arange(round(200.0 * period), round(10_000.0 * period) + 1)
    spectrum = np.zeros(frames // 2 + 1, np.complex128)
    spectrum[order] = np.exp(2j * pi * rng.uniform(size=len(order))) / np.sqrt(order)
    sound = np.fft.irfft(spectrum, frames)
    return np.tile(0.05 * sound / sound.std(), round(1.0 / period)).astype(np.float32)
