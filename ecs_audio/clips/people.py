"""People: footsteps, babble."""

from __future__ import annotations

import numpy as np

from ecs_audio.clips.shaping import (
    C128,
    F32,
    F64,
    add_at,
    as_loop,
    band,
    bins,
    edges,
    filtered,
    harmonic_count,
    harmonics,
    noise,
    phase,
    randomness,
    resonance,
    rms,
)

VOWELS = (
    (730.0, 1090.0, 2440.0),
    (530.0, 1840.0, 2480.0),
    (270.0, 2290.0, 3010.0),
    (570.0, 840.0, 2410.0),
    (300.0, 870.0, 2240.0),
    (500.0, 1500.0, 2500.0),
)
"""Formants [Hz] of the vowels in father, bet, beet, bought, boot (Peterson and Barney 1952), neutral."""

SPEAKERS = ((112.0, 1.0, 1.0), (196.0, 1.16, 0.7))
"""Pitch [Hz], formants relative to VOWELS and level of each voice in `babble`."""


def footsteps(rate: int, seed: int = 0) -> F32:
    """Eight steps in shoes on a hard floor, two a second; 4 s, loops, shape (n,)."""
    generator = randomness(seed)
    total = np.zeros(round(4.0 * rate))
    for step in range(8):
        start = round((0.05 + 0.5 * step + generator.uniform(-0.012, 0.012)) * rate)
        heel, toe = generator.uniform(0.8, 1.0), generator.uniform(0.25, 0.4)
        foot = 1.0 if step % 2 else 1.07  # left and right shoe are not the same
        add_at(total, start, heel * _heel(rate, foot, generator))
        add_at(total, start + round(generator.uniform(0.08, 0.10) * rate), toe * _toe(rate, generator))
    return as_loop(total)


def babble(rate: int, seed: int = 0) -> F32:
    """Two people murmuring syllables without words; 5 s, loops, shape (n,)."""
    generator = randomness(seed)
    n = round(5.0 * rate)
    voices = (level * _murmur(n, rate, pitch, size, generator) for pitch, size, level in SPEAKERS)
    return as_loop(np.sum(list(voices), axis=0))


def _heel(rate: int, foot: float, generator: np.random.Generator) -> F64:
    n = round(0.16 * rate)
    time = np.arange(n) / rate
    thump = np.sin(2.0 * np.pi * 85.0 * foot * time) * np.exp(-time / 0.025)
    knock = 0.6 * np.sin(2.0 * np.pi * 230.0 * foot * time) * np.exp(-time / 0.012)
    click = 0.35 * noise(n, band(bins(n, rate), 900.0, 5_000.0, 1), generator) * np.exp(-time / 0.005)
    return (thump + knock + click) * edges(n, max(2, round(0.001 * rate)), round(0.03 * rate))


def _toe(rate: int, generator: np.random.Generator) -> F64:
    n = round(0.12 * rate)
    time = np.arange(n) / rate
    scuff = noise(n, band(bins(n, rate), 500.0, 4_000.0, 1), generator) * np.exp(-time / 0.025)
    return 0.5 * scuff * edges(n, round(0.012 * rate), round(0.04 * rate))


def _murmur(n: int, rate: int, pitch: float, size: float, generator: np.random.Generator) -> F64:
    """One voice, shape (n,), circular: vowels that glide into one another, with pauses and hisses."""
    frequency = bins(n, rate)
    count = round(n / rate / 0.2)
    bounds = np.cumsum(generator.uniform(0.7, 1.3, count))
    bounds = np.concatenate(([0.0], bounds / bounds[-1])) * n
    syllable = np.searchsorted(bounds, np.arange(n), side="right") - 1
    place = (np.arange(n) - bounds[syllable]) / np.diff(bounds)[syllable]

    glide = np.exp(-((frequency / 9.0) ** 2))  # a tongue moves a few times a second
    melody = generator.uniform(0.88, 1.15, count)[syllable]
    angle = phase(pitch * filtered(melody, glide), rate)
    order = np.arange(1, harmonic_count(1.2 * pitch, rate, limit=4_500.0) + 1, dtype=np.float64)
    breath = noise(n, band(frequency, 300.0, 5_000.0, 1), generator)
    larynx = harmonics(angle, 1.0 / order**0.6) + 0.06 * breath

    vowel = generator.integers(len(VOWELS), size=count)[syllable]
    voiced = np.zeros(n)
    for number, formants in enumerate(VOWELS):
        weight = filtered((vowel == number).astype(np.float64), glide)
        voiced += weight * filtered(larynx, _mouth(frequency, formants, size))

    loud = (generator.uniform(0.5, 1.0, count) * (generator.uniform(size=count) > 0.18))[syllable]
    envelope = filtered(loud * np.sin(np.pi * place) ** 0.6, np.exp(-((frequency / 25.0) ** 2)))
    hissing = (generator.uniform(size=count) > 0.6)[syllable] & (place < 0.3) & (loud > 0.0)
    hiss = noise(n, band(frequency, 2_500.0, 7_000.0, 2), generator)
    burst = filtered(hissing.astype(np.float64), np.exp(-((frequency / 40.0) ** 2)))
    spoken = voiced * np.maximum(envelope, 0.0)
    return spoken / rms(spoken) + 0.10 * hiss * np.maximum(burst, 0.0)


def _mouth(frequency: F64, formants: tuple[float, ...], size: float) -> C128:
    response = band(frequency, 90.0, 6_000.0, 1).astype(np.complex128)
    # Two more formants that vowels share: without them the voice comes through a wall.
    for formant, width in zip((*formants, 3_400.0, 4_300.0), (80.0, 100.0, 150.0, 220.0, 300.0), strict=True):
        response *= resonance(frequency, size * formant, size * width)
    return response
