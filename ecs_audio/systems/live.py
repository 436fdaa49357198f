"""live: ticks put cues into a queue, and a thread renders ahead of a device without ever needing Python."""

from __future__ import annotations

from collections import deque
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Sources, Voices
from ecs_audio.components.buses import COEFFICIENTS, LINES, WANTED, Buses
from ecs_audio.components.cues import WAITING, Cues, Roster
from ecs_audio.components.entries import TAPS
from ecs_audio.components.master import QUANTUM, Master
from ecs_audio.kernels import ahead
from ecs_audio.kernels.ahead import Control, Copies, Queue, render_ahead
from ecs_audio.kernels.block import Desk
from ecs_audio.kernels.columns import SoundColumns
from ecs_audio.kernels.cue import Playing, hear, publish
from ecs_audio.kernels.deliver import READ, UNDERRUN_EVENTS, WRITTEN
from ecs_audio.settings import Settings
from ecs_audio.systems.addresses import addresses
from ecs_audio.systems.handover import give_back, take_over
from ecs_audio.systems.pace import Pace

if TYPE_CHECKING:
    from ecs_audio.clips import Clips

SLACK = 0.5
"""A tick may come late by so much of the time that is rendered ahead."""
LONGEST_GAP = 0.1
"""Ticks that were never rendered leave no more silence than this [s]."""
LONGEST_WAY = 1.0
"""From a change to all voices, by way of the next tick's cue, it takes no longer [s]."""
PATIENCE = 2.0
"""Time that a loop is given to end [s]."""

Ring: TypeAlias = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Frames and clock of an `output.ring.Ring`."""


class Live:
    """An engine's voices and reverbs while a render loop has them."""

    def __init__(
        self,
        sources: Sources,
        sounds: SoundColumns,
        voices: Voices,
        desk: Desk,
        buses: Buses,
        master: Master,
        clips: Clips,
        settings: Settings,
        ring: Ring,
        seconds: float,
    ) -> None:
        """seconds: rendered ahead of its reader."""
        self.sources, self.clips, self.settings = sources, clips, settings
        self.buses, self.master, self.voices = buses, master, voices
        self.tuned = Buses(clips.rate)
        """What ticks tune: the loop has the reverbs themselves."""
        self.closings = 0
        """How often reverbs were to fall silent."""
        self.skipped_ticks = 0
        """Ticks for which there was no room in the queue."""
        frames = round(seconds * clips.rate)
        self.pace = Pace(clips.rate, round(SLACK * frames))
        self._sounds, self._desk, self._ring = sounds, desk, ring
        columns = [sources.storage[name] for name in (*SoundColumns._fields, "slot", "take")]
        self._cues = Cues(columns, ahead.NUMBERS, COEFFICIENTS * LINES)
        self._roster = Roster(sources.capacity, TAPS)
        self._playing = Playing(*(getattr(self._roster, name) for name in Playing._fields))
        self._clock, self._told = np.zeros(ahead.PLACES, np.int64), np.zeros(8, np.float32)
        self._clock[ahead.AHEAD] = frames
        self._told[ahead.LOWEST_GAIN] = 1.0
        self._used: deque[tuple[Any, ...]] = deque(maxlen=WAITING + 2)
        self._takes, self._published, self._underruns = 0, 0, int(ring[1][UNDERRUN_EVENTS])
        self._thread: Thread | None = None
        self._begin()

    # Ticks.

    @property
    def mixed_frames(self) -> int:
        """Frames mixed so far."""
        return int(self._clock[ahead.MIXED])

    @property
    def rendered_frames(self) -> int:
        """Frames put into the ring so far."""
        return max(self.mixed_frames - QUANTUM, 0)

    def heard_from(self, now: int) -> int:
        """The frame from which a tick at `now` is heard: the same as offline, or, if it is late, one that the
        loop has not come to by then."""
        due = 0 if now <= 0 else (-(-now // QUANTUM) + 1) * QUANTUM
        mixed = self.mixed_frames
        return due if mixed <= due else mixed + 2 * QUANTUM

    @property
    def all_heard(self) -> int:
        """A frame by which what is done now will have reached all voices."""
        return self.mixed_frames + round(LONGEST_WAY * self.clips.rate)

    @property
    def load(self) -> float:
        """Time the loop needs in time rendered, eased."""
        return float(self._clock[ahead.LOAD]) * 1e-6

    @property
    def peak_load(self) -> float:
        """The most that a block of 512 frames needed."""
        return float(self._clock[ahead.PEAK_LOAD]) * 1e-6

    def forget_peak(self) -> None:
        """Let `peak_load` begin anew."""
        self._clock[ahead.PEAK_LOAD] = 0

    @property
    def limiter_gain(self) -> float:
        """Smallest gain of the limiter in the tick before the last cue, linear."""
        return float(self._told[ahead.LOWEST_GAIN])

    @property
    def reverbs(self) -> int:
        """Reverbs that sound."""
        return sum(bus.awake for bus in self.buses.both)

    def new_underruns(self) -> int:
        """Times that the device found nothing, since the last call."""
        before, self._underruns = self._underruns, int(self._ring[1][UNDERRUN_EVENTS])
        return self._underruns - before

    def peaks(self) -> tuple[float, float]:
        """Largest amplitude left and right since the last call."""
        left, right = self._told[ahead.LEFT_PEAK : ahead.RIGHT_PEAK + 1].tolist()
        self._told[ahead.LEFT_PEAK : ahead.RIGHT_PEAK + 1] = 0.0
        return left, right

    def hear(self) -> None:
        """Learn what became of the sources' sound."""
        s = self.sources
        hear(s.count, s.storage["slot"], s.storage["take"], self._playing, s.storage["state"])

    def publish(self, *, tick: int, now: int, passed: float, frames: int, voices: int) -> None:
        """Hand a tick's sources over to the loop. voices: that may sound. Others: see `conduct`."""
        s, roster, cues, cue = self.sources, self._roster, self._cues, self._published
        if cue - int(self._clock[ahead.TAKEN]) < WAITING:
            self._note(
                cue % WAITING, count=s.count, tick=tick, now=now, frames=frames, voices=voices, passed=passed
            )  # fmt: skip
            self._published += 1
        else:
            cue = -1
            self.skipped_ticks += 1
        self._takes = publish(
            self._sounds, s.count, s.storage["slot"], s.storage["take"], roster.used, roster.jumps,
            self._takes, cues.here.address, cues.here.width, cues.here.start, cues.rows, self._clock,
            ahead.PUBLISHED, cue,
        )  # fmt: skip

    def _note(
        self, cue: int, *, count: int, tick: int, now: int, frames: int, voices: int, passed: float
    ) -> None:
        """Fill in the numbers of a cue, and where the clips are now."""
        numbers, clips, near, far = self._cues.numbers[cue], self.clips, self.tuned.near, self.tuned.far
        arrays = (clips.bank, clips.offset, clips.stride, clips.length, clips.side)
        if not self._used or any(a is not b for a, b in zip(arrays, self._used[-1], strict=True)):
            self._addresses = tuple(number for array in arrays for number in (array.ctypes.data, len(array)))
        self._used.append(arrays)  # they stay as long as a cue that names them may be read
        numbers[:] = (
            count, tick, voices, now, frames, self.closings, near.clock[WANTED], far.clock[WANTED],
            *self._addresses,
        )  # fmt: skip
        self._cues.targets[cue, 0], self._cues.targets[cue, 1] = near.target, far.target
        self._cues.passed[cue] = passed

    # The loop.

    def start(self) -> None:
        """Let the loop run."""
        cues, there = self._cues, self._cues.there
        *columns, slot, take = there.columns
        arguments = (
            Control(self._clock, addresses(self._clock), self._told, *self._ring),
            Queue(cues.numbers, cues.passed, cues.targets, cues.rows),
            Copies(there.address, there.width, there.start, slot, take), SoundColumns(*columns),
            self._playing, self._desk, self.voices.echoes, self.settings.interpolation == "sinc8",
            self.settings.acoustics == "off", float(self.clips.rate),
        )  # fmt: skip
        self._thread = Thread(target=render_ahead, args=arguments, name="ecs_audio render", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the loop, fading within 6 ms, and give the engine its voices back. May be called twice."""
        if self._thread is None:
            return
        self._clock[ahead.STOP] = 1
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            raise RuntimeError(f"the render loop did not end within {PATIENCE} s")
        self._thread = None
        self.hear()
        give_back(self.sources, self._roster, self.voices)
        self.buses.follow(self.tuned)
        self.master.resume_at(self.mixed_frames)

    def _begin(self) -> None:
        """Take over what sounds, and put into the ring what the engine had ready but not given out."""
        frames, clock = self._ring
        self._takes = take_over(self.sources, self._roster)
        self.tuned.follow(self.buses)
        self._note(WAITING - 1, count=0, tick=0, now=0, frames=0, voices=0, passed=0.0)
        if not clock[WRITTEN]:  # time for the device, and for ticks
            clock[WRITTEN] = clock[READ] + self._clock[ahead.AHEAD] + self.pace.slack
        ready = self.master.left
        at = (int(clock[WRITTEN]) + np.arange(len(ready))) % len(frames)
        frames[at] = ready
        clock[WRITTEN] += len(ready)
        self._clock[ahead.MIXED] = self.master.mixed_frames

    def skip(self, now: int) -> None:
        """Before the loop runs: let no more silence come than LONGEST_GAP before what the next tick says."""
        gap = now - int(self._clock[ahead.MIXED])
        if gap > LONGEST_GAP * self.clips.rate:
            self._clock[ahead.MIXED] += gap // QUANTUM * QUANTUM
