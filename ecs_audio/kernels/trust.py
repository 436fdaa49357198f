"""Whether what a host wrote can be."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import F8_1, I8, I8_1, Array, kernel


@kernel(I8, F8_1, F8_1, I8_1, I8_1, F8_1, F8_1, I8_1)
def keep_good(
    count: int,
    values: Array,
    good: Array,
    start: Array,
    width: Array,
    low: Array,
    high: Array,
    out: Array,
) -> int:
    """Note every row of every column that is finite and in range; returns how many are not so.

    A row of a column is taken whole or not at all.
    count: rows to look at. values, good: all columns one after another. start, width, low, high: of each
    column; the range includes its ends. out: (2,) column and row of the first that is not so.
    """
    bad = 0
    for column in range(width.shape[0]):
        w = width[column]
        for i in range(count):
            at = start[column] + i * w
            fine = True
            for k in range(at, at + w):
                fine = fine and np.isfinite(values[k]) and low[column] <= values[k] <= high[column]
            if fine:
                for k in range(at, at + w):
                    good[k] = values[k]
            else:
                if bad == 0:
                    out[0], out[1] = column, i
                bad += 1
    return bad
