"""Whatever samples come in: mid and side as float32 at one rate go out, or a sentence that says why not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_audio.clips.errors import ClipError

MAX_FRAMES = 30 * 60 * 48_000
"""Longest clip, before and after resampling: 30 minutes at 48 kHz, 346 MB a channel."""

MAX_PEAK = 1000.0
"""Largest sample, 60 dB above full scale. Float arrays in units of 16-bit steps lie above."""


def conform(
    samples: ArrayLike, rate: float, to_rate: int
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """Mid and side at `to_rate` [Hz], float32, shape (m,) with m = n · to_rate / rate rounded.

    `samples` [full scale = 1], floating, shape (n,) or (n, 2). The mid is (left + right) / 2, or the one
    channel as it is; the side is (left - right) / 2, None when that is silent. `rate` [Hz], positive. Raises
    ClipError when the samples are none of that, empty, not finite, above MAX_PEAK, or more than MAX_FRAMES.
    """
    given = np.asarray(samples)
    _check_form(given)
    _check_rate(given, rate, to_rate)
    with np.errstate(over="ignore"):  # a float64 beyond float32 becomes inf, which is refused below
        narrow = given.astype(np.float32)
    _check_values(narrow)
    mid, side = (narrow, None) if narrow.ndim == 1 else _mid_and_side(narrow)
    if rate == to_rate:
        return mid, side
    return resample(mid, rate, to_rate), None if side is None else resample(side, rate, to_rate)


def _mid_and_side(stereo: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    mid = stereo.mean(axis=1, dtype=np.float32)
    side = (stereo[:, 0] - stereo[:, 1]) * np.float32(0.5)
    return mid, side if side.any() else None


def resample(mono: NDArray[np.float32], rate: float, to_rate: int) -> NDArray[np.float32]:
    """`mono`, shape (n,), at `to_rate` instead of `rate` [Hz], by soxr in its HQ quality."""
    import soxr

    resampled = np.asarray(soxr.resample(mono, rate, to_rate, quality="HQ"), dtype=np.float32)
    if not len(resampled):
        raise ClipError(f"has {len(mono)} frames at {rate:g} Hz: less than one frame at {to_rate} Hz")
    return resampled


def _check_form(given: NDArray[Any]) -> None:
    if given.dtype.kind in "iub":
        raise ClipError(f"has {given.dtype} samples: scale them to -1..1 as a float array")
    if given.dtype.kind != "f":
        raise ClipError(f"has {given.dtype} samples: a float array is needed")
    if given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[1] != 2):
        raise ClipError(f"has the shape {given.shape}: (n,) or (n, 2) is needed, n frames by channels")
    if given.shape[0] == 0:
        raise ClipError("holds no sound: it has no frames")


def _check_rate(given: NDArray[Any], rate: float, to_rate: int) -> None:
    if not (rate > 0.0 and np.isfinite(rate)):
        raise ClipError(f"has a rate of {rate} Hz: a positive number is needed")
    if max(len(given), len(given) * (to_rate / rate)) > MAX_FRAMES:
        raise ClipError(f"has {len(given)} frames at {rate:g} Hz: at most {MAX_FRAMES} are taken")


def _check_values(narrow: NDArray[np.float32]) -> None:
    peak = float(np.max(np.abs(narrow)))  # NaN comes through max
    if not np.isfinite(peak):
        frame = int(np.argmin(np.isfinite(narrow).reshape(len(narrow), -1).all(axis=1)))
        raise ClipError(f"holds NaN or infinity, first at frame {frame}")
    if peak > MAX_PEAK:
        raise ClipError(f"has a peak of {peak:g}: scale the samples to -1..1")
