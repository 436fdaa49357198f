"""How loud: RMS, peak, loudness."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.floating]
"""Samples [full scale = 1], shape (n,) for one channel; where a docstring says so, (n, channels)."""


def decibels(power: float) -> float:
    """10 · log10(power); −inf for 0, NaN for NaN: what is broken must not pass for silence."""
    return -math.inf if power == 0.0 else 10.0 * math.log10(power)


def one_channel(x: Samples) -> NDArray[np.float64]:
    """`x` as float64 of shape (n,). Raises ValueError when it is empty or of another shape."""
    if x.ndim != 1 or not len(x):
        raise ValueError(f"samples of the shape {x.shape}: (n,) is needed, one channel that is not empty")
    return x.astype(np.float64)


def as_channels(x: Samples) -> NDArray[np.float64]:
    """`x` as float64 of shape (n, channels). Raises ValueError when it is empty or of another shape."""
    if x.ndim not in (1, 2) or not x.size:
        raise ValueError(f"samples of the shape {x.shape}: (n,) or (n, channels) is needed, not empty")
    return x.astype(np.float64).reshape(len(x), -1)


def sound_channels(x: Samples) -> NDArray[np.float64]:
    """`as_channels`, for what one bad sample would spoil. Raises ValueError for NaN and infinity, too."""
    channels = as_channels(x)
    if not np.isfinite(channels).all():
        raise ValueError(f"{np.count_nonzero(~np.isfinite(channels))} samples are NaN or infinite")
    return channels


@contextmanager
def needs(what: str, package: str) -> Iterator[None]:
    """Around the import of a package that is not there for everybody: says what to install."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install 'ecs-audio[analysis]'") from error


def level_db(x: Samples) -> float:
    """RMS level [dBFS] over all frames and channels: 10 · log10(mean x²); −inf for silence.

    `x`, shape (n,) or (n, channels). A sine of amplitude 1 has −3.01 dBFS, a square wave 0. Raises
    ValueError when it is empty.
    """
    if not x.size:
        raise ValueError("no samples, no level")
    return decibels(float(np.mean(np.square(x, dtype=np.float64))))


def peak_db(x: Samples) -> float:
    """Level of the largest sample [dBFS]: 20 · log10(max |x|); −inf for silence.

    `x`, shape (n,) or (n, channels). The curve between the samples may go higher. Raises ValueError when it
    is empty.
    """
    if not x.size:
        raise ValueError("no samples, no peak")
    return decibels(float(np.max(np.abs(x))) ** 2)


def true_peak_db(x: Samples) -> float:
    """Level of the highest point of the curve through the samples [dBTP]; −inf for silence, NaN for NaN.

    `x`, shape (n,) or (n, channels), silent before and after. Four times as many samples by a polyphase
    filter, then 20 · log10 of the largest, as in ITU-R BS.1770-4, annex 2. Never below `peak_db`. For a
    tone it reads at most 0.02 dB low up to a tenth of the rate, 0.2 dB at a quarter, 0.7 dB near a half.

    Raises ValueError when `x` is empty, ImportError without scipy.
    """
    channels = as_channels(x)
    with needs("true peak", "scipy"):
        from scipy.signal import resample_poly
    between = [decibels(float(np.max(np.abs(resample_poly(c, 4, 1)))) ** 2) for c in channels.T]
    return float(np.max([peak_db(x), *between]))


def loudness_lufs(x: Samples, rate: float) -> float:
    """Integrated loudness [LUFS] after ITU-R BS.1770-4, gated; −inf when all of it is below the gate, NaN
    when any of it is NaN or infinite.

    `x`, shape (n,) or (n, channels), at least 0.4 s at `rate` [Hz]. Raises ValueError when it is shorter, and
    ImportError without pyloudnorm.
    """
    with needs("loudness", "pyloudnorm"):
        import pyloudnorm
    if len(x) < 0.4 * rate:
        raise ValueError(f"{len(x) / rate:.3f} s of sound: loudness needs at least 0.4 s")
    if not np.isfinite(x).all():
        return math.nan  # the gate would drop just the broken part
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # silence goes through log10(0) on its way to −inf
        loudness = float(pyloudnorm.Meter(rate).integrated_loudness(x.astype(np.float64)))
    return -math.inf if math.isnan(loudness) else loudness
