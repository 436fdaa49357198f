"""A device without a clock: it takes frames when a test says so, and waits until the loop has caught up."""

from __future__ import annotations

import time

import numpy as np

from ecs_audio.kernels.mix import QUANTUM
from ecs_audio.output.ring import READ, WRITTEN, Ring

AHEAD = 0.040
PREFILL = 2880
"""Frames of silence before the first: those rendered ahead, and the slack of ticks."""


class Device:
    """Reads what an engine renders ahead, in lockstep with a test."""

    def __init__(self, engine, ahead=AHEAD):
        self.engine, self.ring, self.blocks = engine, Ring(engine.rate), []
        self.frames = round(ahead * engine.rate)
        engine.go_live((self.ring.frames, self.ring.clock), ahead)

    def take(self, frames):
        """Take frames as the device would, then let the loop fill the ring again."""
        clock, size = self.ring.clock, len(self.ring.frames)
        while frames:
            count = min(frames, 256)
            self.wait()
            at = (int(clock[READ]) + np.arange(count)) % size
            self.blocks.append(self.ring.frames[at])
            clock[READ] += count
            frames -= count
        self.wait()

    def wait(self):
        clock, end = self.ring.clock, time.monotonic() + 10
        while clock[WRITTEN] - clock[READ] + QUANTUM <= self.frames:
            assert time.monotonic() < end, "the render loop stands still"
            time.sleep(0.0002)

    def rest(self):
        """Take what lies in the ring."""
        clock = self.ring.clock
        at = (int(clock[READ]) + np.arange(clock[WRITTEN] - clock[READ])) % len(self.ring.frames)
        self.blocks.append(self.ring.frames[at])
        clock[READ] = clock[WRITTEN]

    @property
    def heard(self):
        """All that was taken, without the silence at the beginning."""
        return np.concatenate(self.blocks)[PREFILL:]


def live(engine, ticks, before=None, tick=1 / 60, after=None):
    """Tick and listen in step; `before(k)` moves things. Returns what was heard, and the device."""
    device, taken = Device(engine), 0
    for k in range(ticks):
        if before is not None:
            before(k)
        engine.tick(tick)
        if after is not None:
            after(k)
        frames = round((k + 1) * tick * engine.rate)
        device.take(frames - taken)
        taken = frames
    device.take(PREFILL)
    return device.heard, device


def offline(engine, ticks, before=None, tick=1 / 60, after=None):
    """The same, rendered block by block."""
    blocks, taken = [], 0
    for k in range(ticks):
        if before is not None:
            before(k)
        engine.tick(tick)
        if after is not None:
            after(k)
        frames = round((k + 1) * tick * engine.rate)
        blocks.append(engine.render(frames - taken).copy())
        taken = frames
    return np.concatenate(blocks)
