"""Samples as whole numbers, as files store them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quantized(block: NDArray[np.float32], bits: int) -> NDArray[np.int32]:
    """round(x · 2^(bits − 1)), clipped to the range of `bits` (at most 24), shape of `block`.

    Halves go to the even number and there is no dither: the same samples give the same bytes. A reader
    that divides by 2^(bits − 1) gets x back within half a step, except x = 1, which becomes one step less.
    """
    full = np.float32(1 << (bits - 1))  # a power of two: the product is exact, and 24 bits fit a float32
    return np.asarray(np.clip(np.rint(block * full), -full, full - 1), dtype=np.int32)
