"""What comes back: echoes by their onsets, and by the likeness of a sound with itself later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.analysis.levels import Samples, needs, sound_channels

Echoes = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Times after the direct sound [s], ascending, and levels relative to it [dB], both of shape (echoes,)."""

_RISE = 4.0
_WIDTH = 0.001


def echoes(x: Samples, rate: float, *, threshold_db: float = -40.0, apart: float = 0.005) -> Echoes:
    """Echoes of one short sound: where what is heard rises again by 6 dB.

    `x`, shape (n,) or (n, channels), powers of channels add up, at `rate` [Hz]. An onset is where the mean
    power of the next 1 ms is at least `threshold_db` re the largest, and 6 dB above that of any 1 ms in the
    `apart` [s] before. The first is the direct sound. Its time is where half the amplitude of that rise is
    first reached, its level that of the energy in `apart` from there. For an echo of the same form times
    are within 0.1 ms and levels within 0.5 dB where it is 20 dB above what else is heard. One that comes
    within `apart`, or is softer than what it comes in, is not found here; `repeats` may find it.

    Raises ValueError when `x` is empty or not finite, ImportError without scipy.
    """
    with needs("finding echoes", "scipy"):
        from scipy.ndimage import maximum_filter1d
    power = np.sum(np.square(sound_channels(x)), axis=1)
    gap, width = max(round(apart * rate), 1), max(round(_WIDTH * rate), 1)
    if not np.any(power):
        return np.zeros(0), np.zeros(0)
    total = np.concatenate(([0.0], np.cumsum(np.pad(power, (gap + 2 * width, width)))))
    ahead = np.maximum(total[width:] - total[:-width], 0.0)
    before = maximum_filter1d(ahead, gap)[gap // 2 : -width - gap + gap // 2]
    ahead = ahead[width + gap :]
    floor = float(np.max(ahead)) * 10.0 ** (threshold_db / 10.0)
    risen = np.flatnonzero((ahead >= floor) & (ahead >= _RISE * before))
    firsts = risen[np.diff(risen, prepend=-gap - 1) > gap]
    # How early a rise is seen depends on its level; where it is highest does not.
    tops = [first + int(np.argmax(ahead[first : first + 2 * width])) for first in firsts]
    # The power of a frame is `width` further on in `ahead` than in `power`.
    pairs = zip(firsts, tops, strict=True)
    starts = np.array([_half_reached(power, max(first - width, 0), top) for first, top in pairs])
    energy = np.array([np.sum(power[start : start + gap]) for start in starts])
    return (starts[1:] - starts[0]) / rate, 10.0 * np.log10(energy[1:] / energy[0])


def repeats(
    x: Samples,
    rate: float,
    *,
    sound: Samples | None = None,
    threshold_db: float = -20.0,
    apart: float = 0.005,
) -> Echoes:
    """Echoes of any broadband sound, also a long one: where its autocorrelation peaks.

    `x`, shape (n,) or (n, channels), at `rate` [Hz]. Of r = R(τ) / R(0), R(τ) = Σ x(t) · x(t + τ) over all
    channels, the peaks of |r| from `apart` [s] on, none nearer than that to a larger one. One echo of
    amplitude a has r = a / (1 + a²), which levels are solved from; of several, each reads up to
    10 · log10(1 + Σ a²) low, and the differences of their times appear as well. For one echo of broadband
    sound that is not cut off, times are within 0.1 frames. Chance counts for up to 5 / √(2 · bandwidth ·
    length) in r, 0.016 for 2 s of 24 kHz: levels of −6 dB are within 0.6 dB, of −18 dB within 1.2 dB, and
    those above −3 dB vague, since r is nearly 1/2 there.

    sound: shape (n,), what was played, if known: its own r is taken off first.

    Raises ValueError when `x` or `sound` is empty or not finite, ImportError without scipy.
    """
    with needs("finding echoes", "scipy"):
        from scipy.signal import find_peaks
    likeness = _likeness(sound_channels(x))
    if sound is not None:
        own = _likeness(sound_channels(sound))[: len(likeness)]
        likeness[: len(own)] -= own
    size, gap = np.abs(likeness), max(round(apart * rate), 1)
    size[:gap] = 0.0
    amplitude = 10.0 ** (threshold_db / 20.0)
    lags, _ = find_peaks(size, height=amplitude / (1.0 + amplitude**2), distance=gap)
    ratio = np.minimum(size[lags], 0.5)
    levels = 20.0 * np.log10((1.0 - np.sqrt(1.0 - 4.0 * ratio**2)) / (2.0 * ratio))
    before, at, after = size[lags - 1], size[lags], size[lags + 1]
    vertex = 0.5 * (before - after) / np.minimum(before - 2.0 * at + after, -1e-300)
    return (lags + vertex) / rate, levels


def _half_reached(power: NDArray[np.float64], start: int, end: int) -> int:
    part = power[start:end]
    return start + int(np.argmax(part >= np.max(part) / 4.0))


def _likeness(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """R(τ) / R(0) for 0 ≤ τ < n."""
    size = 1 << (2 * len(x) - 1).bit_length()
    power = np.sum(np.abs(np.fft.rfft(x, size, axis=0)) ** 2, axis=1)
    correlation = np.fft.irfft(power, size)[: len(x)]
    return np.asarray(correlation / correlation[0] if correlation[0] > 0.0 else correlation)
