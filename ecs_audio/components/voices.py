"""Voices: the lanes of the mixer, each playing one clip."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ecs_audio.components.aligned import aligned
from ecs_audio.components.table import Column, Row, Table

FOREVER = (1 << 63) - 1
"""A place that no lane reaches."""


class Lane(IntEnum):
    """What a lane is doing."""

    FREE = 0
    PLAYING = 1  # for a source, which steers it
    ORPHAN = 2  # its source is gone, or goes on in another lane; it fades out and is free again
    ENDED = 3  # past the end of its clip; its source is told at the next tick


class Voice(Row):
    """The row of a lane."""


class Voices(Table[Voice]):
    """All lanes exist from the start and none ever moves: a lane keeps its place while it sounds.

    Lanes 0 to `echoes` - 1 are for sources, the others for their echoes and for second channels.
    """

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
    """Counts up with every lane that begins, so that the oldest is the lowest. Set by `play`."""
    position = Column(np.int64)
    """Place in the clip, not wrapped [frames, 32.32 fixed point]. Set by `play`, moved by `mix`."""
    turns = Column(np.float64)
    """Frames of whole turns that a loop's `position` leaves out. Set by `play`."""
    stop = Column(np.int64, default=FOREVER)
    """Place from which on nothing more was emitted, or has been decoded [32.32]. Set by `play`."""
    speed = Column(np.int64)
    """Clip frames a frame until the ramp's end [32.32]. Set by `play`."""
    speed_after = Column(np.int64)
    """Clip frames a frame after it [32.32]. Set by `play`."""
    jump = Column(np.int64)
    """Distance to jump in the clip as soon as the lane is silent [32.32]. Set by `play`."""
    octave = Column(np.uint8)
    """Copy of the clip that is read, 0 for itself, 255 for not chosen yet. Set by `play` and `mix`."""
    fade = Column(np.float32)
    """Attack and release, linear. Moved by `mix`."""
    fade_target = Column(np.float32)
    """1 to sound, 0 to fall silent. Set by `play`, `mix` and `despawn`."""
    gain = Column(np.float32, 4)
    """Amplitude now, linear: left, right, into the near and into the far reverb.
    Set by `play` at the start, moved by `mix`."""
    gain_target = Column(np.float32, 4)
    """The same at the ramp's end. Set by `play`."""
    hf = Column(np.float32, default=1)
    """sqrt(gain_hf) of the direct sound now. Set by `play` at the start, moved by `mix`."""
    hf_target = Column(np.float32, default=1)
    """The same at the ramp's end. Set by `play`."""
    shelf = Column(np.float32, 5)
    """Coefficients b0, b1, b2, a1, a2 of that shelf. Set by `play` at the start, moved by `mix`."""
    memory = Column(np.float32, 2)
    """Its state. Set by `mix`."""
    near_hf = Column(np.float32, default=1)
    """sqrt(gain_hf) of what goes into the near reverb now. Set by `play` at the start, moved by `mix`."""
    near_hf_target = Column(np.float32, default=1)
    """The same at the ramp's end. Set by `play`."""
    near_shelf = Column(np.float32, 5)
    """Coefficients b0, b1, b2, a1, a2 of that shelf. Set by `play` at the start, moved by `mix`."""
    near_memory = Column(np.float32, 2)
    """Its state. Set by `mix`."""
    far_hf = Column(np.float32, default=1)
    """sqrt(gain_hf) of what goes into the far reverb now. Set by `play` at the start, moved by `mix`."""
    far_hf_target = Column(np.float32, default=1)
    """The same at the ramp's end. Set by `play`."""
    far_shelf = Column(np.float32, 5)
    """Coefficients b0, b1, b2, a1, a2 of that shelf. Set by `play` at the start, moved by `mix`."""
    far_memory = Column(np.float32, 2)
    """Its state. Set by `mix`."""

    def __init__(self, sources: int, echoes: int) -> None:
        super().__init__(sources + echoes)
        self.echoes = sources
        """The first lane for echoes."""
        wide = [name for name, column in self.columns.items() if column.dtype is np.float32]
        rows = [self.storage[name].reshape(self.capacity, -1).T for name in wide]
        self.signal = aligned(np.concatenate(rows))
        """The float32 columns as rows, so that eight lanes are neighbours: shape [37, lanes]."""
        at = 0
        for name, row in zip(wide, rows, strict=True):
            view = self.signal[at : at + len(row)].T
            self.storage[name] = view if self.columns[name].shape else view[:, 0]
            at += len(row)
        for _ in range(self.capacity):
            self.append()
