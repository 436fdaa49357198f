"""The master: what is mixed ahead, and what the limiter remembers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components.aligned import aligned_zeros

QUANTUM = 64
"""Frames that are mixed together."""
QUANTA = 32
"""Quanta mixed in one go, at most."""
MIXED, RENDERED, READY, READY_UNTIL, RAMP_END = range(5)
"""Places in `Master.clock`."""


class Master:
    """Arrays between the lanes and the block. Set by `fill_block`."""

    def __init__(self) -> None:
        self.steps = aligned_zeros(34 * 16)
        """Scratch: what filters and gains of sixteen lanes move by."""
        self.lanes = aligned_zeros(17 * QUANTUM)
        """Scratch: samples of sixteen lanes, one after the other, and of one that changes to another copy."""
        self.mono = aligned_zeros(4 * QUANTUM * 16)
        """Scratch: the same of sixteen, frame by frame, and what their shelves leave of it."""
        self.sums = aligned_zeros(QUANTUM * 4 * 16)
        """Scratch: left, right, near and far of every sixteenth lane together."""
        self.sent = aligned_zeros(2, QUANTUM * QUANTA)
        """What the newest quanta send into the near and the far reverb."""
        self.mixed = aligned_zeros(QUANTUM * QUANTA, 2)
        """The newest quanta before the limiter."""
        self.delayed = np.zeros((QUANTUM, 2), np.float32)
        """The last of them, which the limiter still holds back."""
        self.ready = aligned_zeros(QUANTUM * QUANTA, 2)
        """What came out of the limiter last."""
        self.needed = np.ones(QUANTUM, np.float32)
        """Gain that each frame of `delayed` asks for."""
        self.held = np.ones(QUANTUM, np.float32)
        """Gain before averaging, of the frames before."""
        self.look_ahead = np.ones((2, QUANTUM), np.float32)
        """Scratch of the limiter."""
        self.limiter = np.ones(2, np.float32)
        """Gain before averaging; smallest gain since the last tick."""
        self.clock = np.zeros(5, np.int64)
        """Frames MIXED so far, a multiple of the quantum, from which the next tick acts; frames RENDERED,
        which were given out; frames in `ready`, and where they end; the frame at which lanes reach their
        targets, set by `play`."""

    @property
    def mixed_frames(self) -> int:
        """Frames mixed so far."""
        return int(self.clock[MIXED])

    @property
    def rendered_frames(self) -> int:
        """Frames given out so far."""
        return int(self.clock[RENDERED])

    @property
    def left(self) -> NDArray[np.float32]:
        """What is ready and not given out."""
        end = int(self.clock[READY])
        return self.ready[end - int(self.clock[READY_UNTIL] - self.clock[RENDERED]) : end]

    def resume_at(self, mixed_frames: int) -> None:
        """Go on after a loop that mixed so far, and gave out all that was ready."""
        self.clock[MIXED] = mixed_frames
        self.clock[RENDERED] = self.clock[READY_UNTIL] = max(mixed_frames - QUANTUM, 0)
        self.clock[READY] = QUANTUM
