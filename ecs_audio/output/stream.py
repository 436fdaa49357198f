"""An open device that reads a ring."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.kernels import jit
from ecs_audio.kernels.deliver import (
    CLOCK_ADDRESS,
    FADE,
    FRAME_COUNT,
    FRAMES_ADDRESS,
    NUMBERS,
    deliver,
)
from ecs_audio.kernels.deliver import callback as machine_callback
from ecs_audio.output.devices import Device, DeviceError, portaudio, quiet
from ecs_audio.output.ring import FLAGGED, STARVED, Ring

_OPEN: set[Stream] = set()
"""Keeps what PortAudio's thread reads in memory, whoever forgets to close."""

_TURN = threading.Lock()
"""PortAudio must not be entered by two threads at once."""


class Stream:
    """A device that plays: silence at first, and a ring from `attach` until `leave`.

    route: "compiled", where no Python is between ring and device, or "python". latency: from the callback
    to the ear [s].
    """

    def __init__(self, ring: Ring, device: Device) -> None:
        self.ring, self.device = ring, device
        self.route, self.latency, self.block = "", 0.0, 0
        self.native: Any = None
        self.idle = np.zeros_like(ring.clock)  # the clock of a ring that nobody writes to
        self.idle[STARVED] = 1
        self.clock = self.idle
        self.numbers = np.zeros(NUMBERS, np.int64)
        self.numbers[FRAMES_ADDRESS] = ring.frames.ctypes.data
        self.numbers[FRAME_COUNT], self.numbers[FADE] = len(ring.frames), ring.fade
        self._read_by(self.idle)

    def _read_by(self, clock: NDArray[np.int64]) -> None:
        self.clock = clock
        self.numbers[CLOCK_ADDRESS] = clock.ctypes.data

    def attach(self) -> None:
        """Read the ring from now on."""
        self._read_by(self.ring.clock)

    def leave(self) -> None:
        """Give silence from now on. The ring is another's to read."""
        self._read_by(self.idle)

    @property
    def active(self) -> bool:
        """Whether PortAudio still calls, as far as it says."""
        return bool(self.native.active)

    def close(self) -> None:
        """Give the device back. Hangs for as long as a sound server does."""
        self.leave()
        with _TURN:
            self.native.close()  # no abort first: a stream that hangs there would hang the process's end too
        _OPEN.discard(self)

    def call(self, out: Any, frames: int, time: Any, status: Any) -> None:
        """What PortAudio calls on the way through Python."""
        clock = self.clock
        clock[FLAGGED] += bool(status.output_underflow)
        deliver(self.ring.frames, clock, self.ring.fade, out)


def open_stream(ring: Ring, device: Device, *, block: int = 512, callback: str = "auto") -> Stream:
    """Open a device in stereo at the ring's rate and let it run, in silence until `attach`.

    block: frames of a callback, 0 to leave it to the device. callback: "compiled" needs what sounddevice
    keeps to itself, "python" never uses it, "auto" uses it where it is as expected. Raises DeviceError in a
    sentence. Hangs for as long as a sound server does.
    """
    if callback not in ("auto", "compiled", "python"):
        raise ValueError(f"callback is {callback!r}: take 'auto', 'compiled' or 'python'")
    if device.channels < 2:
        raise DeviceError(f"{device.name} ({device.host_api}) has one channel, and sound has two")
    sd = portaudio()
    stream = Stream(ring, device)
    settings = {
        "samplerate": ring.rate, "blocksize": block, "device": device.index,
        "channels": 2, "dtype": "float32", "latency": "low",
    }  # fmt: skip
    _OPEN.add(stream)
    try:
        quiet()
        with _TURN:
            _open(sd, stream, settings, callback)
            stream.native.start()
    except sd.PortAudioError as error:
        if stream.native is not None:
            stream.native.close()
        _OPEN.discard(stream)
        why = str(error.args[0]).rpartition(": ")[2]
        raise DeviceError(
            f"{device.name} ({device.host_api}) does not open for two channels at {ring.rate} Hz: {why} "
            f"(its own rate is {device.rate:.0f} Hz)"
        ) from error
    except BaseException:
        _OPEN.discard(stream)
        raise
    stream.latency, stream.block = stream.native.latency, block
    return stream


def _open(sd: Any, stream: Stream, settings: dict[str, Any], route: str) -> None:
    if route != "python":
        try:
            stream.native, stream.route = _open_compiled(sd, stream, settings), "compiled"
            return
        except sd.PortAudioError:
            raise
        except Exception as error:  # sounddevice's inner workings are not what they were
            if route == "compiled":
                raise DeviceError(
                    f"sounddevice {sd.__version__} takes no compiled callback, use 'python': {error}"
                ) from error
    if deliver in jit.pending():
        jit.prepare(deliver)  # not inside the callback
    stream.native, stream.route = sd.OutputStream(callback=stream.call, **settings), "python"


def _open_compiled(sd: Any, stream: Stream, settings: dict[str, Any]) -> Any:
    pointer = sd._ffi.cast("PaStreamCallback *", machine_callback().address)
    numbers = sd._ffi.cast("void *", stream.numbers.ctypes.data)
    return sd._StreamBase(kind="output", wrap_callback=None, callback=pointer, userdata=numbers, **settings)
