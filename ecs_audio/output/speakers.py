"""Speakers: an engine heard from a device while its host only ticks."""

from __future__ import annotations

import atexit
import time
from os import PathLike
from typing import Any, Protocol

from ecs_audio.output.files import check_ending
from ecs_audio.output.outlet import Outlet
from ecs_audio.output.recorder import Recorder
from ecs_audio.output.ring import CALLBACKS, READ, WRITTEN, Ring

AHEAD = 0.040
"""Rendered ahead of the device [s]."""
SHORTEST, LONGEST = 0.005, 0.5
"""What may be asked for [s]."""
MOST_BLOCK = 8192
"""Frames that a device may ask for at once, at most."""
BEGINNING = 1.0
"""So long a device may take to begin before `start` returns without it [s]."""
LAST = 0.1
"""Time beyond that for what lies in the ring to be heard before the device is closed [s]."""


class Speakers:
    """Live output of one engine.

    From `start` on, or within a `with` block, a loop of its own renders ahead of the device, in compiled
    code that no busy interpreter holds up; the host moves things and calls `engine.tick(dt)` in real time.
    Whatever becomes of the device, ticks go on: without one, sound goes nowhere, at the right pace, and one
    that is lost is opened again as soon as it is there.
    """

    def __init__(
        self,
        engine: _Engine,
        *,
        device: int | str | None = None,
        block: int = 512,
        ahead: float = AHEAD,
        record: str | PathLike[str] | None = None,
        callback: str = "auto",
        governed: bool = True,
    ) -> None:
        """Prepare speakers; nothing is opened yet.

        device: None for the system's default, a number or part of a name as `ecs-audio devices` lists them,
        or "silent" for none. block: frames that the device takes at once. ahead: rendered ahead of it [s]; a
        tick may be late by half of that. record: a sound file that gets all that is given out. callback:
        "compiled", "python", or "auto" for the first one that works. governed: whether the engine lowers its
        counts while this machine cannot keep up. Raises ValueError for a value that
        cannot be.
        """
        if not SHORTEST <= ahead <= LONGEST:
            raise ValueError(f"ahead must lie between {SHORTEST} and {LONGEST} s, not {ahead!r}")
        if not (isinstance(block, int) and 16 <= block <= MOST_BLOCK):
            raise ValueError(f"block must lie between 16 and {MOST_BLOCK} frames, not {block!r}")
        if record is not None:
            check_ending(record)
        self.engine, self._block = engine, block
        self._ring = Ring(engine.rate)
        self._outlet = Outlet(self._ring, device=device, block=block, callback=callback)
        self._ahead, self._governed = max(ahead, 2.0 * block / engine.rate), governed
        self._record = record
        self._recorder: Recorder | None = None
        self._open, self._started, self._last = False, False, dict[str, Any]()

    def start(self) -> None:
        """Open the device, or what takes its place, and let the loop run.

        Without PortAudio, a device or its support for the engine's rate there is one DeviceWarning, and it
        goes on silently. Raises RuntimeError if the engine has speakers, or these were started before.
        """
        if self._started:
            raise RuntimeError("these speakers were started before; make new ones")
        self.engine.warm_up()
        self.engine.go_live((self._ring.frames, self._ring.clock), self._ahead, self._governed)
        self._open = self._started = True
        atexit.register(self.close)  # a thread in compiled code must not outlive the interpreter
        try:
            if self._record is not None:
                self._recorder = Recorder(self._ring, self._record, int(self._ring.clock[WRITTEN]))
            self._outlet.open()
            self._await_device()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Fade out, and release the device; the engine can render blocks again. May be called twice.

        Raises OSError if the recording could not be written.
        """
        if not self._open:
            return
        self._open = False
        atexit.unregister(self.close)
        self._last = self._load()
        self.engine.leave_live()
        # What the device takes next has an end in it, and fades: nothing is missing by accident.
        clock, last = self._ring.clock, self._ring.fade + self._block
        end = time.monotonic() + self._ahead + LAST
        while clock[WRITTEN] - clock[READ] > last and time.monotonic() < end:
            time.sleep(0.005)
        self._outlet.close()
        if self._recorder is not None:
            self._recorder.close()

    def _await_device(self) -> None:
        """Return once the device takes frames: some begin late, and ticks would run ahead of it."""
        clock, end = self._ring.clock, time.monotonic() + BEGINNING
        while not clock[CALLBACKS] and time.monotonic() < end:
            time.sleep(0.001)

    @property
    def peaks(self) -> tuple[float, float]:
        """Largest amplitude left and right since the last look."""
        live = self.engine.live
        return (0.0, 0.0) if live is None else live.peaks()

    def status(self) -> dict[str, Any]:
        """How the output is doing.

        state: "playing", "silent", "lost" or "closed". device and host_api, route ("compiled" or "python"),
        or None; reason: why it is silent or lost, or "". rate [Hz], block_frames. With the Web Audio API's
        names: total_duration, underrun_events, underrun_duration, average_latency, minimum_latency,
        maximum_latency [s]. load and peak_load: time to render a block over its length. device_underruns:
        those that PortAudio tells of. losses: of the device. late_ticks: that came after their frame;
        skipped_ticks: that were too many at once. unrecorded_frames: for which a recording has silence, as
        its thread came too late. reports: what happened, in sentences.
        """
        return self._outlet.status() | (self._load() if self._open else self._last)

    def _load(self) -> dict[str, Any]:
        live = self.engine.live
        if live is None:
            return self._last
        return {
            "load": round(live.load, 4),
            "peak_load": round(live.peak_load, 4),
            "late_ticks": live.pace.late_ticks,
            "skipped_ticks": live.skipped_ticks,
            "unrecorded_frames": 0 if self._recorder is None else self._recorder.lost_frames,
        }

    def __enter__(self) -> Speakers:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Engine(Protocol):
    """What speakers need of an engine."""

    rate: int

    @property
    def live(self) -> Any: ...
    def warm_up(self) -> None: ...
    def go_live(self, ring: Any, seconds: float, governed: bool) -> None: ...
    def leave_live(self) -> None: ...
