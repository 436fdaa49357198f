"""Arrays that begin with a cache line, for kernels that take sixteen neighbours at a time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LINE = 64
"""Bytes of a cache line. Sixteen float32 that lie across two take twice as long."""


def aligned_zeros(*shape: int) -> NDArray[np.float32]:
    """Float32 zeros of this shape, from the beginning of a cache line."""
    count = math.prod(shape)
    room = np.zeros(count + LINE // 4, np.float32)
    start = -room.ctypes.data % LINE // 4
    return room[start : start + count].reshape(shape)


def aligned(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """A C-contiguous copy from the beginning of a cache line."""
    copy = aligned_zeros(*values.shape)
    copy[...] = values
    return copy
