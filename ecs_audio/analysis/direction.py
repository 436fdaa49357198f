"""From where: the azimuth that the levels at two ears stand for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ecs_audio.analysis.levels import Samples


def direction(x: Samples) -> float:
    """Azimuth [degrees] of what is heard in `x`, shape (n, 2): −90 left, 0 ahead, 90 right; NaN for silence.

    The inverse of the mixer's pan of constant power, L = cos((s + 1) π/4), R = sin((s + 1) π/4): with levels
    L and R by RMS over all frames, s = 4/π · atan2(R, L) − 1, and the azimuth is asin s. It is exact for one
    source at ear's height in the front half, 1 m away or more; what is behind reads as its mirror image
    ahead, what is above or below nearer to the middle. Several sounds, echoes and reverberation read as a
    mean weighted by power. At the side the pan is flat: 1 % of error in a level is 0.4° ahead, 7° at 90°.
    Raises ValueError for other shapes.
    """
    left, right = np.sum(np.square(_two_ears(x)), axis=0)
    return float(_azimuth(np.array([left]), np.array([right]))[0])


def directions(
    x: Samples, rate: float, *, window: float = 0.05
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`direction` in windows of `window` [s], one after the other, and the times of their middles [s].

    `x`, shape (n, 2), at `rate` [Hz]; both results have the shape (windows,); a last window that is not
    whole is left out unless it is the only one. NaN where a window is silent. Raises ValueError for
    other shapes and for windows below one frame.
    """
    size = round(window * rate)
    if size < 1:
        raise ValueError(f"windows of {window:g} s: at least one frame, {1.0 / rate:g} s, is needed")
    power = np.square(_two_ears(x))
    starts: NDArray[np.int64] = np.arange(0, max(len(power) - size, 0) + 1, size)
    sums = np.array([np.sum(power[start : start + size], axis=0) for start in starts])
    middles = (starts + min(size, len(power)) / 2.0) / rate
    return middles.astype(np.float64), _azimuth(sums[:, 0], sums[:, 1])


def _azimuth(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """By powers; NaN where both are 0."""
    side = np.arctan2(np.sqrt(right), np.sqrt(left)) * (4.0 / math.pi) - 1.0
    azimuth = np.degrees(np.arcsin(np.clip(side, -1.0, 1.0)))
    return np.asarray(np.where(left + right > 0.0, azimuth, math.nan), np.float64)


def _two_ears(x: Samples) -> NDArray[np.float64]:
    if x.ndim != 2 or x.shape[1] != 2 or not len(x):
        raise ValueError(f"samples of the shape {x.shape}: (n, 2) is needed, left and right")
    return x.astype(np.float64)
