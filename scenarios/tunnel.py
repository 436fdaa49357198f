"""Footsteps and a car in a tunnel of stone, which rings on when both have stopped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.analysis import clicks, octave_rt60
from ecs_audio.perform import record
from scenarios import room
from scenarios._claps import check_place, parts
from scenarios._eyring import BANDS, OPEN, ring_times
from scenarios._passing import check_passing
from scenarios._paths import Path, line

BEGIN = 0.5
"""When both begin [s]."""
RING = 2.5
"""How long it is listened to after both have stopped [s]."""
FADE = 0.02
"""So long after that nothing of them is left [s]."""
SHORTEST = 3.0
"""Their way takes that long at least for the check [s]."""
WALK = 1.4
"""[m/s]"""
ROCK = 3
"""Thickness of the tunnel's walls [m]."""
LIMITS = {"width": (3, 20), "height": (3, 20), "length": (20, 400)}
"""Of its inner edges [m]."""
STANDARD = {"width": 4, "height": 4, "length": 120, "walls": "stone"}
DUE = (0.8, 1.8)
"""How long that one rings at 500 Hz [s]."""
FINE = (1000.0, 4000.0)
"""Where what comes directly is told from the tunnel, whose lower tones ring into one another [Hz]."""


def scenario(
    *,
    what: str = "both",
    width: int = 4,
    height: int = 4,
    length: int = 120,
    walls: str = "stone",
    speed: float = 14.0,
    acoustics: str = "full",
    seconds: float = 8.0,
    seed: int = 0,
) -> ea.Scenario:
    """A walker and a car pass a listener in the middle of a tunnel, from left to right, and stop in it.

    what: "both", "steps" or "car". width, height, length: inner edges [m], open at both ends.
    walls: block name, also of floor and ceiling. speed: of the car [m/s].
    acoustics: "off", "direct", "reflect" or "full". seconds: in the last 2.5 the tunnel alone sounds.
    """
    if what not in ("both", "steps", "car"):
        raise ValueError(f'what must be "both", "steps" or "car", not {what!r}')
    clips = ea.Clips()
    clips.synthesize("engine", seed)
    clips.synthesize("footsteps", seed)
    ear = (0.2 * width, min(1.6, 0.5 * height), 0.5 * length)
    stop = max(seconds - RING, BEGIN + 0.1)
    passes = 0.5 * (BEGIN + stop)

    def along(side: float, height: float, pace: float) -> Path:
        far = pace * (stop - passes)
        start, end = ((side * width, height, ear[2] + z) for z in (-far, far))
        return line(start, end, leaves=BEGIN, arrives=stop)

    drive, walk = along(0.7, 0.6, speed), along(0.5, 0.1, WALK)
    options = {"looping": True, "reference": 1.0, "fade_start": 400.0}
    spawns = [
        ea.Spawn(clip, path, at=BEGIN, until=stop, name=name, options={"volume": volume, **options})
        for name, clip, path, volume in (("car", "engine", drive, 0.25), ("steps", "footsteps", walk, 0.5))
        if what in ("both", name)
    ]
    return ea.Scenario(
        world=_tube(width, height, length, walls),
        clips=clips,
        seconds=seconds,
        listener=lambda time: ea.Pose(ear, (1.0, 0.0, 0.0)),
        spawns=spawns,
        settings=ea.Settings(acoustics=acoustics),
        seed=seed,
        facts={
            "ear": ear,
            "begin": BEGIN,
            "passes": passes,
            "stop": stop,
            "drive": drive,
            "volume": float(width * height * length),
            "surfaces": [(2 * (width + height) * length, walls), (2 * width * height, OPEN)],
        },
    )


def check(heard: ea.Recording) -> None:
    """It rings as long as a tunnel does, longer than a small room, and the car passes from left to right."""
    check_place(heard, "tunnel")
    check_ringing(heard)
    check_clicks(heard)
    small = record(room.scenario)
    for what in ("both", "steps", "car"):
        check_longer(heard.again(what=what, **STANDARD), small)
    check_ears(heard)
    check_passing(heard.again(what="car", acoustics="direct"))


def check_ringing(heard: ea.Recording) -> None:
    """In each band it rings as Eyring says of a tube with open ends, within 20 %.

    So it does if it is ten times as long as wide, or more: rays take shorter ones for more open than that.
    """
    facts = heard.scenario.facts
    due = ring_times(facts["volume"], facts["surfaces"])
    times = octave_rt60(left_over(heard), heard.rate, centres=BANDS)
    for centre, time, expected in zip(BANDS, times, due, strict=True):
        assert abs(time / expected - 1.0) <= 0.2, (
            f"at {centre:g} Hz the tunnel rings for {time:.3f} s when all has stopped; Eyring says"
            f" {expected:.3f} s ± 20 %"
        )


def check_longer(tunnel: ea.Recording, small: ea.Recording) -> None:
    """The tunnel of stone rings for 0.8 to 1.8 s at 500 Hz, and longer than a small room of planks."""
    time, short = (
        float(octave_rt60(x, tunnel.rate, centres=(500.0,))[0]) for x in (left_over(tunnel), parts(small)[0])
    )
    assert DUE[0] <= time <= DUE[1], (
        f"at 500 Hz the tunnel rings for {time:.3f} s; one of stone should for {DUE[0]} to {DUE[1]} s"
    )
    assert time > short, f"at 500 Hz the tunnel rings for {time:.3f} s, and a small room for {short:.3f} s"


def check_clicks(heard: ea.Recording) -> None:
    """Nothing clicks while the tunnel rings on."""
    found = heard.scenario.facts["stop"] + FADE + clicks(left_over(heard), heard.rate) / heard.rate
    assert not len(found), f"a click at {found[0]:.3f} s: the tunnel should ring on smoothly"


def check_ears(heard: ea.Recording) -> None:
    """What comes directly is heard on the left while the car comes, and on the right when it has passed.

    By its share in what is heard: 1, but for what the tunnel's answer has in common with it by chance.
    """
    facts, rate = heard.scenario.facts, heard.rate
    full, direct = (_fine(x.samples, rate) for x in (heard, heard.again(acoustics="direct")))
    for ear, side, begin, end in (
        (0, "left", facts["begin"], facts["passes"]),
        (1, "right", facts["passes"], facts["stop"]),
    ):
        part = slice(round(begin * rate), round(end * rate))
        power = float(direct[part, ear] @ direct[part, ear])
        share = float(full[part, ear] @ direct[part, ear]) / max(power, 1e-20)
        assert abs(share - 1.0) <= 0.4, (
            f"from {begin:.2f} to {end:.2f} s the {side} ear hears {share:.2f} of what comes directly from"
            f" there; 1 ± 0.4 is due"
        )


def left_over(heard: ea.Recording) -> NDArray[np.float32]:
    """What is heard after both have stopped, (n, 2); AssertionError when too little was recorded."""
    least = BEGIN + SHORTEST + RING
    assert heard.scenario.seconds >= least, (
        f"{heard.scenario.seconds:g} s are too short: to pass, and the tunnel after it, take {least:g} s"
    )
    return heard.samples[round((heard.scenario.facts["stop"] + FADE) * heard.rate) :]


def _tube(width: int, height: int, length: int, walls: str) -> ea.World:
    """A tunnel from (0, 0, 0) to its edges, along z, in the midst of nothing."""
    for (name, (low, high)), edge in zip(LIMITS.items(), (width, height, length), strict=True):
        if not low <= edge <= high:
            raise ValueError(f"{name} must be {low} to {high} m, not {edge}")
    size = (width + 4 * ROCK, height + 4 * ROCK, length + 64)
    world = ea.World.empty(size=size, origin=(-2 * ROCK, -2 * ROCK, -32))
    world.fill((-ROCK, -ROCK, 0), (width + ROCK, height + ROCK, length), walls)
    world.fill((0, 0, 0), (width, height, length), "air")
    return world


def _fine(samples: NDArray[np.float32], rate: int) -> NDArray[np.float64]:
    """What of a whole recording lies in FINE, (n, 2)."""
    spectrum = np.fft.rfft(samples, axis=0)
    bins = np.fft.rfftfreq(len(samples), 1.0 / rate)
    spectrum[(bins < FINE[0]) | (bins > FINE[1])] = 0.0
    return np.fft.irfft(spectrum, len(samples), axis=0)
