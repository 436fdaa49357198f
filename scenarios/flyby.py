"""A missile passes at 200 m/s, then another at Mach 1.2: Doppler, a silent approach, no click."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.analysis import clicks, level_db, peak_db
from ecs_audio.clips import tone
from scenarios._missile import SOUND, Passing

F64 = NDArray[np.float64]

SPEEDS = (200.0, 1.2 * SOUND)
"""Of the two missiles [m/s]."""
REACH = 450.0
"""Farther away they are silent, so that none of them begins or ends suddenly [m]."""
RUN_UP = 500.0
"""How far before the listener they set out [m]."""
TICK_RATE = 60.0
"""[Hz]"""
LAG = 2.0 / TICK_RATE + 128.0 / 48_000.0
"""A motion is heard as straight lines from tick to tick, so late at most [s]."""
TONE = 400.0
"""[Hz]: low, so that a click stands out."""
NOISES = {"noise": ((2000.0, 3000.0), (8000.0, 10_000.0)), "hiss": ((14_000.0, 18_000.0),)}
"""Bands of noise [Hz]. Where "noise" is heard, nothing else may be; up to 11 kHz, what the reader mirrors
when it reads slowly lies below -60 dB. "hiss" lies above 24 kHz at 1.72 times its speed, and must not fold
back into what is heard."""
NOISE = 1.0
"""Length of that noise [s]; its ends fit, and its seam is heard many times."""
WINDOW = 0.05
"""Time in which a spectrum is looked at [s]."""


def scenario(
    *, what: str = "missile", distance: float = 28.0, air: bool = True, seed: int = 0
) -> ea.Scenario:
    """Two missiles, one after the other, from the left to the right in front of a listener in the open.

    what: how they sound: "missile", "tone" (400 Hz), "noise" (2 to 3 and 8 to 10 kHz) or "hiss" (14 to 18
    kHz). distance: at which they pass [m]. air: whether air takes high frequencies.
    """
    if what not in ("missile", "tone", *NOISES):
        raise ValueError(f'what must be "missile", "tone", "noise" or "hiss", not {what!r}')
    if not 10.0 <= distance <= 100.0:
        raise ValueError(f"distance must be from 10 to 100 m, not {distance:g}")
    clips = ea.Clips()
    clips.synthesize("missile", seed)
    clips.add("tone", tone(TONE, 1.0, clips.rate))
    for name, bands in NOISES.items():
        clips.add(name, _noise(bands, clips.rate, seed))
    options = {"looping": True, "reference": 10.0, "end": REACH, "volume": 0.8}
    spawns, missiles, leaves = [], [], 0.1
    for speed in SPEEDS:
        missile = Passing(speed, leaves + RUN_UP / speed, distance, REACH)
        until = missile.ends() + 0.1
        body = {"kind": "projectile", "velocity": (speed, 0.0, 0.0), "gravity": 0.0}
        spawns.append(ea.Spawn(what, missile.path(), at=leaves, until=until, options=options, body=body))
        missiles.append(missile)
        leaves = until + 0.1
    return ea.Scenario(
        world=ea.World.empty(size=(64, 64, 64), origin=(-32, -32, -32)),
        clips=clips,
        seconds=leaves,
        tick_rate=TICK_RATE,
        spawns=spawns,
        settings=ea.Settings(air=air),
        seed=seed,
        facts={"missiles": missiles},
    )


def check(heard: ea.Recording) -> None:
    """Doppler, arrival, spectrum and side are those of what flies past, and nothing clicks."""
    check_sides(heard)
    tones = heard.again(what="tone")
    check_clicks(tones)
    check_doppler(tones)
    check_arrival(tones)
    # Air would hide what folds.
    check_bands(heard.again(what="noise", air=False))
    check_folding(heard.again(what="hiss", air=False))


def check_doppler(heard: ea.Recording) -> None:
    """At every time the ratio is within 1 % of what it was due to be within the last two ticks."""
    times, ratios, level = _ratio(heard)
    for missile in _missiles(heard):
        mine = (times > missile.begins() + LAG) & (times < missile.ends()) & (level > 1e-3 * level.max())
        heard_for = np.count_nonzero(mine) / 100.0
        assert heard_for > 1.0, (
            f"the missile at {missile.speed:g} m/s is heard for {heard_for:.2f} s; more than 1 s is due"
        )
        for time, ratio in zip(times[mine], ratios[mine], strict=True):
            low, high = missile.ratios(time - LAG, time)
            assert 0.99 * low <= ratio <= 1.01 * high, (
                f"{_when(missile, time)} the ratio is {ratio:.4f}; {low:.4f} to {high:.4f} ± 1 % are due"
            )


def check_arrival(heard: ea.Recording) -> None:
    """The supersonic missile is silent until its sound can be there, and loud within two ticks of that."""
    before, missile = _missiles(heard)
    begins = missile.begins()
    silence = peak_db(_between(heard, before.ends() + 0.11, begins))
    assert silence < -120.0, (
        f"before {_when(missile, begins)}, when it can be heard first, there are {silence:.1f} dBFS;"
        " below -120 are due"
    )
    first, loudest = (peak_db(_between(heard, begins, end)) for end in (begins + LAG, missile.ends()))
    assert first > loudest - 6.0, (
        f"{_when(missile, begins + LAG)} it has come to {first:.1f} dBFS, {1000.0 * LAG:.0f} ms after its"
        f" arrival; more than {loudest - 6.0:.1f} are due, as it is loudest then"
    )


def check_bands(heard: ea.Recording) -> None:
    """Every frequency heard is one of the clip's times a ratio that is due ± 10 %, 50 dB above all others.

    40 dB while the ratio changes by more than 3 % in 0.09 s: it steps from tick to tick, by as much as 13 %
    where the missile is nearest, and steps have feet.
    """
    size = round(WINDOW * heard.rate)
    hann = np.sin(np.pi * (np.arange(size) + 0.5) / size) ** 2
    frequency = np.fft.rfftfreq(size, 1.0 / heard.rate)
    floor = level_db(heard.samples) - 40.0
    for missile in _missiles(heard):
        for time in np.arange(missile.begins() + LAG, missile.ends() - WINDOW, WINDOW / 2.0):
            x = _between(heard, time, time + WINDOW)[:size]
            if level_db(x) < floor:
                continue
            low, high = missile.ratios(time - LAG, time + WINDOW)
            power = np.abs(np.fft.rfft(hann * x)) ** 2
            is_due = np.zeros(len(frequency), np.bool_)
            for first, last in NOISES["noise"]:
                is_due |= (frequency > 0.9 * low * first - 200.0) & (frequency < 1.1 * high * last + 200.0)
            stray = 10.0 * np.log10(power[~is_due].sum() / power.sum() + 1e-30)
            worst = frequency[~is_due][np.argmax(power[~is_due])]
            most = -50.0 if high < 1.03 * low else -40.0
            assert stray < most, (
                f"{_when(missile, time)} {stray:.1f} dB of what is heard are not its bands times"
                f" {low:.3f} to {high:.3f}, the most at {worst:.0f} Hz; below {most:.0f} dB are due"
            )


def check_folding(heard: ea.Recording) -> None:
    """While the first missile is so fast that all of its hiss lies above half the rate, nothing is heard."""
    missile, _ = _missiles(heard)
    fast = [t for t in np.arange(missile.begins(), missile.at, 0.01) if missile.ratio(t) > 1.8]
    there = level_db(_between(heard, fast[0], fast[-1] - LAG))
    # From half as far away on the other side it is heard.
    back = level_db(_between(heard, missile.arrival(REACH / 2.0), missile.ends()))
    assert there < back - 60.0, (
        f"as the missile comes nearer, {there:.1f} dBFS of its hiss are heard, and {back:.1f} as it leaves;"
        f" all of it lies above {heard.rate / 2:g} Hz then, so less than {back - 60.0:.1f} are due"
    )


def check_sides(heard: ea.Recording) -> None:
    """Each missile is heard on the left first if it can be, and on the right in the end."""
    for missile in _missiles(heard):
        # A supersonic one has all but passed when it is heard first.
        for x in (-200.0, 200.0) if missile.speed < SOUND else (200.0,):
            time = missile.arrival(x)
            left, right = (level_db(_between(heard, time, time + 0.1, ear)) for ear in (0, 1))
            more, side = (left - right, "left") if x < 0.0 else (right - left, "right")
            assert more > 10.0, (
                f"{_when(missile, time)} the {side} ear hears {more:.1f} dB more than the other;"
                " more than 10 dB are due"
            )


def check_clicks(heard: ea.Recording) -> None:
    """There is none: the missiles come out of silence, and what arrives at once rises."""
    found = clicks(heard.samples, heard.rate)
    assert not len(found), f"{len(found)} click(s), the first at {found[0] / heard.rate:.4f} s; none is due"


def _missiles(heard: ea.Recording) -> list[Passing]:
    missiles: list[Passing] = heard.scenario.facts["missiles"]
    return missiles


def _between(heard: ea.Recording, start: float, end: float, ear: int | None = None) -> F64:
    """What one ear, or both together, hear between two times [s]."""
    x = heard.samples[round(start * heard.rate) : round(end * heard.rate)].astype(np.float64)
    return x.sum(axis=1) if ear is None else x[:, ear]


def _when(missile: Passing, time: float) -> str:
    return f"{time - missile.at:.3f} s after the missile at {missile.speed:g} m/s has passed,"


def _ratio(heard: ea.Recording) -> tuple[F64, F64, F64]:
    """Times [s], a hundred a second, and there the frequency by that of the clip, and the amplitude."""
    mono = heard.samples.astype(np.float64).sum(axis=1)
    spectrum = np.fft.fft(mono)
    spectrum[len(mono) // 2 :] = 0.0  # what is left turns with the phase of the tone
    turning = 2.0 * np.fft.ifft(spectrum)
    step = heard.rate // 100
    turns = np.unwrap(np.angle(turning))[::step] / (2.0 * np.pi)
    times = (np.arange(len(turns) - 1) + 0.5) * step / heard.rate
    return times, np.diff(turns) * heard.rate / step / TONE, np.abs(turning)[step // 2 :: step][: len(times)]


def _noise(bands: tuple[tuple[float, float], ...], rate: int, seed: int) -> NDArray[np.float32]:
    """Noise in some bands [Hz], and exactly nothing beside them, without a seam."""
    chance = np.random.Generator(np.random.PCG64(seed))
    size = round(NOISE * rate)
    frequency = np.fft.rfftfreq(size, 1.0 / rate)
    spectrum = np.exp(2j * np.pi * chance.uniform(size=len(frequency)))
    spectrum[~np.any([(low <= frequency) & (frequency <= high) for low, high in bands], axis=0)] = 0.0
    samples = np.fft.irfft(spectrum, size)
    return np.asarray(0.7 * samples / np.abs(samples).max(), np.float32)
