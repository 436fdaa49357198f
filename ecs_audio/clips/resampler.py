"""From one rate to another block by block, as if the whole sound had been there at once."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import numpy as np
from numpy.typing import NDArray

Resampler = Callable[[NDArray[np.float32], bool], NDArray[np.float32]]
"""Takes the next frames, shape (n, channels), and whether they are the last; gives what that completes."""

RESAMPLERS = ("soxr", "linear")

MAX_RATIO = 64
"""Largest ratio of two rates: a header that says 1 Hz would make gigabytes of one block."""


def resampler(kind: str, file_rate: int, rate: int, channels: int) -> Resampler:
    """A fresh resampler of one of the RESAMPLERS from `file_rate` to `rate` [Hz]; equal rates are a copy.

    What it gives does not depend on how the frames are cut into blocks: "soxr" (quality HQ) equals its
    own one-shot bit for bit, "linear" is `Linear`.
    """
    if file_rate == rate:
        return lambda frames, last: frames
    if kind == "linear":
        return Linear(file_rate, rate, channels).feed
    import soxr

    feed: Resampler = soxr.ResampleStream(
        file_rate, rate, channels, dtype="float32", quality="HQ"
    ).resample_chunk
    return feed


def resampled_frames(frames: int, file_rate: int, rate: int) -> int:
    """How many frames at `rate` [Hz] `frames` at `file_rate` become: the nearest number, of two the lower."""
    return -((file_rate - 2 * frames * rate) // (2 * file_rate))


class Linear:
    """Straight lines between the frames of a file; output n lies at n · file_rate / rate.

    Positions are whole numbers of parts of a frame, so they are exact however long it goes on. After the
    last frame the line goes to zero, as silence follows: it equals the file with silence behind it, and
    ends without a step where holding the last frame would make one.
    """

    def __init__(self, file_rate: int, rate: int, channels: int) -> None:
        common = gcd(file_rate, rate)
        self._parts = rate // common
        self._step = file_rate // common
        self._phase = 0  # where the next output lies after the first kept frame [parts]
        self._kept: NDArray[np.float32] = np.zeros((0, channels), dtype=np.float32)
        self._fed = 0
        self._given = 0

    def feed(self, frames: NDArray[np.float32], last: bool = False) -> NDArray[np.float32]:
        """The outputs, shape (m, channels), that `frames`, shape (n, channels), complete.

        `last` adds those up to the end; nothing may be fed after it.
        """
        self._fed += len(frames)
        silence = np.zeros((int(last), frames.shape[1]), dtype=np.float32)
        window = np.concatenate((self._kept, frames, silence))
        complete = -((self._phase - (len(window) - 1) * self._parts) // self._step)
        inside = resampled_frames(self._fed, self._step, self._parts) - self._given  # should it end here
        count = max(0, min(complete, inside))
        self._given += count
        whole, part = np.divmod(self._phase + self._step * np.arange(count), self._parts)
        low, high = window[whole].astype(np.float64), window[whole + 1]
        on_the_line = low + (part / self._parts)[:, np.newaxis] * (high - low)
        self._move(window, self._phase + self._step * count)
        return np.asarray(on_the_line, dtype=np.float32)

    def _move(self, window: NDArray[np.float32], phase: int) -> None:
        passed = min(phase // self._parts, len(window))
        self._kept = window[passed:].copy()
        self._phase = phase - passed * self._parts
