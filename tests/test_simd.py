"""The vector type against numpy: every operation, lane by lane, to the bit."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecs_audio.kernels.simd import load8, splat8, store8, sum8, sums8, transpose8


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


@numba.njit
def summed_together(rows, out):
    r = rows
    store8(
        out, 0,
        sums8(
            load8(r, 0), load8(r, 8), load8(r, 16), load8(r, 24),
            load8(r, 32), load8(r, 40), load8(r, 48), load8(r, 56),
        ),
    )  # fmt: skip


@numba.njit
def transposed(a, start, stride, out, at):
    transpose8(a, start, stride, out, at)


EIGHT = arrays(np.float32, 8, elements=st.floats(-1e6, 1e6, width=32))


@given(EIGHT, EIGHT)
def test_arithmetic_is_numpys_to_the_bit(a, b):
    out = np.zeros(8, np.float32)
    for ours, theirs in ((added, a + b), (subtracted, a - b), (multiplied, a * b)):
        ours(a, b, out)
        assert out.tobytes() == theirs.tobytes()


@given(EIGHT)
def test_a_sum_is_taken_by_halves(a):
    halves = (a[:4] + a[4:]).astype(np.float32)
    halves = halves[:2] + halves[2:]
    assert summed(a, 0) == np.float32(halves[0] + halves[1])


@given(arrays(np.float32, (8, 8), elements=st.floats(-1e6, 1e6, width=32)))
def test_eight_sums_at_once_are_the_single_ones_to_the_bit(rows):
    out = np.zeros(8, np.float32)
    summed_together(rows, out)
    assert out.tolist() == [summed(row, 0) for row in rows]


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
