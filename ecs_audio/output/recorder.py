"""The recorder: what comes out of a ring goes into a sound file as well."""

from __future__ import annotations

import time
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from ecs_audio.output.files import check_ending, write_audio
from ecs_audio.output.ring import READ, WRITTEN, Ring

NAP = 0.02
"""Time between two looks [s]; the ring holds more than a second."""


class Recorder:
    """Follows a ring's reader on a thread of its own and writes what it has passed, from `first` on.

    Where the thread was kept from the processor for longer than the ring holds, the file has silence of that
    length.
    """

    def __init__(self, ring: Ring, path: str | PathLike[str], first: int) -> None:
        """first: of the ring's frames. Raises ValueError for an ending that no format has."""
        check_ending(path)
        self.path = Path(path)
        self.lost_frames = 0
        """Frames that could not be had any more."""
        self.error: BaseException | None = None
        """Why there is no file."""
        self._ring, self._next, self._over = ring, first, False
        self._thread = Thread(target=self._write, name="ecs_audio recorder", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what is left, and finish the file. Raises what kept it from being written."""
        self._over = True
        self._thread.join()
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def _write(self) -> None:
        try:
            write_audio(self.path, self._blocks(), self._ring.rate)
        except BaseException as error:  # told when it is closed
            self.error = error

    def _blocks(self) -> Iterator[NDArray[np.float32]]:
        frames, clock = self._ring.frames, self._ring.clock
        size = len(frames)
        yield np.zeros((0, 2), np.float32)  # a file of no frames is one, too
        while True:
            over = self._over
            until = int(clock[WRITTEN] if over else clock[READ])
            # What is overwritten while it is copied lies at most that much ahead of the reader.
            oldest = int(clock[WRITTEN]) - size // 2
            if self._next < min(oldest, until):
                lost = min(oldest, until) - self._next
                self.lost_frames += lost
                self._next += lost
                yield np.zeros((lost, 2), np.float32)
            while self._next < until:
                at = self._next % size
                count = min(until - self._next, size - at)
                block = frames[at : at + count].copy()
                self._next += count
                yield block
            if over:
                return
            time.sleep(NAP)
