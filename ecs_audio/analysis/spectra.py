"""Which frequencies: tones, bands, octaves, spectrum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.analysis.levels import Samples, as_channels, decibels, one_channel

OCTAVES = (63.0, 125.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0, 16_000.0)
"""Nominal centres [Hz] of the octave bands."""

THIRDS = tuple(1000.0 * 10.0 ** (k / 10.0) for k in range(-16, 14))
"""Exact centres [Hz] of the third-octave bands of 25 Hz to 20 kHz (IEC 61260-1)."""


def tone_level_db(x: Samples, frequency: float, rate: float) -> float:
    """Level of a steady tone [dB re a sine of amplitude 1]: 20 · log10 of its amplitude.

    `x`, shape (n,), at `rate` [Hz]; 3.01 dB more than `level_db` of the same pure tone. Fits
    a cos + b sin + c to `x` by least squares under a Hann window: a tone alone is exact from two cycles
    on, and another one counts for less than −60 dB when it lies 10 · rate / n away. Raises ValueError
    for other shapes.
    """
    samples = one_channel(x)
    n = len(samples)
    angle = 2.0 * np.pi * frequency / rate * np.arange(n)
    weight = np.sqrt(_hann(n))
    basis = np.stack((np.cos(angle), np.sin(angle), np.ones(n)), axis=1) * weight[:, np.newaxis]
    (in_phase, quadrature, _), *_ = np.linalg.lstsq(basis, samples * weight, rcond=None)
    return decibels(float(in_phase**2 + quadrature**2))


def band_level_db(x: Samples, low: float, high: float, rate: float, *, steady: bool = False) -> float:
    """RMS level of what lies in low ≤ f < high [dBFS]: 10 · log10 of the mean power there; −inf if none.

    `x`, shape (n,) or (n, channels), at `rate` [Hz]; the mean power of channels counts. From the discrete
    Fourier transform of all of `x`, so that the powers of adjoining bands add up to that of `level_db`
    exactly. That is right for sounds that begin and end inside `x`. One that was cut off spreads over all
    frequencies (a sine of 1 s: −50 dB at three octaves' distance); with `steady` a Hann window hides the
    cuts, and weighs the middle more than the ends. Raises ValueError when `x` is empty.
    """
    return float(_levels_db(x, [(low, high)], rate, steady)[0])


def octave_levels_db(
    x: Samples, rate: float, *, centres: tuple[float, ...] = OCTAVES, steady: bool = False
) -> NDArray[np.float64]:
    """RMS level [dBFS] of each octave band, c/√2 ≤ f < c·√2, shape (len(centres),).

    `x`, shape (n,) or (n, channels), at `rate` [Hz]. The bands have straight edges; `steady` as for
    `band_level_db`.
    """
    edge = 2.0**0.5
    return _levels_db(x, [(c / edge, c * edge) for c in centres], rate, steady)


def third_octave_levels_db(
    x: Samples, rate: float, *, centres: tuple[float, ...] = THIRDS, steady: bool = False
) -> NDArray[np.float64]:
    """RMS level [dBFS] of each third-octave band, c · 10^(−1/20) ≤ f < c · 10^(1/20), shape (len(centres),).

    Otherwise as `octave_levels_db`.
    """
    edge = 10.0**0.05
    return _levels_db(x, [(c / edge, c * edge) for c in centres], rate, steady)


def spectrum_db(x: Samples, rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Frequencies [Hz] and levels [dB re a sine of amplitude 1], both of shape (n // 2 + 1,).

    `x`, shape (n,), at `rate` [Hz]: 20 · log10(2 |Σ w x e^(−iωt)| / Σ w), w a Hann window. A tone between
    two bins reads up to 1.4 dB low. Empty bins are −inf.
    """
    samples = one_channel(x)
    window = _hann(len(samples))
    amplitude = np.abs(np.fft.rfft(samples * window)) * 2.0 / np.sum(window)
    amplitude[0] /= 2.0
    with np.errstate(divide="ignore"):
        levels = 20.0 * np.log10(amplitude)
    return np.fft.rfftfreq(len(samples), 1.0 / rate).astype(np.float64), np.asarray(levels)


def frequency(x: Samples, rate: float) -> float:
    """Frequency [Hz] of the strongest tone in `x`, shape (n,), at `rate` [Hz].

    Moves the peak of the spectrum to 0 Hz, and reads the rest off the slope of its phase over overlapping
    Hann windows of n / 8 frames. Within 0.01 % for a tone 20 dB above everything else, given 100 cycles
    of it. Raises ValueError for silence and for other shapes.
    """
    samples = one_channel(x)
    n = len(samples)
    power, bins = _power(samples, rate, _hann(n))
    power[bins < 2.0 * rate / n] = 0.0  # an offset is no tone
    if not np.any(power > 0.0):
        raise ValueError("there is no tone in silence")
    coarse = float(bins[np.argmax(power)])
    still = samples * np.exp(-2j * np.pi * coarse / rate * np.arange(n))
    length = max(n // 8, 1)
    starts = np.arange(0, n - length + 1, max(length // 4, 1))
    window = _hann(length)
    values = np.array([np.sum(window * still[start : start + length]) for start in starts])
    turns = np.unwrap(np.angle(values)) / (2.0 * np.pi)
    slope = np.polyfit(starts / rate, turns, 1, w=np.abs(values))[0]
    return coarse + float(slope)


def _levels_db(
    x: Samples, bands: list[tuple[float, float]], rate: float, steady: bool
) -> NDArray[np.float64]:
    channels = as_channels(x)
    n = len(channels)
    window = _hann(n) if steady else np.ones(n)
    powers, frequency = zip(*(_power(channel, rate, window) for channel in channels.T), strict=True)
    power = np.mean(powers, axis=0)
    inside = [(frequency[0] >= low) & (frequency[0] < high) for low, high in bands]
    return np.array([decibels(float(np.sum(power[band]))) for band in inside])


def _hann(n: int) -> NDArray[np.float64]:
    return np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2


def _power(
    samples: NDArray[np.float64], rate: float, window: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean power in each bin and the bins' frequencies [Hz]; it sums to the mean of x² (Parseval)."""
    n = len(samples)
    power = 2.0 * np.abs(np.fft.rfft(samples * window)) ** 2 / (n * np.sum(window**2))
    power[0] /= 2.0
    if n % 2 == 0:
        power[-1] /= 2.0  # the highest bin has no twin either
    return power, np.fft.rfftfreq(n, 1.0 / rate).astype(np.float64)
