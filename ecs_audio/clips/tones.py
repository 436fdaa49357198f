"""Pitched sounds: tone, burst, beep, music."""

from __future__ import annotations

import numpy as np

from ecs_audio.clips.shaping import (
    F32,
    F64,
    PEAK,
    add_at,
    as_loop,
    as_one_shot,
    edges,
    harmonic_count,
    harmonics,
    randomness,
)


def tone(frequency: float = 1000.0, seconds: float = 1.0, rate: int = 48_000) -> F32:
    """A sine of amplitude 10^(−1/20) from phase 0, shape (n,).

    It loops without a seam when frequency × seconds is whole. Raises ValueError at or above rate / 2.
    """
    return (PEAK * _sine(frequency, seconds, rate)).astype(np.float32)


def burst(frequency: float = 1000.0, seconds: float = 0.1, rate: int = 48_000, edge: float = 0.005) -> F32:
    """A sine of amplitude 10^(−1/20) with raised-cosine edges of `edge` seconds each, shape (n,).

    Edges are at most half of it. Raises ValueError at or above rate / 2.
    """
    sine = _sine(frequency, seconds, rate)
    frames = min(round(edge * rate), len(sine) // 2)
    return (PEAK * sine * edges(len(sine), frames, frames)).astype(np.float32)


def beep(rate: int, seed: int = 0) -> F32:
    """A soft chime of 0.15 s in a clip of 0.5 s, shape (n,): once, or looping twice a second."""
    n = round(0.5 * rate)
    time = np.arange(n) / rate
    angle = 2.0 * np.pi * 880.0 * time
    chime = harmonics(angle, [1.0, 0.25, 0.08][: harmonic_count(880.0, rate)]) * np.exp(-time / 0.06)
    sounding = round(0.15 * rate)
    chime[:sounding] = as_one_shot(chime[:sounding], round(0.004 * rate), round(0.06 * rate))
    chime[sounding:] = 0.0
    return chime.astype(np.float32)


def music(rate: int, seed: int = 0) -> F32:
    """An arpeggio over A minor, F, C, G with bass and a pad, 8 s at 120 beats a minute, loops, shape (n,).

    The seed chooses the order of the arpeggio's notes and how hard each is struck.
    """
    chords = ((57, 60, 64, 69), (53, 57, 60, 65), (55, 60, 64, 67), (55, 59, 62, 67))  # MIDI numbers
    generator = randomness(seed)
    total = np.zeros(round(8.0 * rate))
    for bar, chord in enumerate(chords):
        strings = [_pluck(note + 12, 1.2, 0.35, rate) for note in generator.permutation(chord)]
        for eighth in range(8):
            start = round((2.0 * bar + 0.25 * eighth) * rate)
            add_at(total, start, 0.30 * generator.uniform(0.6, 1.0) * strings[eighth % 4])
        bass = _pluck(chord[0] - 12, 0.9, 0.30, rate)
        for beat in (0.0, 0.75, 1.0, 1.5):
            add_at(total, round((2.0 * bar + beat) * rate), 0.45 * bass)
        for note in chord:
            add_at(total, round(2.0 * bar * rate), 0.07 * _pad(note, 2.5, rate))
    return as_loop(total)


def _sine(frequency: float, seconds: float, rate: int) -> F64:
    if not 0.0 < frequency < rate / 2:
        raise ValueError(f"a tone of {frequency} Hz does not fit below half the rate of {rate} Hz")
    angle = 2.0 * np.pi * frequency / rate * np.arange(round(seconds * rate), dtype=np.float64)
    return np.sin(angle)


def _hertz(note: int) -> float:
    return float(440.0 * 2.0 ** ((note - 69) / 12.0))


def _pluck(note: int, seconds: float, decay: float, rate: int) -> F64:
    """A plucked string, shape (n,): higher harmonics are weaker and die sooner."""
    n = round(seconds * rate)
    time = np.arange(n) / rate
    string = np.zeros(n)
    for h in range(1, min(6, harmonic_count(_hertz(note), rate)) + 1):
        string += np.sin(2.0 * np.pi * h * _hertz(note) * time) * np.exp(-time * h**0.7 / decay) / h**1.3
    return string * edges(n, round(0.004 * rate), round(0.2 * rate))


def _pad(note: int, seconds: float, rate: int) -> F64:
    n = round(seconds * rate)
    time = np.arange(n) / rate
    beating = sum(
        harmonics(2.0 * np.pi * _hertz(note) * detune * time, [1.0, 0.3, 0.15]) for detune in (0.998, 1.002)
    )
    return np.asarray(beating) * edges(n, round(0.5 * rate), round(0.5 * rate))
