"""A ring is drained into a device, whatever becomes of the device."""

from __future__ import annotations

import atexit
import threading
import time
import warnings
from typing import Any

from ecs_audio.output.devices import Device, DeviceError, DeviceWarning, find_device
from ecs_audio.output.errand import Errand
from ecs_audio.output.ring import (
    CALLBACKS,
    DELIVERED,
    FLAGGED,
    LATENCY_HIGH,
    LATENCY_LOW,
    LATENCY_SUM,
    MUTE,
    RISEN,
    STARVED,
    UNDERRUN_EVENTS,
    UNDERRUN_FRAMES,
    Ring,
)
from ecs_audio.output.silence import PERIOD, Silence
from ecs_audio.output.stream import Stream, open_stream

STANDSTILL = 0.4
"""A device that does not call for so long is lost [s]."""
BEGINNING, GOING = 3.0, 0.25
"""Until it has taken 0.25 s of sound it may stand still for 3 s: some servers first play what they hold."""
THREAD = "ecs_audio device"
"""Name of the threads that open and close."""
WATCH = 0.05
"""How often the keeper looks at a device that plays [s]."""
FIRST_RETRY, LAST_RETRY = 0.1, 1.0
"""After a loss a device is tried again in 0.1 s, then after twice as long each time, up to this [s]."""
OPENING, CLOSING = 5.0, 1.0
"""So long `open` and `close` wait for a device [s]. A sound server that hangs would keep them forever."""


class Outlet:
    """Where a ring's sound goes, always at the pace of real time.

    device: number, name or part of a name, None for the default, "silent" for none at all. block: frames of a
    callback. callback: see `open_stream`. state: "playing"; "silent", no device; "lost", the device is away
    and tried again; "closed". reports: one sentence for each loss.
    """

    def __init__(
        self, ring: Ring, *, device: int | str | None = None, block: int = 512, callback: str = "auto"
    ) -> None:
        self.ring, self.device, self.block, self.callback = ring, device, block, callback
        self.state, self.reason = "closed", ""
        self.reports: list[str] = []
        self.losses = 0
        self._stream: Stream | None = None
        self._known: Device | None = None
        self._retry, self._again = FIRST_RETRY, 0.0
        self._errand: Errand | None = None
        self._over = threading.Event()
        self._keeper: threading.Thread | None = None

    def open(self) -> None:
        """Begin to drain the ring. Without a device: one DeviceWarning, and on in silence."""
        if self.state != "closed":
            return
        self._over.clear()
        self.ring.clock[MUTE] = 0
        self._rise()
        self.reason, self._known, trouble = "", None, None
        self.state = "silent"
        if self.device != "silent":
            self._errand = Errand(self._open_device, THREAD)
            try:
                self._play(self._errand.wait(OPENING))
                self._errand = None
            except DeviceError as error:
                trouble, self._errand = str(error), None
            except TimeoutError:
                trouble, self.state = f"{self._name()} has not opened within {OPENING:.0f} s", "lost"
        self._keeper = threading.Thread(target=self._keep, name="ecs_audio outlet", daemon=True)
        self._keeper.start()
        atexit.register(self.close)
        if trouble is not None:
            self.reason = f"{trouble}. Sound goes on unheard."
            warnings.warn(self.reason, DeviceWarning, stacklevel=2)

    def close(self) -> None:
        """Fade out and give the device back. One that does not answer is left behind, and reported."""
        if self.state == "closed":
            return
        atexit.unregister(self.close)
        clock, stream = self.ring.clock, self._stream
        clock[MUTE] = 1
        if self.state == "playing" and stream is not None:
            until = time.perf_counter() + 0.05 + 2 * stream.block / self.ring.rate
            while clock[RISEN] > 0 and time.perf_counter() < until:
                time.sleep(0.001)
            time.sleep(min(stream.latency, 0.1))  # until the fade is heard
        self._over.set()
        if self._keeper is not None:
            self._keeper.join()
        self._give_back()
        self.state = "closed"

    def _give_back(self) -> None:
        """Close what is open or opening."""
        if self._stream is not None:
            self._stream.leave()
            self._errand, self._stream = Errand(self._stream.close, THREAD), None
        while self._errand is not None:
            errand, self._errand = self._errand, None
            try:
                late = errand.wait(CLOSING)
            except TimeoutError:
                errand.add_done_callback(_close_late)
                self.reports.append(
                    f"{self._name()} has not answered within {CLOSING:.0f} s and is left behind"
                )
            except Exception as error:  # it was away, and could not be opened again
                self.reason = str(error)
            else:
                if isinstance(late, Stream):
                    self._errand = Errand(late.close, THREAD)

    def status(self) -> dict[str, Any]:
        """What is played where, and how well; durations and latencies in seconds.

        Named as in Web Audio's AudioPlaybackStats: total_duration is what was delivered, silence included;
        underrun_events are the times that sound stopped because nothing was rendered, underrun_duration for
        how long. A latency is from rendered to heard.
        """
        clock, rate, stream, device = self.ring.clock, self.ring.rate, self._stream, self._known
        own = 0.0 if stream is None else stream.latency
        return {
            "state": self.state,
            "device": None if device is None else device.name,
            "host_api": None if device is None else device.host_api,
            "route": None if stream is None else stream.route,
            "reason": self.reason,
            "rate": rate,
            "block_frames": self.block if stream is None else stream.block,
            "total_duration": float(clock[DELIVERED] / rate),
            "underrun_events": int(clock[UNDERRUN_EVENTS]),
            "underrun_duration": float(clock[UNDERRUN_FRAMES] / rate),
            "device_underruns": int(clock[FLAGGED]),
            "average_latency": float(clock[LATENCY_SUM] / max(clock[CALLBACKS], 1) / rate) + own,
            "minimum_latency": float(clock[LATENCY_LOW] / rate) + own,
            "maximum_latency": float(clock[LATENCY_HIGH] / rate) + own,
            "losses": self.losses,
            "reports": list(self.reports),
        }

    def _rise(self) -> None:
        """Let the next sound fade in. Only while nobody reads."""
        self.ring.clock[STARVED], self.ring.clock[RISEN] = 1, 0

    def _open_device(self) -> Stream:
        self._known = self._known or find_device(self.device)
        return open_stream(self.ring, self._known, block=self.block, callback=self.callback)

    def _name(self) -> str:
        return "the device" if self._known is None else f"{self._known.name} ({self._known.host_api})"

    def _play(self, stream: Stream) -> None:
        self._rise()
        self._stream, self.state, self.reason = stream, "playing", ""
        self._before = int(self.ring.clock[DELIVERED])
        stream.attach()

    # The keeper's thread: nobody else changes the state between `open` and `close`.

    def _keep(self) -> None:
        before, calls, moved = time.perf_counter(), -1, time.perf_counter()
        silence = Silence(self.ring, before)
        while not self._over.wait(WATCH if self.state == "playing" else PERIOD):
            now = time.perf_counter()
            if self.state == "playing":
                if calls != (calls := int(self.ring.clock[CALLBACKS])) or now - before > STANDSTILL / 2:
                    moved = now  # it has called, or this whole process stood still
                if (trouble := self._trouble(now, moved)) is not None:
                    self._lose(trouble, now)
                    silence = Silence(self.ring, now)
            else:
                silence.read(now)
                if self.state == "lost":
                    self._come_back(now)
                    moved = now
            before = now

    def _trouble(self, now: float, moved: float) -> str | None:
        """What is wrong with the device, if anything."""
        assert self._stream is not None
        try:
            if not self._stream.active:
                return "it stopped"
        except Exception as error:
            return str(error)
        limit = max(STANDSTILL, 4 * self.block / self.ring.rate)
        if self.ring.clock[DELIVERED] - self._before < GOING * self.ring.rate:
            limit = max(limit, BEGINNING)
        return f"it has not called for {limit:.1f} s" if now - moved > limit else None

    def _lose(self, trouble: str, now: float) -> None:
        assert self._stream is not None
        stream, self._stream = self._stream, None
        stream.leave()
        self._rise()
        self._errand = Errand(stream.close, THREAD)
        self._retry, self._again = FIRST_RETRY, now + FIRST_RETRY
        self.losses += 1
        self.state = "lost"
        self.reason = f"{self._name()} is lost: {trouble}; it is tried again until it is back"
        self.reports.append(self.reason)

    def _come_back(self, now: float) -> None:
        """One step towards playing again: see what the thread aside has brought, or send it again."""
        if self._errand is None:
            if now >= self._again:
                self._errand = Errand(self._open_device, THREAD)
        elif self._errand.done():
            errand, self._errand = self._errand, None
            if errand.exception() is not None:
                self._again, self._retry = now + self._retry, min(2 * self._retry, LAST_RETRY)
            elif isinstance(errand.result(), Stream):
                self._play(errand.result())


def _close_late(errand: Any) -> None:
    """Close a device that has opened when nobody waits for it any more."""
    if errand.exception() is None and isinstance(errand.result(), Stream):
        errand.result().close()
