"""A clap and a drone in the open: distance, delay, and nothing that comes back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.analysis import delay_between, peak_db, tone_level_db
from ecs_audio.clips import tone
from scenarios._paths import circle

EAR = (0.5, 2.6, 0.5)
"""Where the listener is [m]; ground would answer, so there is none."""
DOUBLINGS = tuple(2.0**k for k in range(9))
"""Distances of the tones of `what="doubling"` [m]."""
TONE = 125.0
"""[Hz]: low enough that air takes less than 0.001 dB of it in 256 m."""
PERIOD = 1.6
"""Time from one of those tones to the next [s]: 0.75 s on its way, the rest to be measured."""
CLAP_AT = 0.5
"""[s]"""
STEP = 6.0206
"""What a doubling of the distance costs [dB]."""


def scenario(
    *,
    what: str = "both",
    distance: float = 20.0,
    fade_start: float = 400.0,
    air: bool = True,
    seconds: float = 8.0,
    seed: int = 0,
) -> ea.Scenario:
    """Nothing but air, and in it what `what` says: "both", "clap", "drone" or "doubling".

    distance: of the clap [m]. fade_start: distance from which the law of distance fades out [m].
    air: whether air takes high frequencies. seconds: of "both" and "drone"; the others take what they need.
    """
    if what not in ("both", "clap", "drone", "doubling"):
        raise ValueError(f'what must be "both", "clap", "drone" or "doubling", not {what!r}')
    world = ea.World.empty(size=(640, 48, 640), origin=(-320, 0, -320))
    clips = ea.Clips()
    clips.synthesize("clap", seed)
    clips.synthesize("rotor", seed)
    clips.add("tone", tone(TONE, 1.0, clips.rate))
    open_air = {"reference": 1.0, "end": 512.0, "fade_start": fade_start}
    spawns = []
    if what in ("both", "clap"):
        # It comes a little early, so that it starts at its very frame: what a tick has only just heard of
        # starts with the next frames that are mixed, a quantum later.
        exactly = {"start_frame": round(CLAP_AT * clips.rate), **open_air}
        spawns.append(ea.Spawn("clap", _ahead(distance), at=CLAP_AT - 0.05, options=exactly))
    if what in ("both", "drone"):
        path = circle((EAR[0], EAR[2]), radius=30.0, height=15.0, speed=15.0, phase=1.0)
        spawns.append(ea.Spawn("rotor", path, options={"looping": True, **open_air}))
    if what == "doubling":
        spawns = [
            ea.Spawn(
                "tone",
                _ahead(d),
                at=PERIOD * k,
                until=PERIOD * (k + 1),
                options={"looping": True, **open_air},
            )
            for k, d in enumerate(DOUBLINGS)
        ]
    lasting = {"clap": 2.0 + distance / 343.0, "doubling": PERIOD * len(DOUBLINGS)}
    return ea.Scenario(
        world=world,
        clips=clips,
        seconds=lasting.get(what, seconds),
        listener=lambda time: ea.Pose(EAR, (1.0, 0.0, 0.0)),
        spawns=spawns,
        settings=ea.Settings(air=air),
        seed=seed,
        facts={"clap_at": CLAP_AT, "distance": distance},
    )


def check(heard: ea.Recording) -> None:
    """The free field: -6.02 dB a doubling, d / 343 s late, no tail, no echo."""
    check_doublings(heard.again(what="doubling"))
    check_silence(heard)
    for distance in (5.0, 50.0, 200.0):
        # Without air's shelf the clap arrives as it was made, so that every frame can be compared.
        check_clap(heard.again(what="clap", distance=distance, air=False))


def check_silence(heard: ea.Recording) -> None:
    """It is a field at every tick, in which neither an echo nor a reverb has ever sounded."""
    rooms = {row["room"] for row in heard.rows}
    assert rooms == {"field"}, f"the listener is in a {', a '.join(sorted(rooms))}; it is a field"
    for column in ("taps", "reverbs", "room_gain_near", "room_gain_far"):
        most = max(row[column] for row in heard.rows)
        assert most == 0, f"{column} reaches {most:g}; a field leaves it at 0"


def check_doublings(heard: ea.Recording) -> None:
    """Each doubling of the distance costs 6.0206 dB, within 0.02 dB."""
    assert np.any(heard.samples), "the tones are not heard at all"
    levels = []
    for k, distance in enumerate(DOUBLINGS):
        start = round((PERIOD * k + distance / 343.0 + 0.1) * heard.rate)
        end = round((PERIOD * (k + 1) - 0.05) * heard.rate)
        levels.append(tone_level_db(_mono(heard.samples[start:end]), TONE, heard.rate))
    for near, far, fall in zip(DOUBLINGS, DOUBLINGS[1:], -np.diff(levels), strict=False):
        assert abs(fall - STEP) <= 0.02, (
            f"from {near:g} to {far:g} m the tone falls by {fall:.4f} dB; a free field takes {STEP} ± 0.02 dB"
        )


def check_clap(heard: ea.Recording) -> None:
    """The clap comes d / 343 s late, once, and leaves silence behind."""
    distance, rate = heard.scenario.facts["distance"], heard.rate
    clip, mono = clip_samples(heard.scenario.clips, "clap"), _mono(heard.samples)
    assert np.any(mono), f"the clap at {distance:g} m is not heard at all"
    expected = heard.scenario.facts["clap_at"] * rate + distance / 343.0 * rate
    delay = delay_between(mono, clip)
    assert abs(delay - expected) <= 1.0, (
        f"the clap at {distance:g} m arrives at frame {delay:.2f}; d/343 makes it {expected:.2f} ± 1"
    )
    # The interpolator rings for a few frames; a millisecond is more than it needs.
    last = int(expected) + len(clip) + rate // 1000
    tail = peak_db(mono[last:]) - peak_db(mono)
    assert tail < -100.0, (
        f"after the clap's last sample {tail:.1f} dB of it are left; a field leaves none (-100)"
    )
    lag, echo = echo_of(mono, clip, rate)
    assert echo < 0.03, (
        f"something comes back {1000.0 * lag:.1f} ms after the clap with {echo:.3f} of its amplitude;"
        " in a field nothing does (0.03)"
    )


def echo_of(mono: NDArray[np.float64], clip: NDArray[np.float64], rate: int) -> tuple[float, float]:
    """Lag [s] and amplitude, relative to the direct sound, of the strongest repetition in `mono`.

    Where the autocorrelation of what was heard exceeds that of the clip itself, from 5 ms on.
    """
    size = 1 << (len(mono) + len(clip)).bit_length()
    heard, made = (np.fft.irfft(np.abs(np.fft.rfft(x, size)) ** 2, size)[: size // 2] for x in (mono, clip))
    excess = np.abs(heard / heard[0] - made / made[0])
    excess[: rate // 200] = 0.0
    lag = int(np.argmax(excess))
    return lag / rate, float(excess[lag])


def clip_samples(clips: ea.Clips, name: str) -> NDArray[np.float64]:
    """The samples of a clip as float64."""
    number = clips.id(name)
    start, length = int(clips.offset[number]), int(clips.length[number])
    return clips.bank[start : start + length].astype(np.float64)


def _ahead(distance: float) -> tuple[float, float, float]:
    return (EAR[0] + distance, EAR[1], EAR[2])


def _mono(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    # Ahead and at constant power, both ears hear 3 dB less than a source has: their sum is √2 of it.
    return np.asarray(samples.astype(np.float64).sum(axis=1) / np.sqrt(2.0), np.float64)
