"""Where a decay meets the noise."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROUNDS: Final = 6
BLOCKS_IN_TEN_DB: Final = 5
ABOVE_NOISE_DB: Final = 7.0
"""The late slope is read from so far above the noise ..."""
LATE_SPAN_DB: Final = 20.0
"""... over so much."""


class Knee(NamedTuple):
    """The end of what can be seen of a decay."""

    frame: int
    """First frame that is not used."""
    noise: float
    """Mean power of the noise in one frame; 0 where the recording ends before any is seen."""
    beyond: float
    """Power that the decay would have held from there on, summed over frames."""


def knee_of(power: NDArray[np.float64], rate: float, bandwidth: float) -> Knee | str:
    """The knee of a decay of `power` for each frame, which begins with its first; or why there is none.

    After Lundeby, Vigran, Bietz and Vorländer (Acustica 81, 1995): a line through the last 20 dB above the
    noise crosses it at the knee; noise is then measured 10 dB of decay later, blocks are made a fifth of
    10 dB long, and so on until nothing moves. bandwidth: of the sound [Hz], for blocks long enough to
    have a steady power.
    """
    n = len(power)
    tail = max(n // 10, 1)
    shortest = max(math.ceil(2.0 / bandwidth * rate), 1)
    block = max(round(0.01 * rate), shortest)
    noise = float(np.mean(power[n - tail :]))
    frame, slope, offset = n, 0.0, 0.0
    for _ in range(ROUNDS):
        line = _late_line(power, block, noise)
        if isinstance(line, str):
            return line
        slope, offset = line  # [dB a frame], [dB]
        noise_db = 10.0 * math.log10(max(noise, 1e-300))
        before, frame = frame, min(round((noise_db - offset) / slope), n)
        if frame < 1:
            return "it does not rise above the noise"
        if abs(frame - before) <= block // 4:
            break
        block = max(round(10.0 / -slope / BLOCKS_IN_TEN_DB), shortest)
        if block > n // 6:
            return "it hardly falls"
        later = min(frame + round(10.0 / -slope), n - tail)
        noise = float(np.mean(power[later:]))
    decay = -slope * math.log(10.0) / 10.0  # of the power, a frame
    if frame >= n - tail:
        # What was taken for noise is the decay itself, which still goes on.
        at_end = 10.0 ** ((offset + slope * n) / 10.0)
        return Knee(n, 0.0, at_end / decay)
    return Knee(frame, noise, noise / decay)


def _late_line(power: NDArray[np.float64], block: int, noise: float) -> tuple[float, float] | str:
    """Slope [dB a frame] and level at frame 0 [dB] of the decay's last 20 dB above the noise."""
    count = len(power) // block
    if count < 6:
        return "it is too short"
    mean = power[: count * block].reshape(count, block).mean(axis=1)
    with np.errstate(divide="ignore"):
        level = 10.0 * np.log10(mean)
    # What comes later is louder than gaps between echoes: those are not the end.
    hull = np.maximum.accumulate(level[::-1])[::-1]
    bottom = 10.0 * math.log10(max(noise, 1e-300)) + ABOVE_NOISE_DB
    last = int(np.count_nonzero(hull >= bottom))
    first = min(int(np.count_nonzero(hull > bottom + LATE_SPAN_DB)), max(last - 3, 0))
    if last - first < 3:
        return "it does not rise far enough above the noise"
    places = np.arange(first, last)
    heard = np.isfinite(level[first:last])
    if np.count_nonzero(heard) < 3:
        return "it is over at once"
    slope, offset = np.polyfit((places[heard] + 0.5) * block, level[first:last][heard], 1)
    if slope >= -1e-12:
        return "it does not fall"
    return float(slope), float(offset)
