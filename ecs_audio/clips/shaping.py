"""What the built-in sounds are made of: circular noise, resonances, oscillators, edges, levels.

Filters work on the whole sound at once, through its discrete Fourier transform. That is circular: what
rings beyond the end comes in again at the start, so a loop has no seam.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
C128 = NDArray[np.complex128]

PEAK = 10 ** (-1 / 20)
"""Largest sample of every built-in sound: 1 dB below full scale."""

BANDWIDTH = 0.45
"""Highest partial, as a share of the rate: a resampler's transition band lies above."""


def randomness(seed: int) -> np.random.Generator:
    """The only source of chance in the built-in sounds."""
    return np.random.Generator(np.random.PCG64(seed))


def bins(n: int, rate: float) -> F64:
    """Frequencies [Hz] of the transform of `n` frames, shape (n // 2 + 1,)."""
    return np.fft.rfftfreq(n, 1.0 / rate).astype(np.float64)


def band(frequency: F64, low: float, high: float, order: int = 4) -> F64:
    """Amplitude of a Butterworth band-pass from `low` to `high` [Hz], 0 at 0 Hz, shape of `frequency`."""
    rising = (frequency / low) ** order
    return rising / np.sqrt(1.0 + rising**2) / np.sqrt(1.0 + (frequency / high) ** (2 * order))


def resonance(frequency: F64, centre: float, width: float) -> C128:
    """Response of a damped oscillator at `centre`, `width` [Hz], 1 at 0 Hz, shape of `frequency`."""
    return np.asarray(centre**2 / (centre**2 - frequency**2 + 1j * frequency * width), dtype=np.complex128)


def filtered(x: F64, response: F64 | C128) -> F64:
    """`x`, shape (n,), through `response` per bin, shape (n // 2 + 1,), circularly."""
    return np.fft.irfft(np.fft.rfft(x) * response, len(x))


def rms(x: F64) -> float:
    """Root of the mean square of `x`."""
    return float(np.sqrt(np.mean(x**2)))


def noise(n: int, response: F64, generator: np.random.Generator) -> F64:
    """Circular noise of RMS 1 with the amplitude spectrum `response` per bin, shape (n,)."""
    shaped = filtered(generator.standard_normal(n), response)
    return shaped / rms(shaped)


def phase(frequency: F64, rate: float) -> F64:
    """Phase [rad] of an oscillator that follows `frequency` [Hz], shape (n,), from 0.

    The frequency is scaled by the little that makes the number of turns whole, so the next frame after
    the last has phase 0 again.
    """
    turns = np.concatenate(([0.0], np.cumsum(frequency / rate)))
    turns *= max(round(turns[-1]), 1) / turns[-1]
    return 2.0 * np.pi * turns[:-1]


def harmonics(angle: F64, amplitudes: Sequence[float] | F64 | C128) -> F64:
    """Sum of the imaginary parts of amplitudes[k] · exp(i · (k + 1) · angle): sines, shape of `angle`."""
    turn = np.exp(1j * angle)
    power, total = np.ones_like(turn), np.zeros_like(angle)
    for amplitude in amplitudes:
        power *= turn
        total += (amplitude * power).imag
    return total


def harmonic_count(highest: float, rate: float, limit: float = np.inf) -> int:
    """How many harmonics of `highest` [Hz] stay below `limit` [Hz] and below BANDWIDTH · rate; at least 1."""
    return max(1, int(min(limit, BANDWIDTH * rate) / highest))


def add_at(total: F64, start: int, piece: F64) -> None:
    """Add `piece` to `total` from `start` on, coming in again at the start beyond the end."""
    np.add.at(total, np.arange(start, start + len(piece)) % len(total), piece)


def edges(n: int, rise: int, fall: int) -> F64:
    """Window of `n` frames: raised-cosine from 0 over `rise` frames, back to 0 over `fall` frames."""
    frame = np.arange(n)
    up = np.clip(frame / max(rise, 1), 0.0, 1.0)
    down = np.clip((n - 1 - frame) / max(fall, 1), 0.0, 1.0)
    return 0.25 * (1.0 - np.cos(np.pi * up)) * (1.0 - np.cos(np.pi * down))


def as_loop(x: F64) -> F32:
    """`x`, shape (n,), without its mean and with its largest sample at PEAK."""
    level = x - np.mean(x)
    return _at_peak(level)


def as_one_shot(x: F64, rise: int, fall: int) -> F32:
    """`x`, shape (n,), from 0 over `rise` and to 0 over `fall` frames, without mean, peak at PEAK."""
    window = edges(len(x), rise, fall)
    level = x * window
    level -= window * (np.sum(level) / np.sum(window))  # a plain mean would lift the ends off 0
    return _at_peak(level)


def _at_peak(x: F64) -> F32:
    return (x * (PEAK / float(np.max(np.abs(x))))).astype(np.float32)
