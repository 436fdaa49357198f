"""When ticks are heard: block by block as the host renders, or live, against the clock of a device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.clips import Clips
from ecs_audio.components.master import MIXED
from ecs_audio.governor import Governor
from ecs_audio.moving import Moving
from ecs_audio.settings import Settings
from ecs_audio.systems.live import Live, Ring
from ecs_audio.systems.pace import Delay


class Paced(Moving):
    """The part of an engine that knows its frames, and the loop that renders them ahead when it is live."""

    def __init__(self, clips: Clips, settings: Settings, seed: int) -> None:
        super().__init__(clips, settings, seed)
        self._time, self._shift, self._delay = 0.0, 0, Delay()
        self._governor: Governor | None = None
        self._ring: tuple[Ring, float, bool] | None = None

    @property
    def time(self) -> float:
        """Seconds ticked so far."""
        return self._time

    @property
    def frame(self) -> int:
        """Frames rendered so far."""
        return self._master.rendered_frames if self._live is None else self._live.rendered_frames

    @property
    def live(self) -> Live | None:
        """The loop that renders ahead, while `Speakers` are open."""
        return self._live

    def go_live(
        self, ring: tuple[NDArray[np.float32], NDArray[np.int64]], seconds: float, governed: bool = True
    ) -> None:
        """Let a loop of its own, which needs no Python, render into a ring from now on; the host only ticks.

        ring: frames and clock of an `output.ring.Ring`. seconds: rendered ahead of who reads it. governed:
        whether counts are lowered while this machine cannot keep up. Raises RuntimeError if it is live.
        """
        self._check_open()
        if self._live is not None:
            raise RuntimeError("this engine is live already; it has one loop, for one pair of speakers")
        live = Live(
            self.sources, self._sounds, self.voices, self._desk, self._buses, self._master, self.clips,
            self.settings, ring, seconds,
        )  # fmt: skip
        live.skip(self._frame_at(self._time))
        live.start()
        self._live, self._ring = live, (ring, seconds, governed)
        self._governor = Governor(self.settings) if governed else None

    def leave_live(self) -> None:
        """End the loop; what sounds is faded in the ring, and goes on with `render`. May be called twice."""
        if self._live is not None:
            self._live.stop()
            self._live = self._governor = self._ring = None
            self.telemetry.quality, self.telemetry.held_back = 0, ""

    def _frames_of(self, dt: float) -> tuple[int, int, int, int]:
        """Of the coming tick: its frame, frames until the next, the frame it is heard from, and how far that
        is ahead."""
        live, pace = self._live, self._delay if self._live is None else self._live.pace
        if live is not None:
            live.hear()
            self._master.clock[MIXED] = live.mixed_frames
        mixed = self._master.mixed_frames
        moved = pace.move(self._frame_at(self._time), mixed, self._frames)
        self._shift += moved
        self._frames += moved
        now = self._frame_at(self._time)
        frames = self._frame_at(self._time + dt) - now
        heard = mixed if live is None else live.heard_from(now)
        return now, frames, heard, heard - now

    def _frame_at(self, time: float) -> int:
        """The frame of a time [s] of the host's."""
        return round(time * self.rate) + self._shift

    def _look_after(self, live: Live, dt: float) -> None:
        """After a tick: what the render loop says, and less of everything if there is too much to do."""
        t, governor = self.telemetry, self._governor
        t.reverbs, t.limiter_gain = live.reverbs, live.limiter_gain
        if governor is not None:
            share = sum(t.microseconds.values()) * 1e-6 / dt if dt > 0.0 else 0.0
            governor.note(dt, live.load, share, live.new_underruns())
            t.quality, t.held_back = governor.step, governor.held_back
