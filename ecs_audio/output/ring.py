"""What is rendered ahead lies in a ring: one thread writes, another reads, and nobody waits for a lock."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.deliver import (
    BEGUN,
    CALLBACKS,
    DELIVERED,
    FLAGGED,
    LATENCY_HIGH,
    LATENCY_LOW,
    LATENCY_SUM,
    MUTE,
    PLACES,
    READ,
    RISEN,
    STARVED,
    UNDERRUN_EVENTS,
    UNDERRUN_FRAMES,
    WRITTEN,
)

__all__ = [
    "BEGUN", "CALLBACKS", "DELIVERED", "FADE", "FLAGGED", "LATENCY_HIGH", "LATENCY_LOW", "LATENCY_SUM",
    "MUTE", "READ", "RISEN", "STARVED", "UNDERRUN_EVENTS", "UNDERRUN_FRAMES", "WRITTEN", "Ring",
]  # fmt: skip

FADE = 0.0045
"""Fades to silence and back, and the reserve that is kept for them [s]."""


class Ring:
    """What is rendered ahead of the device, written by one thread and read by another without a lock.

    rate [Hz]. frames: float32 (n, 2), n a power of two; frame k lies at k & (n - 1). clock: int64 (64,),
    the counts of both sides, at the places that constants of this module name. fade: `FADE` in frames.
    """

    def __init__(self, rate: int, frames: int = 1 << 16) -> None:
        self.rate = rate
        self.fade = round(FADE * rate)
        if frames & (frames - 1) or frames < 4 * self.fade:
            raise ValueError(
                f"a ring of {frames} frames: take a power of two of at least {4 * self.fade} at {rate} Hz"
            )
        self.frames = np.zeros((frames, 2), np.float32)
        self.clock = np.zeros(PLACES, np.int64)
        self.clock[STARVED] = 1
