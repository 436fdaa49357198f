"""Small kernels against their naive twins: readers, shelf, limiter, heap, easing."""

import heapq
import math

import naive
import numpy as np
import pytest
from conftest import RATE, play
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

import ecs_audio as ea
from ecs_audio.components.master import Master
from ecs_audio.kernels.heap import heapify, pop
from ecs_audio.kernels.limiter import CEILING, limit
from ecs_audio.kernels.read import ONE, read_linear, read_sinc, sinc_table
from ecs_audio.kernels.shelf import corner_of, shelf_coefficients, shelve8

TABLE, EDGE = sinc_table(), np.zeros(8, np.float32)


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
    after = read_linear(banked(clip), 16, length, looping, position, step, out, 0, 64)
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
    read_linear(banked(clip), 16, 200, False, 5 * ONE, 2 * ONE, out, 0, 64)
    assert out.tobytes() == clip[5:133:2].tobytes()


@pytest.mark.parametrize(("hertz", "snr"), [(1000, 80), (5000, 64), (10_000, 80), (15_000, 25)])
def test_the_sinc_reader_is_true_to_tones(hertz, snr):
    n = 4800
    clip = np.sin(2 * np.pi * hertz / RATE * np.arange(n)).astype(np.float32)
    out, speed = np.zeros(4096, np.float32), 0.9371
    start, step = 10 * ONE + 12345, math.floor(speed * ONE)
    position = start
    for k in range(0, 4096, 64):
        position = read_sinc(banked(clip), TABLE, EDGE, 16, n, False, position, step, out, k, k + 64)
    expected = np.sin(2 * np.pi * hertz / RATE * (start + step * np.arange(4096)) / ONE)
    error = out - expected
    assert 10 * np.log10((expected @ expected) / (error @ error)) > snr


def test_the_sinc_reader_reads_a_clip_at_its_own_speed_to_the_bit():
    clip = np.random.default_rng(0).uniform(-1, 1, 200).astype(np.float32)
    out = np.zeros(64, np.float32)
    read_sinc(banked(clip), TABLE, EDGE, 16, 200, False, 0, ONE, out, 0, 64)
    assert out.tobytes() == clip[:64].tobytes()


@given(st.integers(1, 60), st.floats(-20, 200), st.floats(0, 8), st.integers(0, 2**32))
@settings(max_examples=100)
def test_the_sinc_reader_crosses_a_loops_seam_as_if_it_were_unrolled(length, start, speed, seed):
    clip = np.random.default_rng(seed).uniform(-1, 1, length).astype(np.float32)
    unrolled = np.concatenate([np.resize(clip, 900)]).astype(np.float32)
    looped, straight = np.zeros(64, np.float32), np.zeros(64, np.float32)
    position, step = math.floor(start * ONE), math.floor(speed * ONE)
    read_sinc(banked(clip), TABLE, EDGE, 16, length, True, position, step, looped, 0, 64)
    read_sinc(banked(unrolled), TABLE, EDGE, 16, 900, False, position, step, straight, 0, 64)
    assert looped.tobytes() == straight.tobytes()


SHELF = {
    0.741: [0, 0, 0, 0, -0.1, -1.5, -2.6, -4.6, -5.1],
    0.472: [0, 0, 0, 0, -0.4, -4.0, -6.5, -11.3, -12.8],
    0.223: [0, 0, 0, -0.1, -1.6, -9.4, -13.0, -20.8, -25.0],
    0.0498: [0, 0, -0.1, -1.9, -10.1, -22.0, -26.1, -35.2, -44.1],
    0.00248: [-0.2, -2.7, -11.8, -23.6, -35.7, -48.0, -52.1, -61.3, -70.9],
}


@pytest.mark.parametrize("gain_hf", SHELF)
def test_the_shelf_has_the_response_of_the_table_and_of_the_cookbook(gain_hf):
    c = coefficients(math.sqrt(gain_hf))
    hertz = [125, 250, 500, 1000, 2000, 4000, 5000, 8000, 12_000]
    _, h = signal.freqz(c[:3].astype(float), np.r_[1, c[3:].astype(float)], worN=hertz, fs=RATE)
    assert 20 * np.log10(np.abs(h)) == pytest.approx(SHELF[gain_hf], abs=0.5)
    assert 20 * np.log10(np.abs(h)) == pytest.approx([naive.shelf_db(gain_hf, f) for f in hertz], abs=0.05)


def coefficients(h):
    out = np.zeros((3, 5), np.float32)
    shelf_coefficients(h, corner_of(float(RATE)), out, 1)
    assert not out[::2].any()
    return out[1]


def shelve(x, c, target, memory):
    """Filter x in the fourth of eight lanes while the others do something else."""
    lanes = np.random.default_rng(0).uniform(-1, 1, (len(x), 8)).astype(np.float32)
    rows = np.zeros((12, 8), np.float32)
    lanes[:, 3] = x
    rows[:5, 3], rows[5:10, 3], rows[10:, 3] = c, (target - c) / np.float32(len(x)), memory
    flat, state = lanes.reshape(-1), rows.reshape(-1)
    shelve8(flat, len(x), state, 0, 5, 10)
    x[:], c[:], memory[:] = lanes[:, 3], target, rows[10:, 3]


def test_an_open_shelf_is_a_wire_to_the_bit():
    c, memory = coefficients(1.0), np.zeros(2, np.float32)
    x = np.random.default_rng(1).uniform(-1, 1, 64).astype(np.float32)
    y = x.copy()
    shelve(y, c, c.copy(), memory)
    assert y.tobytes() == x.tobytes()


def test_a_settled_shelf_filters_as_scipy_does():
    c, memory = coefficients(math.sqrt(0.0498)), np.zeros(2, np.float32)
    x = np.random.default_rng(1).uniform(-1, 1, 6400).astype(np.float32)
    y = x.copy()
    for k in range(0, 6400, 64):
        shelve(y[k : k + 64], c, c.copy(), memory)
    expected = signal.lfilter(c[:3].astype(float), np.r_[1, c[3:].astype(float)], x.astype(float))
    assert y == pytest.approx(expected, abs=1e-5)


def test_a_shelf_whose_eased_target_flips_every_quantum_stays_within_its_input():
    c, memory = coefficients(1.0), np.zeros(2, np.float32)
    x = np.sin(2 * np.pi * 1000 / RATE * np.arange(9600)).astype(np.float32)
    peak, h = 0.0, 1.0
    for k in range(0, 9600, 64):
        h += ((math.sqrt(0.001) if k // 64 % 2 else 1.0) - h) * (1 - math.exp(-64 / RATE / 0.05))
        part = x[k : k + 64].copy()
        shelve(part, c, coefficients(h), memory)
        peak = max(peak, float(np.abs(part).max()))
    assert peak <= 1.001


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
