"""From the ring to the device: the bits, the fades and the counts, against a naive twin."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecs_audio.kernels import deliver as machine
from ecs_audio.kernels.deliver import deliver
from ecs_audio.output.ring import (
    BEGUN,
    CALLBACKS,
    DELIVERED,
    FLAGGED,
    LATENCY_HIGH,
    LATENCY_LOW,
    LATENCY_SUM,
    MUTE,
    READ,
    RISEN,
    STARVED,
    UNDERRUN_EVENTS,
    UNDERRUN_FRAMES,
    WRITTEN,
    Ring,
)

RATE, SIZE = 8000, 256  # a fade of 36 frames
FADE = Ring(RATE, SIZE).fade


class Naive:
    """The same ring as a list and a few numbers, one frame at a time."""

    def __init__(self):
        self.waiting, self.gain, self.sounds, self.begun, self.mute = [], 0, False, False, False
        self.events = self.silence = self.given = self.read = 0
        self.fills = []

    def ask(self, count):
        self.fills.append(len(self.waiting))
        over = 0 if self.mute else max(len(self.waiting) - FADE, 0)
        if over >= count:
            self.sounds = True
        block, counts = [], self.begun and not self.mute
        for k in range(count):
            if self.sounds and k == over:
                self.sounds, self.events = False, self.events + counts
            if not self.sounds and self.gain == 0:
                block.append((0.0, 0.0))
                self.silence += counts
                continue
            self.begun |= self.sounds
            self.gain = min(self.gain + 1, FADE) if self.sounds else self.gain - 1
            level = np.float32(self.gain) / np.float32(FADE)
            block.append(tuple(level * x for x in self.waiting.pop(0)))
            self.read += 1
        self.given += count
        return np.array(block, np.float32).reshape(-1, 2)


def write(ring, block):
    """What the render loop does."""
    start = int(ring.clock[WRITTEN])
    ring.frames[np.arange(start, start + len(block)) & (len(ring.frames) - 1)] = block
    ring.clock[WRITTEN] = start + len(block)


def ask(ring, count):
    out = np.full((count, 2), np.nan, np.float32)
    deliver(ring.frames, ring.clock, ring.fade, out)
    return out


steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 200)),
        st.tuples(st.just("ask"), st.integers(1, 150)),
        st.tuples(st.just("mute"), st.booleans()),
    ),
    max_size=60,
)


@given(steps, st.integers(0, 2**32 - 1))
def test_any_writes_and_asks_give_the_naive_rings_bits_and_counts(steps, seed):
    ring, naive, random = Ring(RATE, SIZE), Naive(), np.random.default_rng(seed)
    for what, amount in steps:
        if what == "write":
            block = random.uniform(-1, 1, (min(amount, SIZE - len(naive.waiting)), 2)).astype(np.float32)
            write(ring, block)
            naive.waiting += [tuple(frame) for frame in block]
        elif what == "mute":
            ring.clock[MUTE] = naive.mute = amount
        else:
            np.testing.assert_array_equal(ask(ring, amount), naive.ask(amount))
    clock, fills = ring.clock, naive.fills
    assert [clock[READ], clock[DELIVERED], clock[CALLBACKS]] == [naive.read, naive.given, len(fills)]
    assert [clock[UNDERRUN_EVENTS], clock[UNDERRUN_FRAMES]] == [naive.events, naive.silence]
    assert [clock[RISEN], clock[STARVED], clock[BEGUN]] == [naive.gain, not naive.sounds, naive.begun]
    if fills:
        assert [clock[LATENCY_SUM], clock[LATENCY_LOW], clock[LATENCY_HIGH]] == [
            sum(fills),
            min(fills),
            max(fills),
        ]


@given(steps)
def test_a_constant_never_steps_by_more_than_the_fade_does(steps):
    ring, given_out = Ring(RATE, SIZE), [np.zeros((1, 2), np.float32)]
    for what, amount in steps:
        if what == "write":
            free = SIZE - int(ring.clock[WRITTEN] - ring.clock[READ])
            write(ring, np.ones((min(amount, free), 2), np.float32))
        elif what == "mute":
            ring.clock[MUTE] = amount
        else:
            given_out.append(ask(ring, amount))
    assert np.abs(np.diff(np.concatenate(given_out), axis=0)).max(initial=0) <= 1.0001 / FADE


@pytest.mark.parametrize("block", [16, 36, 100])
def test_sound_that_ends_fades_in_under_5_ms_to_exactly_nothing(block):
    ring = Ring(RATE, 1024)
    write(ring, np.ones((500, 2), np.float32))
    out = np.concatenate([ask(ring, block) for _ in range(1 + 600 // block)])[:, 0]
    full = np.flatnonzero(out == 1)
    end = np.flatnonzero(out)[-1] + 1
    assert full[0] == FADE - 1
    assert end - full[-1] - 1 == FADE - 1 < 0.005 * RATE
    assert end + 1 == ring.clock[READ] == 500  # the last frame was read, and given out as 0
    assert not out[end:].any()
    assert ring.clock[UNDERRUN_EVENTS] == 1
    assert ring.clock[UNDERRUN_FRAMES] == len(out) - 500


def test_muting_fades_and_reads_nothing_from_then_on():
    ring = Ring(48_000, 4096)
    write(ring, np.ones((2000, 2), np.float32))
    ask(ring, 512)
    ring.clock[MUTE] = 1
    out = np.concatenate([ask(ring, 64) for _ in range(8)])[:, 0]
    assert np.flatnonzero(out)[-1] < 0.005 * ring.rate
    assert ring.clock[READ] == 512 + ring.fade
    assert ring.clock[UNDERRUN_EVENTS] == ring.clock[UNDERRUN_FRAMES] == 0


def test_silence_before_the_first_sound_is_no_underrun():
    ring = Ring(48_000)
    for _ in range(10):
        ask(ring, 512)
    assert ring.clock[UNDERRUN_EVENTS] == ring.clock[UNDERRUN_FRAMES] == 0
    assert ring.clock[DELIVERED] == 5120


def test_a_ring_has_room_for_its_fades_and_a_power_of_two():
    for frames in (1000, 512):
        with pytest.raises(ValueError, match=f"a ring of {frames} frames: take a power of two of at least"):
            Ring(48_000, frames)


def test_the_compiled_callback_gives_the_same_bits_and_counts_and_leaves_the_ring_when_told():
    import ctypes

    signature = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong,
        ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p,
    )  # fmt: skip
    call = signature(machine.callback().address)
    ring, other = Ring(48_000, 2048), Ring(48_000, 2048)
    numbers = np.array([ring.clock.ctypes.data, ring.frames.ctypes.data, 2048, ring.fade], np.int64)
    for block in (700, 0, 900, 400):
        noise = np.random.default_rng(block).uniform(-1, 1, (block, 2)).astype(np.float32)
        write(ring, noise)
        write(other, noise)
        out = np.full((512, 2), np.nan, np.float32)
        assert call(None, out.ctypes.data, 512, None, 4, numbers.ctypes.data) == 0
        np.testing.assert_array_equal(out, ask(other, 512))
    other.clock[FLAGGED] = 4
    np.testing.assert_array_equal(ring.clock, other.clock)
    idle = np.zeros_like(ring.clock)
    numbers[machine.CLOCK_ADDRESS] = idle.ctypes.data
    assert call(None, out.ctypes.data, 512, None, 0, numbers.ctypes.data) == 0
    assert not out.any()
    np.testing.assert_array_equal(ring.clock, other.clock)


def test_a_writer_on_another_thread_loses_and_repeats_nothing():
    ring, total = Ring(48_000, 1024), 100_000
    sound = np.arange(2 * total, dtype=np.float32).reshape(-1, 2) + 1

    def writer():
        done = 0
        while done < total:
            free = 1024 - (done - int(ring.clock[READ]))
            write(ring, sound[done : done + max(free, 0)])
            done += max(min(free, total - done), 0)

    thread = threading.Thread(target=writer)
    thread.start()
    exact = 0
    while thread.is_alive():
        start, risen = int(ring.clock[READ]), ring.clock[RISEN]
        out = ask(ring, 64)
        if risen == ring.fade and not ring.clock[STARVED]:
            np.testing.assert_array_equal(out, sound[start : start + 64])
            exact += 64
    thread.join()
    assert exact > 0.2 * total
