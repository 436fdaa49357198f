"""What lies in the ring is given to the device: copied to the bit, and faded where it ends.

The reader of the ring is PortAudio's thread, which must wait for nothing: no lock, no Python where
`callback` is used. The last frames in the ring are a reserve, so that sound that nobody goes on writing
ends in a line to 0 instead of a click.
"""

from __future__ import annotations

from ctypes import c_ulong, sizeof
from functools import cache
from typing import Any

import numpy as np
from numba import carray, cfunc, config, types

from ecs_audio.kernels import jit
from ecs_audio.kernels.atomic import load_acquire, store_release
from ecs_audio.kernels.jit import F4_2, I8, I8_1, Array, kernel, law
from ecs_audio.kernels.pointers import floats_at, integers_at

# Places in the clock of a ring. The writer's and the reader's lie 64 bytes apart: a cache line for each.
WRITTEN = 0
"""Frames written so far. Set by the writer alone."""
READ = 8
"""Frames read so far, never beyond WRITTEN. Set by the reader alone, as are all up to BEGUN."""
CALLBACKS = 9
"""Calls of the reader so far."""
UNDERRUN_EVENTS = 10
"""Times that sound stopped since nothing was there."""
UNDERRUN_FRAMES = 11
"""Frames of silence given out because of that."""
FLAGGED = 12
"""Calls in which PortAudio said that its own buffer had run empty."""
STARVED = 13
"""1 while silent, or on the way to it, because nothing is there. 1 at the start, so the first sound rises."""
RISEN = 14
"""Frames of the fade-in done; they go down again while sound fades out."""
DELIVERED = 15
"""Frames given to the device, silence included."""
LATENCY_SUM, LATENCY_LOW, LATENCY_HIGH = 16, 17, 18
"""WRITTEN - READ at each call [frames]: sum, least and most."""
BEGUN = 19
"""1 once something was delivered. Silence before it is no underrun."""
MUTE = 24
"""Set by the supervisor: 1 = fade out and give silence from then on, reading nothing."""

PLACES = 64
"""Length of the clock."""

# Places in the numbers that PortAudio hands to `callback`.
CLOCK_ADDRESS, FRAMES_ADDRESS, FRAME_COUNT, FADE = 0, 1, 2, 3
NUMBERS = 4
"""How many these are."""

_OUTPUT_UNDERFLOW, _CONTINUE = 4, 0  # PortAudio's


@law
def note_latency(clock: Array, fill: int) -> None:
    """Count one call of the reader that found `fill` frames."""
    if clock[CALLBACKS] == 0 or fill < clock[LATENCY_LOW]:
        clock[LATENCY_LOW] = fill
    clock[LATENCY_HIGH] = max(clock[LATENCY_HIGH], fill)
    clock[LATENCY_SUM] += fill
    clock[CALLBACKS] += 1


@law
def deliver_frames(frames: Array, clock: Array, fade: int, out: Array) -> None:
    """Fill `out` from the ring, or with what is there, a fade and silence. See `deliver`."""
    asked, last = out.shape[0], frames.shape[0] - 1
    read = clock[READ]
    fill = load_acquire(clock, WRITTEN) - read
    note_latency(clock, fill)
    muted = clock[MUTE] != 0
    usable = 0 if muted else max(fill - fade, 0)
    sounding = usable if clock[STARVED] == 0 else 0
    if usable >= asked:
        sounding = asked

    risen, silent = clock[RISEN], 0
    for i in range(asked):
        if i < sounding:
            risen = min(risen + 1, fade)
        elif risen > 0:
            risen -= 1
        else:
            out[i, 0] = out[i, 1] = np.float32(0)
            silent += 1
            continue
        gain = np.float32(risen) / np.float32(fade)  # exactly 1 once risen: the bits stay as they are
        out[i, 0] = gain * frames[read & last, 0]
        out[i, 1] = gain * frames[read & last, 1]
        read += 1

    starved = 1 if sounding < asked else 0
    if not muted and clock[BEGUN] != 0:
        clock[UNDERRUN_EVENTS] += max(starved - clock[STARVED], 0)
        clock[UNDERRUN_FRAMES] += silent
    clock[STARVED], clock[RISEN] = starved, risen
    clock[BEGUN] |= 1 if sounding > 0 else 0
    clock[DELIVERED] += asked
    store_release(clock, READ, read)


@kernel(F4_2, I8_1, I8, F4_2)
def deliver(frames: Array, clock: Array, fade: int, out: Array) -> None:
    """Fill a block for the device from a ring, and count.

    frames: (n, 2) the ring, n a power of two; clock: (64,) its counts, see the places above; fade: frames of
    a fade and of the reserve; out: (m, 2). While the ring holds m frames beside the reserve, they are copied.
    Otherwise what is there is copied, the reserve fades in a line to exactly 0, and silence follows until m
    frames beside the reserve are there again, which rise in a line. A sample's gain never moves by more than
    1 / fade.
    """
    deliver_frames(frames, clock, fade, out)


def _callback(_input: Any, output: Any, count: int, _time: Any, flags: int, numbers: Any) -> int:
    out = carray(output, (np.int64(count), 2))
    clock = integers_at(numbers[CLOCK_ADDRESS], PLACES)
    if flags & _OUTPUT_UNDERFLOW:
        clock[FLAGGED] += 1
    frames = floats_at(numbers[FRAMES_ADDRESS], 2 * numbers[FRAME_COUNT]).reshape(numbers[FRAME_COUNT], 2)
    deliver_frames(frames, clock, numbers[FADE], out)
    return _CONTINUE


@cache
def callback() -> Any:
    """PortAudio's callback as machine code (`.address`), compiled or loaded at the first call.

    Its user data is the address of an int64 array: address of the clock, address of the frames, number of
    frames, fade. All must stay where they are while it runs. The address of another clock, which nobody
    writes to, may be put there at any time: then it gives silence and leaves the ring alone.
    """
    unsigned_long = getattr(types, f"uint{8 * sizeof(c_ulong)}")  # 32 bits on Windows
    before, config.CACHE_DIR = config.CACHE_DIR, str(jit.CACHE_DIR)
    try:
        return cfunc(
            types.int32(
                types.voidptr, types.CPointer(types.float32), unsigned_long,
                types.voidptr, unsigned_long, types.CPointer(types.int64),
            ),
            nopython=True, cache=jit.CACHED, error_model="numpy",
        )(_callback)  # fmt: skip
    finally:
        config.CACHE_DIR = before
