"""Sounds with a sharp start and an end: clap, shot, blast."""

from __future__ import annotations

import numpy as np

from ecs_audio.clips.shaping import F32, F64, as_one_shot, band, bins, noise, randomness


def clap(rate: int, seed: int = 0) -> F32:
    """Broadband noise that dies within 20 ms, for measuring rooms; shape (n,)."""
    n = round(0.02 * rate)
    time = np.arange(n) / rate
    hiss = noise(n, band(bins(n, rate), 150.0, 16_000.0, 1), randomness(seed))
    return as_one_shot(hiss * np.exp(-time / 0.003), _frames(0.0002, rate), _frames(0.004, rate))


def shot(rate: int, seed: int = 0) -> F32:
    """A gunshot: blast wave of the muzzle, crack, thump and a short tail; 0.5 s, shape (n,)."""
    generator = randomness(seed)
    n = round(0.5 * rate)
    time = np.arange(n) / rate
    frequency = bins(n, rate)
    total = 1.6 * _blast_wave(time, 0.0012)
    total += 0.50 * noise(n, band(frequency, 700.0, 9_000.0, 1), generator) * np.exp(-time / 0.008)
    total += 0.22 * noise(n, band(frequency, 200.0, 3_000.0, 1), generator) * np.exp(-time / 0.040)
    total += 0.10 * noise(n, band(frequency, 120.0, 900.0, 1), generator) * np.exp(-time / 0.110)
    total += 0.45 * np.sin(2.0 * np.pi * 105.0 * time) * np.exp(-time / 0.035)
    return as_one_shot(total, _frames(0.0003, rate), _frames(0.15, rate))


def blast(rate: int, seed: int = 0) -> F32:
    """An explosion: blast wave, then rumble whose high frequencies die first, and debris; 2.5 s, shape (n,).

    More than half of its energy lies below 150 Hz.
    """
    generator = randomness(seed)
    n = round(2.5 * rate)
    time = np.arange(n) / rate
    frequency = bins(n, rate)
    swell = 1.0 - np.exp(-time / 0.006)
    total = 1.5 * _blast_wave(time, 0.018)
    for level, low, high, decay in (
        (0.55, 25.0, 70.0, 0.60),
        (0.30, 60.0, 200.0, 0.40),
        (0.20, 200.0, 900.0, 0.20),
        (0.32, 900.0, 7_000.0, 0.05),
    ):
        total += level * swell * noise(n, band(frequency, low, high, 2), generator) * np.exp(-time / decay)
    debris = np.abs(noise(n, band(frequency, 3.0, 25.0), generator)) ** 2  # pieces fall in clusters
    fall = 0.012 * debris * np.exp(-((time - 0.8) ** 2) / 0.18)
    total += fall * noise(n, band(frequency, 600.0, 5_000.0, 1), generator)
    return as_one_shot(total, _frames(0.0008, rate), _frames(0.8, rate))


def _blast_wave(time: F64, positive: float) -> F64:
    """Friedlander's pressure after an explosion: (1 − t/t₊) · exp(−t/t₊); `positive` is t₊ [s]."""
    return (1.0 - time / positive) * np.exp(-time / positive)


def _frames(seconds: float, rate: int) -> int:
    return max(2, round(seconds * rate))
