"""Voices: the lanes of the mixer, each playing one clip."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ecs_audio.components.table import Column, Row, Table


class Lane(IntEnum):
    """What a lane is doing."""

    FREE = 0
    PLAYING = 1  # for a source, which steers it
    ORPHAN = 2  # its source is gone; it fades out and is free again
    ENDED = 3  # past the end of its clip; its source is told at the next tick


class Voice(Row):
    """The row of a lane."""


class Voices(Table[Voice]):
    """All lanes exist from the start and none ever moves: a lane keeps its place while it sounds."""

    row_type = Voice

    lane = Column(np.uint8)
    """Lane. Set by `play`, `mix` and `despawn`."""
    clip = Column(np.int32)
    """Clip id. Set by `play`."""
    looping = Column(np.uint8)
    """1 if the clip repeats. Set by `play`."""
    priority = Column(np.int32)
    """Priority of its source. Set by `play`."""
    started = Column(np.int64)
    """Tick at which it began. Set by `play`."""
    position = Column(np.int64)
    """Place in the clip, not wrapped [frames, 32.32 fixed point]. Set by `play`, moved by `mix`."""
    turns = Column(np.float64)
    """Frames of whole turns that a loop's `position` leaves out. Set by `play`."""
    speed = Column(np.int64)
    """Clip frames a frame until the ramp's end [32.32]. Set by `play`."""
    speed_after = Column(np.int64)
    """Clip frames a frame after it [32.32]. Set by `play`."""
    jump = Column(np.int64)
    """Distance to jump in the clip as soon as the lane is silent [32.32]. Set by `play`."""
    gain = Column(np.float32, 2)
    """Amplitude left and right now, linear. Set by `play` at the start, moved by `mix`."""
    gain_target = Column(np.float32, 2)
    """The same at the ramp's end. Set by `play`."""
    hf = Column(np.float32, default=1)
    """sqrt(gain_hf) now. Set by `play` at the start, moved by `mix`."""
    hf_target = Column(np.float32, default=1)
    """The same at the ramp's end. Set by `play`."""
    shelf = Column(np.float32, 5)
    """Coefficients b0, b1, b2, a1, a2 now. Set by `play` at the start, moved by `mix`."""
    memory = Column(np.float32, 2)
    """State of the shelf. Set by `mix`."""
    fade = Column(np.float32, default=1)
    """Attack and release, linear. Moved by `mix`."""
    fade_target = Column(np.float32, default=1)
    """1 to sound, 0 to fall silent. Set by `play`, `mix` and `despawn`."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        for _ in range(capacity):
            self.append()
