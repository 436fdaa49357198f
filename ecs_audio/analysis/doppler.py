"""How fast it comes: the frequency of a moving tone against the one that was emitted."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ecs_audio.analysis.levels import Samples, needs, sound_channels

FAINT_DB = -60.0
"""Windows in which the tone is that far below its loudest have no ratio."""


def doppler(
    x: Samples,
    reference_hz: float,
    rate: float,
    *,
    window: float = 0.02,
    band: tuple[float, float] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times [s] and the Doppler ratio then, heard by emitted frequency, both of shape (windows,).

    `x`, shape (n,) or (n, channels), at `rate` [Hz], in which a tone of `reference_hz` [Hz] was emitted. At
    each time the loudest channel counts. What lies in `band` [Hz], by default from a quarter of the tone's
    frequency to four times it, has an analytic signal, and that a phase, whose slope is 2π · f: by least
    squares over `window` [s] (Savitzky and Golay). There are four results in a window's length; times are
    those of hearing, in the window's middle. NaN where the tone is 60 dB below its loudest.

    Within 0.1 % for a tone of ten cycles in a window, 40 dB above everything else in the band, whose ratio
    changes by less than 1 % in a window. Harmonics must lie half an octave outside the band.

    Raises ValueError when `x` is empty or not finite, or the band not between 0 and half the rate;
    ImportError without scipy.
    """
    with needs("Doppler", "scipy"):
        from scipy.signal import savgol_filter
    low, high = band or (reference_hz / 4.0, min(reference_hz * 4.0, rate / 2.0))
    if not 0.0 <= low < high <= rate / 2.0:
        raise ValueError(f"a band from {low:g} to {high:g} Hz: it must lie between 0 and {rate / 2.0:g} Hz")
    half = max(round(window * rate / 2.0), 1)
    signal = _analytic(sound_channels(x), low, high, rate)
    places = np.arange(half, len(signal) - half, max(half // 2, 1))
    if not len(places):
        return np.zeros(0), np.zeros(0)
    slopes, powers = [], []
    for channel in signal.T:
        phase = np.unwrap(np.angle(channel))
        slopes.append(savgol_filter(phase, 2 * half + 1, 1, deriv=1)[places])
        total = np.concatenate(([0.0], np.cumsum(np.abs(channel) ** 2)))
        powers.append(total[places + half + 1] - total[places - half])
    power, louder = np.max(powers, axis=0), np.argmax(powers, axis=0)
    ratio = np.array(slopes)[louder, np.arange(len(places))] * rate / (2.0 * math.pi * reference_hz)
    is_heard = power > np.max(power) * 10.0 ** (FAINT_DB / 10.0)
    return places / rate, np.where(is_heard, ratio, math.nan)


def _analytic(x: NDArray[np.float64], low: float, high: float, rate: float) -> NDArray[np.complex128]:
    """Twice the part of `x` from low to high, at positive frequencies only.

    The edges fall over half an octave beyond, so that they do not ring for long.
    """
    n = 1 << (len(x) - 1).bit_length()
    spectrum = np.fft.fft(x, n, axis=0)
    frequency = np.fft.fftfreq(n, 1.0 / rate)
    pitch = np.log2(np.maximum(frequency, 1e-9))
    edges = np.log2((max(low, 1e-6) / math.sqrt(2.0), max(low, 1e-6), high, high * math.sqrt(2.0)))
    share = np.sin(0.5 * np.pi * np.interp(pitch, edges, (0.0, 1.0, 1.0, 0.0))) ** 2
    return np.asarray(np.fft.ifft(2.0 * spectrum * share[:, np.newaxis], axis=0)[: len(x)])
