"""Moving air: wind, missile."""

from __future__ import annotations

import numpy as np

from ecs_audio.clips.shaping import F32, F64, as_loop, band, bins, filtered, noise, randomness

MISSILE_BAND = (40.0, 8_000.0)
"""Lowest and highest frequency of `missile` [Hz]. Nothing lies above, so its Doppler shift shows."""


def wind(rate: int, seed: int = 0) -> F32:
    """Wind in gusts, low and rushing, with whistling when it is strong; 8 s, loops, shape (n,)."""
    generator = randomness(seed)
    n = round(8.0 * rate)
    frequency = bins(n, rate)
    gust = _slow(frequency, 1.0, n, generator)
    body = noise(n, band(frequency, 30.0, 90.0, 1), generator)
    rush = noise(n, band(frequency, 250.0, 900.0, 1), generator)
    total = body * (0.35 + 0.65 * gust) + 0.45 * rush * gust**2
    for centre in (410.0, 620.0, 890.0):
        whistle = noise(n, band(frequency, 0.96 * centre, 1.04 * centre), generator)
        total += 0.25 * whistle * gust**2 * _slow(frequency, 3.0, n, generator) ** 2
    return as_loop(total)


def missile(rate: int, seed: int = 0) -> F32:
    """A rocket motor: roar, hiss and crackle within MISSILE_BAND; 4 s, loops, shape (n,)."""
    generator = randomness(seed)
    n = round(4.0 * rate)
    frequency = bins(n, rate)
    roar = noise(n, band(frequency, 60.0, 300.0, 1), generator)
    hiss = noise(n, band(frequency, 1_500.0, 6_000.0, 2), generator)
    flutter = 1.0 + 0.5 * noise(n, band(frequency, 5.0, 40.0), generator)
    # A jet crackles because its pressure is skewed: steep compressions, shallow expansions.
    crackle = np.maximum(noise(n, band(frequency, 200.0, 2_500.0, 2), generator), 0.0) ** 3
    total = roar * flutter + 0.7 * hiss + 0.12 * crackle
    low, high = MISSILE_BAND
    top = 0.5 + 0.5 * np.cos(np.pi * np.clip((frequency / high - 0.875) / 0.125, 0.0, 1.0))
    return as_loop(filtered(total, top * band(frequency, low, 10.0 * high)))


def _slow(frequency: F64, fastest: float, n: int, generator: np.random.Generator) -> F64:
    """A level that wanders from 0 to 1 with `fastest` changes a second, shape (n,), circular."""
    level = noise(n, band(frequency, 0.1, fastest), generator)
    low, high = float(level.min()), float(level.max())
    return (level - low) / (high - low)
