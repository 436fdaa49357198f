"""Small kernels against their naive twins: readers, limiter, heap."""

import heapq
import math

import numpy as np
import pytest
from conftest import RATE, play
from hypothesis import given, settings
from hypothesis import strategies as st

import ecs_audio as ea
from ecs_audio.components.master import Master
from ecs_audio.kernels.heap import heapify, pop
from ecs_audio.kernels.limiter import CEILING, limit
from ecs_audio.kernels.read import ONE, read_linear, read_sinc, sinc_table

TABLE, EDGE = sinc_table(), np.zeros(144, np.float32)


def banked(clip):
    return np.concatenate([np.zeros(16), clip, np.zeros(16)]).astype(np.float32)


@given(
    st.integers(1, 40), st.booleans(), st.floats(-20, 90), st.floats(0, 8), st.integers(0, 2**32)
)  # fmt: skip
@settings(max_examples=150)
def test_straight_line_reading_equals_interpolation_of_the_unrolled_clip(length, looping, start, speed, seed):
    clip = np.random.default_rng(seed).uniform(-1, 1, length).astype(np.float32)
    out = np.zeros(64, np.float32)
    position, step = math.floor(start * ONE), math.floor(speed * ONE)
    after = read_linear(banked(clip), 16, length, looping, 0, position, step, out, 0, 64)
    assert after == position + 64 * step
    places = (position + step * np.arange(64)) / ONE
    unrolled = np.concatenate(
        [np.zeros(64), np.resize(clip, 700) if looping else np.pad(clip, (0, 700 - length))]
    )
    expected = np.interp(places, np.arange(-64, 700), unrolled)
    assert out == pytest.approx(expected, abs=2e-6)


def test_a_whole_speed_reads_the_samples_themselves():
    clip = np.random.default_rng(0).uniform(-1, 1, 200).astype(np.float32)
    out = np.zeros(64, np.float32)
    read_linear(banked(clip), 16, 200, False, 0, 5 * ONE, 2 * ONE, out, 0, 64)
    assert out.tobytes() == clip[5:133:2].tobytes()


@pytest.mark.parametrize(("hertz", "snr"), [(1000, 80), (5000, 64), (10_000, 80), (15_000, 25)])
def test_the_sinc_reader_is_true_to_tones(hertz, snr):
    n = 4800
    clip = np.sin(2 * np.pi * hertz / RATE * np.arange(n)).astype(np.float32)
    out, speed = np.zeros(4096, np.float32), 0.9371
    start, step = 10 * ONE + 12345, math.floor(speed * ONE)
    position = start
    for k in range(0, 4096, 64):
        position = read_sinc(banked(clip), TABLE, EDGE, 16, n, False, 0, position, step, out, k, k + 64)
    expected = np.sin(2 * np.pi * hertz / RATE * (start + step * np.arange(4096)) / ONE)
    error = out - expected
    assert 10 * np.log10((expected @ expected) / (error @ error)) > snr


def test_the_sinc_reader_reads_a_clip_at_its_own_speed_to_the_bit():
    clip = np.random.default_rng(0).uniform(-1, 1, 200).astype(np.float32)
    out = np.zeros(64, np.float32)
    read_sinc(banked(clip), TABLE, EDGE, 16, 200, False, 0, 0, ONE, out, 0, 64)
    assert out.tobytes() == clip[:64].tobytes()


@given(st.integers(1, 60), st.floats(-20, 200), st.floats(0, 8), st.integers(0, 2**32))
@settings(max_examples=100)
def test_the_sinc_reader_crosses_a_loops_seam_as_if_it_were_unrolled(length, start, speed, seed):
    clip = np.random.default_rng(seed).uniform(-1, 1, length).astype(np.float32)
    unrolled = np.concatenate([np.resize(clip, 900)]).astype(np.float32)
    looped, straight = np.zeros(64, np.float32), np.zeros(64, np.float32)
    position, step = math.floor(start * ONE), math.floor(speed * ONE)
    read_sinc(banked(clip), TABLE, EDGE, 16, length, True, 0, position, step, looped, 0, 64)
    read_sinc(banked(unrolled), TABLE, EDGE, 16, 900, False, 0, position, step, straight, 0, 64)
    assert looped.tobytes() == straight.tobytes()


SPILL = 256


@given(st.integers(1, 1500), st.floats(-20, 4000), st.floats(0, 8), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=100)
def test_a_loop_over_a_copy_is_its_turns_added_up_where_they_overlap(length, start, speed, sinc, seed):
    copy = np.random.default_rng(seed).uniform(-1, 1, length + 2 * SPILL).astype(np.float32)
    wrapped = np.zeros(length)
    np.add.at(wrapped, np.arange(-SPILL, length + SPILL) % length, copy.astype(float))
    position, step = math.floor(start * ONE), math.floor(speed * ONE)
    heard, twin = np.zeros(64, np.float32), np.zeros(64, np.float32)
    base = 16 + SPILL
    for bank, at, spill, out in (
        (banked(copy), base, SPILL, heard),
        (banked(wrapped), 16, 0, twin),
    ):
        if sinc:
            after = read_sinc(bank, TABLE, EDGE, at, length, True, spill, position, step, out, 0, 64)
        else:
            after = read_linear(bank, at, length, True, spill, position, step, out, 0, 64)
        assert after == position + 64 * step
    assert heard == pytest.approx(twin, abs=1e-5 * max(1, np.abs(wrapped).max()))


def limited(x):
    m = Master()
    out, quanta = [], len(x) // 64
    for k in range(quanta + 1):
        m.mixed[:64] = x[64 * k : 64 * k + 64] if k < quanta else 0
        limit(1 / 9600, 1, m.mixed, m.delayed, m.needed, m.held, m.look_ahead, m.limiter, m.ready)
        out.append(m.ready[:64].copy())
    return np.concatenate(out[1:])


def test_the_limiter_changes_no_bit_below_its_ceiling():
    x = np.random.default_rng(0).uniform(-0.96, 0.96, (6400, 2)).astype(np.float32)
    assert limited(x).tobytes() == x.tobytes()


def test_what_touches_the_ceiling_is_left_alone_and_what_passes_it_by_a_bit_is_not():
    x = np.zeros((640, 2), np.float32)
    x[300] = CEILING, -CEILING
    assert limited(x).tobytes() == x.tobytes()
    x[300, 0] = np.nextafter(CEILING, np.float32(2))
    assert limited(x)[300, 0] <= CEILING
    assert pytest.approx(-0.3, abs=1e-6) == 20 * math.log10(CEILING)


@given(
    st.lists(st.tuples(st.integers(0, 9500), st.floats(1, 1e6)), min_size=1, max_size=6), st.integers(0, 99)
)
@settings(max_examples=20)
def test_whatever_peaks_came_a_second_later_every_bit_passes(peaks, seed):
    x = np.random.default_rng(seed).uniform(-0.9, 0.9, (64_000, 2)).astype(np.float32)
    for frame, size in peaks:
        x[frame, frame % 2] = size
    last = max(frame for frame, _ in peaks)
    y = limited(x)
    assert np.abs(y).max() <= CEILING
    assert y[last + RATE :].tobytes() == x[last + RATE :].tobytes()


ANY = st.one_of(
    st.floats(-2, 2, width=32),
    st.sampled_from([3e38, -3e38, 1e30, 1e-40, -0.0, 0.96605]),
    st.floats(width=32),
).filter(math.isfinite)


@given(st.lists(st.tuples(st.integers(1, 100), ANY, ANY), min_size=1, max_size=30))
@settings(max_examples=100)
def test_no_finite_input_passes_the_ceiling(steps):
    x = np.repeat([s[1:] for s in steps], [s[0] for s in steps], axis=0).astype(np.float32)
    x = np.concatenate([x, np.zeros((-len(x) % 64 + 64, 2), np.float32)])
    y = limited(x)
    assert np.isfinite(y).all()
    assert np.abs(y).max() <= CEILING


def test_the_limiter_is_a_wire_again_within_a_second_of_having_worked():
    x = np.random.default_rng(0).uniform(-0.9, 0.9, (96_000, 2)).astype(np.float32)
    x[1000:1400] *= 6
    y = limited(x)
    changed = np.flatnonzero((y != x).any(axis=1))
    assert changed[0] > 900
    assert changed[-1] < 1400 + RATE
    assert np.abs(y).max() <= CEILING


@given(st.integers(0, 2**32), st.floats(0.1, 50.0))
@settings(max_examples=40)
def test_nothing_passes_the_ceiling(seed, loud):
    x = (np.random.default_rng(seed).standard_normal((1280, 2)) * loud).astype(np.float32)
    assert np.abs(limited(x)).max() <= CEILING
    x[:] = 0
    x[700, 1] = np.float32(loud * 1e6)
    assert np.abs(limited(x)).max() <= CEILING


@given(st.lists(st.floats(-1e6, 1e6), max_size=80))
def test_the_heap_gives_out_in_the_order_of_heapq(keys):
    k, items = np.array([*keys, 0.0]), np.arange(len(keys) + 1, dtype=np.int32)
    heapify(k, items, len(keys))
    twin = [(key, n) for n, key in enumerate(keys)]
    heapq.heapify(twin)
    for left in range(len(keys), 0, -1):
        assert pop(k, items, left) == heapq.heappop(twin)[1]


def test_an_impulse_much_too_loud_is_limited_in_the_engine_and_reported(open_world):
    clips = ea.Clips()
    clips.add("loud", np.sin(np.arange(4800)))
    with ea.Engine(open_world, clips) as engine:
        engine.spawn("loud", volume=30.0, looping=True)
        heard = play(engine, 0.5)
        assert np.abs(heard).max() <= CEILING
        assert engine.telemetry.limiter_gain < 0.1
