"""The hand-over between a decoder thread, that fills a ring, and the one who pulls from it."""

from __future__ import annotations

from threading import Condition

import numpy as np
from numpy.typing import NDArray

from ecs_audio.clips.errors import ClipError
from ecs_audio.clips.ring import Ring


class Feed:
    """A ring behind a lock that is held no longer than a copy takes.

    Each place that is asked for begins a new turn, and frames of an older turn are not taken any more:
    what the thread still decodes when the place changes is lost, as it should be.
    """

    def __init__(self, frames: int, channels: int) -> None:
        self.channels = channels
        self._change = Condition()
        self._ring = Ring(frames, channels)
        self._turn = 0
        self._asked: int | None = 0
        self._closed = False
        self._done = False
        self.failure: ClipError | None = None
        """What ended the turn before the end of the sound."""

    # Of the one who pulls

    @property
    def capacity(self) -> int:
        """Frames the ring can hold."""
        return self._ring.capacity

    @property
    def ready(self) -> int:
        """Frames to be pulled."""
        return self._ring.ready

    @property
    def closed(self) -> bool:
        """Whether the thread was told to end."""
        return self._closed

    @property
    def ended(self) -> bool:
        """Whether every frame of the turn has been pulled."""
        with self._change:
            return self._done and not self._ring.ready

    def pull(self, out: NDArray[np.float32]) -> int:
        """Copy as many frames as are ready to the start of `out`, and return how many."""
        with self._change:
            count = self._ring.pull(out)
            if count:
                self._change.notify_all()
        return count

    def wait(self, frames: int, timeout: float) -> bool:
        """Whether so many frames are ready, or no more will come, within `timeout` [s]."""
        with self._change:
            return self._change.wait_for(lambda: self._done or self._ring.ready >= frames, timeout)

    def ask(self, place: int) -> None:
        """Drop what is ready and begin a new turn at the frame `place` of the file."""
        with self._change:
            self._ring.clear()
            self._turn += 1
            self._asked = place
            self._done = self._closed
            self.failure = None
            self._change.notify_all()

    def close(self) -> None:
        """Drop what is ready and end the thread."""
        with self._change:
            self._ring.clear()
            self._closed = self._done = True
            self._change.notify_all()

    # Of the decoder thread

    def next_turn(self) -> tuple[int, int] | None:
        """Sleep until a place is asked for, and return it with the turn; None once it is closed."""
        with self._change:
            self._change.wait_for(lambda: self._closed or self._asked is not None)
            if self._closed or self._asked is None:
                return None
            place, self._asked = self._asked, None
            return place, self._turn

    def put(self, frames: NDArray[np.float32], turn: int) -> bool:
        """Hand over `frames`, asleep while the ring is full; False once the turn is not wanted any more."""
        with self._change:
            while len(frames):
                self._change.wait_for(lambda: self._stale(turn) or self._ring.free)
                if self._stale(turn):
                    break
                frames = frames[self._ring.push(frames) :]
                self._change.notify_all()
            return not self._stale(turn)

    def finish(self, turn: int, failure: ClipError | None) -> None:
        """No more frames come in this turn."""
        with self._change:
            if not self._stale(turn):
                self._done, self.failure = True, failure
                self._change.notify_all()

    def _stale(self, turn: int) -> bool:
        return self._closed or turn != self._turn
