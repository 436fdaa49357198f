"""The render loop: quanta are mixed ahead of the device, and cues taken at their frames, without Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from ecs_audio.kernels.atomic import load_acquire, store_release
from ecs_audio.kernels.block import CALLS, DESK, Desk, mix_next
from ecs_audio.kernels.columns import SOUND_COLUMNS, BusColumns, SoundColumns
from ecs_audio.kernels.cue import PLAYING, Playing, copy_rows, recall, retain
from ecs_audio.kernels.deliver import READ, WRITTEN
from ecs_audio.kernels.hadamard import AWAKE, CLOSES, CLOSING, WANTED
from ecs_audio.kernels.jit import (
    F4_1,
    F4_2,
    F4_3,
    F8,
    F8_1,
    I4_1,
    I8,
    I8_1,
    I8_2,
    U1,
    U1_2,
    Array,
    kernel,
    law,
)
from ecs_audio.kernels.mix import FADE_SECONDS
from ecs_audio.kernels.pointers import caller_of, clock_by, floats_at, integers_at, sleep_by
from ecs_audio.kernels.steer import steer
from ecs_audio.kernels.strip import QUANTUM

# Places in the loop's clock: first what the host sets, in a cache line of its own what the loop does.
STOP, PUBLISHED, AHEAD = 0, 1, 2
"""1 to fade out and end; cues so far; frames to be kept in the ring."""
TAKEN, MIXED, LOAD, PEAK_LOAD = 8, 9, 10, 11
"""Cues taken and frames mixed so far; time spent in time rendered [millionths], eased, and the most in a
window since it was last set to 0."""
SECONDS, NANOSECONDS = 16, 17
"""What the system's clock writes."""
PLACES = 24

# Places among the addresses it calls, behind those of the mix.
STEER, SLEEP, NAP, CLOCK, WHICH, NOW = range(CALLS, CALLS + 6)
"""Of a kernel; of a C function that sleeps, and how long between two looks at a full ring; of one that
tells the time, of which clock, and where to."""

# Places among a cue's numbers.
COUNT, TICK, VOICES, FRAME, FRAMES, CLOSINGS, NEAR_DELAY, FAR_DELAY = range(8)
"""Rows; tick; voices allowed; frame of the tick, and frames until the next; how often reverbs were to close
so far; their pre-delays [frames]."""
BANK, OFFSET, STRIDE, LENGTH, SIDE = 8, 10, 12, 14, 16
"""Of each array of `Clips` the address; behind it the length."""
NUMBERS = 18

LOWEST_GAIN, LEFT_PEAK, RIGHT_PEAK = range(3)
"""Places among the levels it tells."""

WINDOW = 512
"""Frames over which the load is taken."""
EASED = 0.04
"""Share that a new load has in the eased one: 0.25 s."""

_steer = caller_of(types.none, steer)


class Control(NamedTuple):
    """What the loop shares with the host and with the reader of the ring."""

    clock: Array
    calls: Array
    told: Array
    ring: Array
    """(n, 2), n a power of two."""
    ring_clock: Array


class Queue(NamedTuple):
    """Cues that wait for their frames: the host writes one, then counts it."""

    numbers: Array
    """(cues, NUMBERS)."""
    passed: Array
    """(cues,) since the tick before [s]."""
    targets: Array
    """(cues, 2, coefficients) of the near and the far reverb."""
    rows: Array
    """(cues, bytes) columns of the sources."""


class Copies(NamedTuple):
    """Where the loop's own columns of the sources lie, as in `publish`, and two of them."""

    address: Array
    width: Array
    start: Array
    slot: Array
    take: Array


CONTROL = types.NamedTuple((I8_1, I8_1, F4_1, F4_2, I8_1), Control)
QUEUE = types.NamedTuple((I8_2, F8_1, F4_3, U1_2), Queue)
COPIES = types.NamedTuple((I8_1, I8_1, I8_1, I4_1, I8_1), Copies)


@law
def due_at(frame: int) -> int:
    """The quantum a tick acts from: where a host that renders block by block has mixed to by then."""
    return 0 if frame <= 0 else (frame + QUANTUM - 1) // QUANTUM * QUANTUM + QUANTUM


@law
def time_of(clock: Array, calls: Array) -> int:
    """The system's steady clock [ns]."""
    if calls[CLOCK]:  # not every system has one that is called like this
        clock_by(calls[CLOCK], calls[WHICH], calls[NOW])
    return clock[SECONDS] * 1_000_000_000 + clock[NANOSECONDS]


@law
def tune(bus: BusColumns, targets: Array, delay: int, closing: bool) -> None:
    """Let a reverb head for other coefficients, and for silence if it is to close."""
    for k in range(targets.shape[0]):
        bus.target[k] = targets[k]
    bus.clock[WANTED] = delay
    if closing and bus.clock[AWAKE] and not bus.clock[CLOSING]:
        bus.clock[CLOSING] = bus.clock[CLOSES]


@law
def measure(clock: Array, busy: int, frames: int, rate: float) -> tuple[int, int]:
    """At the end of a window the load is known, and a new one begins. busy: time spent in it [ns]."""
    if frames < WINDOW:
        return busy, frames
    load = np.int64(busy * 1e-3 * rate / frames)
    clock[LOAD] += np.int64(EASED * (load - clock[LOAD]))
    clock[PEAK_LOAD] = max(clock[PEAK_LOAD], load)
    return 0, 0


@law
def give_out(ready: Array, ring: Array, at: int, ending: bool, left: int, fade: int, told: Array) -> None:
    """Put a quantum into the ring; if it is ending, with `left` of `fade` frames until silence."""
    last = ring.shape[0] - 1
    for n in range(QUANTUM):
        gain = np.float32(left - n) / np.float32(fade) if ending else np.float32(1.0)
        for ear in range(2):
            sample = ready[n, ear] * gain
            ring[(at + n) & last, ear] = sample
            told[LEFT_PEAK + ear] = max(told[LEFT_PEAK + ear], abs(sample))


@kernel(CONTROL, QUEUE, COPIES, SOUND_COLUMNS, PLAYING, DESK, I8, U1, U1, F8)
def render_ahead(
    control: Control,
    queue: Queue,
    copies: Copies,
    s: SoundColumns,
    playing: Playing,
    desk: Desk,
    echoes: int,
    sinc: int,
    off: int,
    rate: float,
) -> None:
    """Mix into the ring until STOP, always AHEAD frames before the reader, then fade out in 5 ms.

    s: columns for the cue in hand. playing: by slot. desk: voices, reverbs and master. echoes: the first lane
    for echoes. sinc: see `mix_quanta`. off: 1 with acoustics off. rate: [Hz].

    A cue is taken at the very quantum at which the tick would have acted had the host rendered block by
    block, or at the next one if that is over: so what is heard is what would be rendered offline. The loop
    waits for nobody, and calls the large kernels by address.
    """
    clock, calls, told, ring, ring_clock = control
    _, v, near, far, m = desk
    fade = (np.int64(FADE_SECONDS * rate) + QUANTUM - 1) // QUANTUM * QUANTUM
    left, taken, mixed, busy, frames = fade, clock[TAKEN], clock[MIXED], 0, 0
    ramp_end = mixed
    numbers = queue.numbers[queue.passed.shape[0] - 1]  # what holds before the first cue
    closings, samples, clips = numbers[CLOSINGS], numbers[BANK + 1], numbers[OFFSET + 1]
    bank, offset, stride, length = numbers[BANK], numbers[OFFSET], numbers[STRIDE], numbers[LENGTH]
    while left > 0:
        written = ring_clock[WRITTEN]
        ending = load_acquire(clock, STOP) != 0
        if not ending and written - load_acquire(ring_clock, READ) + QUANTUM > clock[AHEAD]:
            sleep_by(calls[SLEEP], calls[NAP])
            continue
        begun = time_of(clock, calls)
        while taken < load_acquire(clock, PUBLISHED):
            cue = taken % queue.passed.shape[0]
            numbers = queue.numbers[cue]
            if due_at(numbers[FRAME]) > mixed:
                break
            count = numbers[COUNT]
            copy_rows(count, copies.address, copies.width, queue.rows[cue].ctypes.data, copies.start, True)
            recall(count, s, copies.slot, copies.take, playing, v)
            bank, samples, clips = numbers[BANK], numbers[BANK + 1], numbers[OFFSET + 1]
            offset, stride, length = numbers[OFFSET], numbers[STRIDE], numbers[LENGTH]
            ramp_end = max(numbers[FRAME] + numbers[FRAMES] + 2 * QUANTUM, mixed + QUANTUM)
            _steer(
                calls[STEER], s, v, count, numbers[TICK], numbers[VOICES], echoes, off, queue.passed[cue],
                numbers[FRAME], mixed, ramp_end, rate, integers_at(length, clips),
                integers_at(numbers[SIDE], clips),
            )  # fmt: skip
            retain(count, s, copies.slot, playing)
            tune(near, queue.targets[cue, 0], numbers[NEAR_DELAY], numbers[CLOSINGS] != closings)
            tune(far, queue.targets[cue, 1], numbers[FAR_DELAY], numbers[CLOSINGS] != closings)
            closings = numbers[CLOSINGS]
            told[LOWEST_GAIN], m.limiter[1] = m.limiter[1], np.float32(1.0)
            taken += 1
            store_release(clock, TAKEN, taken)
        mix_next(
            calls, floats_at(bank, samples), integers_at(offset, clips), integers_at(stride, clips),
            integers_at(length, clips), sinc, desk, ramp_end - mixed, 1, rate,
        )  # fmt: skip
        if mixed > 0:  # the limiter gives out the quantum before, and before the first there is none
            give_out(m.ready, ring, written, ending, left, fade, told)
            store_release(ring_clock, WRITTEN, written + QUANTUM)
        mixed += QUANTUM
        left -= QUANTUM if ending else 0
        store_release(clock, MIXED, mixed)
        busy, frames = measure(clock, busy + time_of(clock, calls) - begun, frames + QUANTUM, rate)
