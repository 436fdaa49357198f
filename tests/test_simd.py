"""The vector type against numpy: every operation, lane by lane, to the bit."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecs_audio.components.buses import Buses
from ecs_audio.components.master import Master
from ecs_audio.components.voices import Voices
from ecs_audio.kernels.read import ONE, sinc_table
from ecs_audio.kernels.simd import (
    by_turns,
    flush8,
    flush16,
    lerp8,
    lerp16,
    load8,
    load16,
    max8,
    max16,
    min8,
    min16,
    plan8,
    splat8,
    splat16,
    store8,
    store16,
    sum8,
    sum16,
    sums16,
    transpose8,
    transpose16,
    weigh8,
)
from ecs_audio.systems.mix import SINC


@numba.njit
def added(a, b, out):
    store8(out, 0, load8(a, 0) + load8(b, 0))


@numba.njit
def subtracted(a, b, out):
    store8(out, 0, load8(a, 0) - load8(b, 0))


@numba.njit
def multiplied(a, b, out):
    store8(out, 0, load8(a, 0) * load8(b, 0))


@numba.njit
def spread(x, out):
    store8(out, 3, splat8(x))


@numba.njit
def summed(a, at):
    return sum8(load8(a, at))


@numba.njit(error_model="numpy")
def divided(a, b, out):
    store8(out, 0, load8(a, 0) / load8(b, 0))


@numba.njit
def chosen(a, b, out):
    store8(out, 0, min8(load8(a, 0), load8(b, 0)))
    store8(out, 8, max8(load8(a, 0), load8(b, 0)))


@numba.njit
def flushed(a, least, out):
    store8(out, 0, flush8(load8(a, 0), splat8(least)))


@numba.njit
def lerped(a, position, speed, out):
    store8(out, 0, lerp8(a, position, speed))


@numba.njit
def transposed(a, start, stride, out, at):
    transpose8(a, start, stride, out, at)


TABLE = sinc_table()
BANK = np.random.Generator(np.random.PCG64(2)).uniform(-1, 1, 600).astype(np.float32)
SPEED = st.one_of(st.integers(0, 8 * ONE), st.sampled_from([0, 1, ONE - 1, ONE, ONE + 1, 8 * ONE]))
EIGHT = arrays(np.float32, 8, elements=st.floats(-1e6, 1e6, width=32))


@given(EIGHT, EIGHT)
def test_arithmetic_is_numpys_to_the_bit(a, b):
    out = np.zeros(8, np.float32)
    for ours, theirs in ((added, a + b), (subtracted, a - b), (multiplied, a * b)):
        ours(a, b, out)
        assert out.tobytes() == theirs.tobytes()
    with np.errstate(all="ignore"):
        ratio = a / b
    divided(a, b, out)
    assert np.array_equal(out, ratio, equal_nan=True)
    assert (np.signbit(out) == np.signbit(ratio))[~np.isnan(ratio)].all()


@given(EIGHT, EIGHT)
def test_the_smaller_and_the_larger_are_numpys(a, b):
    out = np.zeros(16, np.float32)
    b[3] = a[3]
    chosen(a, b, out)
    assert out.tolist() == np.concatenate([np.minimum(a, b), np.maximum(a, b)]).tolist()


@given(EIGHT, st.floats(0, 1e6, width=32))
def test_what_is_no_larger_than_a_size_is_flushed_to_exactly_nothing(a, least):
    a[:3] = 1e-40, -1e-40, least  # denormals, and the size itself
    out = np.ones(8, np.float32)
    flushed(a, np.float32(least), out)
    assert out.tobytes() == np.where(np.abs(a) > np.float32(least), a, np.float32(0)).tobytes()


@given(st.integers(0, 500 * ONE), SPEED)
def test_straight_lines_at_eight_places_are_numpys_to_the_bit(position, speed):
    position = min(position, 598 * ONE - 7 * speed)
    out = np.zeros(8, np.float32)
    lerped(BANK, position, speed, out)
    place = position + speed * np.arange(8)
    f = ((place >> 8) & 0xFFFFFF).astype(np.float32) * np.float32(2.0**-24)
    low, high = BANK[place >> 32], BANK[(place >> 32) + 1]
    assert out.tobytes() == (low + f * (high - low)).tobytes()


@given(EIGHT)
def test_a_sum_is_taken_by_halves(a):
    halves = (a[:4] + a[4:]).astype(np.float32)
    halves = halves[:2] + halves[2:]
    assert summed(a, 0) == np.float32(halves[0] + halves[1])


@given(st.integers(8, 20))
def test_a_transpose_is_numpys(stride):
    a = np.arange(8 * stride + 8, dtype=np.float32)
    out = np.zeros((9, 8), np.float32)
    transposed(a, 3, stride, out, 8)
    assert out[1:].tolist() == np.array([a[3 + stride * k : 11 + stride * k] for k in range(8)]).T.tolist()


def test_loads_and_stores_are_at_flat_places_and_need_no_alignment():
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    assert summed(a, 5) == sum(range(5, 13))
    out = np.zeros(16, np.float32)
    spread(np.float32(2.5), out)
    assert out.tolist() == [0] * 3 + [2.5] * 8 + [0] * 5


def test_a_vector_and_a_number_do_not_mix():
    @numba.njit
    def wrong(a):
        return load8(a, 0) + 1.0

    with pytest.raises(numba.TypingError):
        wrong(np.zeros(8, np.float32))


SIXTEEN = arrays(np.float32, 16, elements=st.floats(-1e6, 1e6, width=32))


@numba.njit(error_model="numpy")
def of_sixteen(a, b, least, out):
    x, y = load16(a, 0), load16(b, 0)
    store16(out, 0, x + y)
    store16(out, 16, x - y)
    store16(out, 32, x * y)
    store16(out, 48, min16(x, y))
    store16(out, 64, max16(x, y))
    store16(out, 80, flush16(x, splat16(least)))
    return sum16(x)


@given(SIXTEEN, SIXTEEN, st.floats(0, 1e6, width=32))
def test_sixteen_are_worked_on_as_eight_are(a, b, least):
    out = np.zeros((6, 16), np.float32)
    a[:2] = 1e-40, least
    least = np.float32(least)
    total = of_sixteen(a, b, least, out)
    flushed = np.where(np.abs(a) > least, a, np.float32(0))
    expected = [a + b, a - b, a * b, np.minimum(a, b), np.maximum(a, b), flushed]
    assert out.tolist() == np.array(expected).tolist()
    halves = a
    while len(halves) > 1:
        halves = halves[: len(halves) // 2] + halves[len(halves) // 2 :]
    assert total == halves[0]


@numba.njit
def transposed_wide(a, start, stride, out, at):
    transpose16(a, start, stride, out, at)


@given(st.integers(16, 70))
def test_a_wide_transpose_is_numpys(stride):
    a = np.arange(16 * stride + 16, dtype=np.float32)
    out = np.zeros((17, 16), np.float32)
    transposed_wide(a, 3, stride, out, 16)
    rows = [a[3 + stride * k : 19 + stride * k] for k in range(16)]
    assert out[1:].tolist() == np.array(rows).T.tolist()


@numba.njit
def lerped_wide(a, position, speed, out):
    store16(out, 0, lerp16(a, position, speed))


@given(st.integers(0, 500 * ONE), st.one_of(st.integers(0, 2 * ONE), st.sampled_from([0, 1, ONE, 2 * ONE])))
def test_straight_lines_at_sixteen_places_are_numpys_with_places_rounded_down(position, speed):
    out = np.zeros(16, np.float32)
    lerped_wide(BANK, position, speed, out)
    place = (position >> 5) + (speed >> 5) * np.arange(16)
    f = (place & 0x7FFFFFF).astype(np.float32) * np.float32(2.0**-27)
    low, high = BANK[place >> 27], BANK[(place >> 27) + 1]
    assert out.tobytes() == (low + f * (high - low)).tobytes()
    exact = position + speed * np.arange(16)
    line = BANK[exact >> 32] + (exact % ONE) / ONE * (
        BANK[(exact >> 32) + 1] - BANK[exact >> 32].astype(float)
    )
    assert np.abs(out - line).max() < 6e-7


@numba.njit
def planned(a, start, table, position, speed, plan, out):
    for n in range(0, 64, 8):
        plan8(position + speed * n, speed, plan, out, n)
    for n in range(0, 64, 8):
        store8(out, n, weigh8(a, start, table, plan, out, n))


@given(st.integers(-20 * ONE, 500 * ONE), SPEED)
def test_weighted_samples_at_planned_places_are_numpys_to_the_bit(position, speed):
    position = min(position, 560 * ONE - 63 * speed)
    out = np.zeros(64, np.float32)
    start = 25 + max(0, -20 - (position >> 32))
    bank = np.resize(BANK, 1200)
    planned(bank, start, TABLE, position, speed, np.zeros(128, np.float32), out)
    place = position + speed * np.arange(64)
    row = TABLE[(place & 0xFFFFFFFF) >> 25]
    f = (place & 0x1FFFFFF).astype(np.float32)[:, None] * np.float32(2.0**-25)
    products = bank[start + (place >> 32)[:, None] + np.arange(8)] * (row[:, :8] + f * row[:, 8:])
    while products.shape[1] > 1:  # halves on each other, as in sum8
        half = products.shape[1] // 2
        products = products[:, :half] + products[:, half:]
    assert out.tobytes() == products[:, 0].tobytes()


@numba.njit
def all_summed(a, start, stride, out):
    store8(out, 0, sums16(a, start, stride))
    for k in range(8):
        out[8 + k] = sum16(load16(a, start + stride * k))


@given(st.integers(16, 60), st.integers(0, 9))
def test_eight_sums_at_once_are_those_of_one_after_the_other_to_the_bit(stride, start):
    out = np.zeros(16, np.float32)
    all_summed(BANK, start, stride, out)
    assert out[:8].tobytes() == out[8:].tobytes()


@numba.njit
def alternated(a, b, out):
    store16(out, 0, by_turns(load8(a, 0), load8(b, 0)))


@given(EIGHT, EIGHT)
def test_two_ears_are_written_by_turns(a, b):
    out = np.zeros(16, np.float32)
    alternated(a, b, out)
    assert out.tolist() == np.stack([a, b], 1).ravel().tolist()


def test_what_kernels_take_sixteen_at_a_time_begins_with_a_cache_line():
    master, buses, voices = Master(), Buses(48_000), Voices(32, 48)
    arrays = {"signal": voices.signal, "weights": SINC}
    arrays |= {name: getattr(master, name) for name in ("steps", "lanes", "mono", "sums", "mixed", "sent")}
    for bus in buses.both:
        names = ("rings", "memory", "now", "target", "scratch")
        arrays |= {f"{name} of {bus.length[0]}": getattr(bus, name) for name in names}
    assert {name: array.ctypes.data % 64 for name, array in arrays.items()} == dict.fromkeys(arrays, 0)
