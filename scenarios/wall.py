"""Tone bursts behind a wall of one, two or three blocks, until the wall is broken."""

from __future__ import annotations

from math import log10

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.analysis import tone_level_db
from ecs_audio.clips import burst

SPEAKER, EAR = (-4.5, 0.5, 0.5), (5.5, 0.5, 0.5)
"""10 m apart [m]; the wall begins half-way."""
BURSTS = ((500.0, 0.0, 0.5), (8000.0, 0.6, 0.5), (5000.0, 1.2, 0.7))
"""Frequency [Hz], start and length [s] of each burst in a period."""
PERIOD = 2.0
"""[s]"""
BREAK_AT = PERIOD + 1.3
"""The wall is broken while the 5 kHz burst of the second period sounds [s]."""
TURN = 0.1
"""How long a source 10 m away waits for its rays at most [s]."""
EASING = 0.1
"""Time constant with which occlusion is heard to change [s]."""

ANSWER = 20.0 * log10(1.0 + 0.344 * 10.0 / 11.7)
"""What the rim of the hole, 3 m off the straight way, adds at most: stone answers with 0.344 [dB]."""
EXPECTED = {
    1: {500.0: (-2.8, 0.5), 5000.0: (-28.7, 1.5), 8000.0: (-37.4, 1.5)},
    2: {500.0: (-17.5, 0.7), 8000.0: (-66.2, 1.5)},
}
"""Blocks -> frequency [Hz] -> level [dB] relative to the same scene without the wall, and tolerance."""


def scenario(
    *,
    blocks: int = 1,
    material: str = "stone",
    acoustics: str = "full",
    seconds: float = 6.0,
    seed: int = 0,
) -> ea.Scenario:
    """A speaker, `blocks` metres of wall (0 for none), a listener, and nothing else that could reflect.

    acoustics: "off", "direct", "reflect" or "full".
    """
    if not 0 <= blocks <= 4:
        raise ValueError(f"blocks must be 0 to 4, not {blocks}")
    world = ea.World.empty(size=(64, 64, 64), origin=(-32, -32, -32))
    world.fill((0, -20, -20), (blocks, 21, 21), material)
    clips = ea.Clips()
    clips.add("bursts", _period(clips.rate))
    middle = (blocks / 2.0, SPEAKER[1], SPEAKER[2])

    def broken(stage: ea.Stage) -> None:
        # Wide enough for the whole bundle of paths through three blocks.
        stage.engine.world.carve(middle, 3.0)

    options = {"looping": True, "reference": 1.0, "fade_start": 400.0}
    return ea.Scenario(
        world=world,
        clips=clips,
        seconds=seconds,
        listener=lambda time: ea.Pose(EAR, (-1.0, 0.0, 0.0)),
        spawns=[ea.Spawn("bursts", SPEAKER, options=options)],
        events=[ea.Event(BREAK_AT, broken, "the wall is broken")],
        settings=ea.Settings(acoustics=acoustics),
        seed=seed,
        facts={"broken_at": BREAK_AT, "blocks": blocks},
    )


def check(heard: ea.Recording) -> None:
    """Each wall takes what its blocks should, and nothing once it is broken."""
    for acoustics in ("direct", "full"):
        clear = heard.again(blocks=0, acoustics=acoustics, seconds=6.0)
        behind = {n: heard.again(blocks=n, acoustics=acoustics, seconds=6.0) for n in (1, 2, 3)}
        check_walls(behind, clear)
        for blocks, wall in behind.items():
            check_break(wall, clear, blocks)
            check_broken(wall, clear, blocks, ANSWER if acoustics == "full" else 0.1)


def check_walls(behind: dict[int, ea.Recording], clear: ea.Recording) -> None:
    """One, two and three blocks take what they should."""
    for blocks, bands in EXPECTED.items():
        for frequency, (expected, tolerance) in bands.items():
            level = _burst_level(behind[blocks], frequency, 0) - _burst_level(clear, frequency, 0)
            assert abs(level - expected) <= tolerance, (
                f"behind {blocks} block(s) {frequency:g} Hz is at {level:.2f} dB of what it is without them;"
                f" {expected} ± {tolerance} dB are due"
            )
    two, three = (_burst_level(behind[blocks], 500.0, 0) for blocks in (2, 3))
    assert three < two - 2.0, f"500 Hz: a third block takes {two - three:.2f} dB; expected at least 2 dB"


def check_break(wall: ea.Recording, clear: ea.Recording, blocks: int) -> None:
    """The wall is there until it is broken, and gone a turn and the easing later."""
    before = _level_at(wall, BREAK_AT - 0.05) - _level_at(clear, BREAK_AT - 0.05)
    assert before < -25.0, (
        f"{blocks} block(s): 5 kHz is at {before:.1f} dB before the wall is broken; below -25 is due"
    )
    for easings, left in ((3.0, 1.0), (5.0, 0.2)):
        # From muffled to clear in so many time constants, after the turn; e^-3 of gain_hf are 0.4 dB.
        time = BREAK_AT + TURN + easings * EASING
        after = _level_at(wall, time) - _level_at(clear, time)
        assert abs(after) <= left, (
            f"{blocks} block(s): {time - BREAK_AT:.2f} s after the wall is broken 5 kHz is at {after:.2f} dB"
            f" of the clear level; within {left} dB are due"
        )


def check_broken(wall: ea.Recording, clear: ea.Recording, blocks: int, most: float) -> None:
    """A second later every burst is within `most` dB of what it is without a wall."""
    for frequency, *_ in BURSTS:
        level = _burst_level(wall, frequency, 2) - _burst_level(clear, frequency, 2)
        assert abs(level) <= most, (
            f"{blocks} block(s) broken, {frequency:g} Hz is {level:.2f} dB off the clear level;"
            f" at most {most:.2f}"
        )


def _period(rate: int) -> NDArray[np.float32]:
    total = np.zeros(round(PERIOD * rate), np.float32)
    for frequency, start, seconds in BURSTS:
        sound = burst(frequency, seconds, rate)
        first = round(start * rate)
        total[first : first + len(sound)] = sound
    return total


def _burst_level(heard: ea.Recording, frequency: float, period: int) -> float:
    """Level of one burst, without its edges."""
    start, seconds = next((start, seconds) for f, start, seconds in BURSTS if f == frequency)
    first = PERIOD * period + start + 10.0 / 343.0
    return _level(heard, frequency, first + 0.1, first + seconds - 0.05)


def _level_at(heard: ea.Recording, time: float) -> float:
    """Level of 5 kHz in the 20 ms around a time."""
    return _level(heard, 5000.0, time - 0.01, time + 0.01)


def _level(heard: ea.Recording, frequency: float, start: float, end: float) -> float:
    first, last = round(start * heard.rate), round(end * heard.rate)
    return tone_level_db(heard.samples[first:last].sum(axis=1), frequency, heard.rate)
