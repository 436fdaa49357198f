"""A ring of frames: written at one end, read at the other, never larger than it was made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Ring:
    """At most `frames` frames of float32, shape (frames, channels)."""

    def __init__(self, frames: int, channels: int) -> None:
        self._frames: NDArray[np.float32] = np.zeros((frames, channels), dtype=np.float32)
        self._first = 0
        self.ready = 0
        """Frames to be pulled."""

    @property
    def capacity(self) -> int:
        """Frames it can hold."""
        return len(self._frames)

    @property
    def free(self) -> int:
        """Frames that can be pushed."""
        return len(self._frames) - self.ready

    def push(self, frames: NDArray[np.float32]) -> int:
        """Take as many of `frames`, shape (n, channels), as there is room for, and return how many."""
        count = min(len(frames), self.free)
        start = (self._first + self.ready) % self.capacity
        before = min(count, self.capacity - start)
        self._frames[start : start + before] = frames[:before]
        self._frames[: count - before] = frames[before:count]
        self.ready += count
        return count

    def pull(self, out: NDArray[np.float32]) -> int:
        """Move as many frames as are ready to the start of `out`, shape (n, channels); return how many."""
        count = min(len(out), self.ready)
        before = min(count, self.capacity - self._first)
        out[:before] = self._frames[self._first : self._first + before]
        out[before:count] = self._frames[: count - before]
        self._first = (self._first + count) % self.capacity
        self.ready -= count
        return count

    def clear(self) -> None:
        """Drop what is ready."""
        self._first = self.ready = 0
