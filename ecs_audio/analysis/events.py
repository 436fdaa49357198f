"""When: onsets, delays, steps, clicks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.analysis.levels import Samples, one_channel

CLICK_RATIO = 8.0
"""A second difference stands out when it exceeds that many times what is usual around it. In noise the
largest of a million is 3.5 times the usual one."""

CLICK_FLOOR = 1e-4
"""Second differences below are never clicks: −80 dBFS."""

_BLOCK_SECONDS = 0.0025


def onset(x: Samples, threshold_db: float = -40.0) -> int:
    """First frame whose |x| reaches `threshold_db` relative to the peak of `x`.

    `x`, shape (n,) or (n, channels); any channel counts. Raises ValueError for silence.
    """
    size = _largest_channel(np.abs(x))
    peak = float(np.max(size, initial=0.0))
    if not peak > 0.0:
        raise ValueError("silence has no onset")
    return int(np.argmax(size >= peak * 10.0 ** (threshold_db / 20.0)))


def delay_between(x: Samples, reference: Samples) -> float:
    """How many frames `x` comes after `reference`: where their cross-correlation is largest.

    Both of shape (n,), lengths may differ. c[k] = Σ x[i + k] · reference[i] through the Fourier transform, a
    parabola through the largest value and its neighbours gives the fraction: within 0.05 frames for
    broadband sound. Negative when `x` comes first. Raises ValueError when one is silent.
    """
    later, earlier = one_channel(x), one_channel(reference)
    if not (np.any(later) and np.any(earlier)):
        raise ValueError("silence has no delay")
    size = 1 << (len(later) + len(earlier) - 1).bit_length()
    correlation = np.fft.irfft(np.fft.rfft(later, size) * np.conj(np.fft.rfft(earlier, size)), size)
    peak = int(np.argmax(correlation))
    before, at, after = correlation[peak - 1], correlation[peak], correlation[(peak + 1) % size]
    curvature = before - 2.0 * at + after
    fraction = 0.5 * (before - after) / curvature if curvature < 0.0 else 0.0
    return float((peak if peak < len(later) else peak - size) + fraction)


def largest_step(x: Samples) -> float:
    """Largest |x[i + 1] − x[i]| [full scale = 1] in any channel of `x`, shape (n,) or (n, channels)."""
    return float(np.max(np.abs(np.diff(x.astype(np.float64), axis=0)), initial=0.0))


def silent_ends(x: Samples, floor_db: float = -90.0) -> tuple[int, int]:
    """Frames at the beginning and at the end of `x` in which no |x| reaches `floor_db` [dBFS].

    `x`, shape (n,) or (n, channels); in silence, all frames are at both ends. NaN is no silence.
    """
    heard = np.flatnonzero(~(_largest_channel(np.abs(x)) < 10.0 ** (floor_db / 20.0)))
    return (int(heard[0]), len(x) - 1 - int(heard[-1])) if len(heard) else (len(x), len(x))


def clicks(
    x: Samples, rate: float, *, ratio: float = CLICK_RATIO, floor: float = CLICK_FLOOR
) -> NDArray[np.int64]:
    """Frames where `x` jumps or bends as its surroundings do not, ascending; at most one in 5 ms.

    `x`, shape (n,) or (n, channels), at `rate` [Hz]. The bend |x[i − 1] − 2 x[i] + x[i + 1]| is compared
    with `ratio` times its largest 90th percentile in any of the five 2.5 ms around in that channel, and
    with `floor`. A jump or spike is far less than a tenth of 2.5 ms, so it cannot hide itself; a sound
    that starts loud and goes on is no click, nor is the end of a noise, which steps no more than the
    noise did. In a tone of f Hz and amplitude a, jumps above 8 · a · (2πf/rate)² are found: 0.14 a at
    1 kHz and 48 kHz, so listen for clicks with low tones. NaN is a click.
    """
    size = max(round(_BLOCK_SECONDS * rate), 16)
    # Each channel has its own surroundings: a loud one must not hide what happens in a soft one.
    channels = x[:, np.newaxis] if x.ndim == 1 else x
    excess = [_excess(channel, size, ratio, floor) for channel in channels.T.astype(np.float64)]
    return _separate(np.max(excess, axis=0), 2 * size) + 1


def _excess(x: NDArray[np.float64], size: int, ratio: float, floor: float) -> NDArray[np.float64]:
    """Each bend of `x` by the largest that is no click there, in blocks of `size`."""
    bend = np.abs(np.diff(x, n=2))
    padded = np.zeros(max(-(-len(bend) // size), 1) * size)
    padded[: len(bend)] = bend
    usual = np.percentile(padded.reshape(-1, size), 90.0, axis=1)
    around = np.max(np.lib.stride_tricks.sliding_window_view(np.pad(usual, 2), 5), axis=1)
    return np.asarray(padded / np.maximum(np.repeat(around, size) * ratio, floor))


def _separate(excess: NDArray[np.float64], apart: int) -> NDArray[np.int64]:
    """Places where `excess` is not within 1; of those less than `apart` from each other, the largest."""
    places = np.flatnonzero(~(excess <= 1.0))
    groups = np.split(places, np.flatnonzero(np.diff(places) >= apart) + 1)
    return np.array([group[np.argmax(excess[group])] for group in groups if len(group)], dtype=np.int64)


def _largest_channel(size: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.asarray(size if size.ndim == 1 else np.max(size, axis=1), dtype=np.float64)
