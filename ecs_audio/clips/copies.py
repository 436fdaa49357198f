"""Copies of a clip without its high frequencies, which can be read fast without folding.

Read at speed s, a frequency f becomes s · f: what lies above rate / 2 / s folds back into the band. Copy
k = 1, 2, 3 lacks it for every speed up to COPY_STEP · 2^k: 2.4, 4.8 and 9.6. Up to COPY_STEP the clip
itself is read. The low-pass is a sinc in a Kaiser window, of the same length for each copy, so that each
goes from pass to stop within 1 % of the rate, 483 Hz at 48 kHz. It is symmetric: a copy is not late, and
reaches SPILL frames beyond both ends of its clip.

J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

COPIES = 3
"""Copies of a clip."""

COPY_STEP = 1.2
"""Speed up to which a clip is read itself; copy k serves up to COPY_STEP · 2^k."""

SPILL = 256
"""Frames of a copy before the first and after the last of its clip: half of the low-pass."""

COPIED_SECONDS = 60.0
"""Longest clip that has copies [s]. With its copies it takes four times its memory: 46 MB at 48 kHz."""

STOP_DB = 82.0
"""By how much the low-pass is to mute its stop band [dB]; Kaiser's formulas give 0.3 dB less."""

_TRANSFORM = 1 << 13
"""Frames of one Fourier transform: a block of the clip and what spills out of it."""


def band_limited(clip: NDArray[np.float32]) -> NDArray[np.float32]:
    """The COPIES of a clip, shape (COPIES, SPILL + n + SPILL), for a clip of shape (n,).

    Linear convolution block by block (overlap-add), which needs little memory beside the result. Copied frame
    n of row k - 1 stands at SPILL + n.
    """
    copied = np.zeros((COPIES, len(clip) + 2 * SPILL), dtype=np.float32)
    block = _TRANSFORM - 2 * SPILL
    for start in range(0, len(clip), block):
        spectrum = np.fft.rfft(clip[start : start + block].astype(np.float64), _TRANSFORM)
        muffled = np.fft.irfft(spectrum * _responses(), _TRANSFORM)
        there = copied[:, start : start + _TRANSFORM]
        there += muffled[:, : there.shape[1]]
    return copied


def low_pass(copy: int) -> NDArray[np.float64]:
    """The taps of copy 1, 2 or 3, shape (2 · SPILL + 1,); their sum is 1."""
    stop = 0.5 / (COPY_STEP * 2.0**copy)  # all frequencies in cycles per frame
    cutoff = stop - 0.5 * (STOP_DB - 7.95) / (14.36 * 2 * SPILL)
    frames = np.arange(-SPILL, SPILL + 1)
    taps = np.sinc(2.0 * cutoff * frames) * np.kaiser(2 * SPILL + 1, 0.1102 * (STOP_DB - 8.7))
    return np.asarray(taps / taps.sum())


@cache
def _responses() -> NDArray[np.complex128]:
    return np.fft.rfft([low_pass(copy) for copy in range(1, COPIES + 1)], _TRANSFORM)
