"""Muffling: a second-order high shelf at 5 kHz, gliding without a click.

Robert Bristow-Johnson's Audio EQ Cookbook, high shelf with slope 1. gain_hf has the meaning of EFX
GAINHF: the gain at 5 kHz; far above it tends to gain_hf squared, at the bottom to 1.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.simd import WIDTH, load8, store8

CORNER = 5000.0
SILENT = np.float32(1e-20)


@law
def corner_of(rate: float) -> tuple[float, float]:
    """cos w and alpha of the corner at a rate [Hz]: what all shelves share."""
    w = 2.0 * math.pi * CORNER / rate
    return math.cos(w), math.sin(w) * math.sqrt(0.5)


@law
def shelf_coefficients(h: float, corner: tuple[float, float], out: Array, row: int) -> None:
    """b0, b1, b2, a1, a2 of the shelf with gain_hf = h squared; written to a row of out (n, 5).

    At h = 1 they are exactly those of a wire: b0 = 1, b1 = a1, b2 = a2.
    """
    cos, alpha = corner
    a = h * h
    plus, minus, slope = a + 1.0, a - 1.0, 2.0 * h * alpha
    scale = 1.0 / (plus - minus * cos + slope)
    out[row, 0] = a * (plus + minus * cos + slope) * scale
    out[row, 1] = -2.0 * a * (minus + plus * cos) * scale
    out[row, 2] = a * (plus + minus * cos - slope) * scale
    out[row, 3] = 2.0 * (minus - plus * cos) * scale
    out[row, 4] = (plus - minus * cos - slope) * scale


@law
def shelve8(x: Array, frames: int, rows: Array, c: int, step: int, memory: int) -> None:
    """Filter eight lanes in place; coefficients move by their step each frame.

    Transposed direct form II, which stays quiet while its coefficients move.
    x: (frames x 8,) float32. rows: (n x 8,); b0, b1, b2, a1, a2 from row c on, their steps from row
    `step` on, and two rows of memory, updated.
    """
    c, step, memory = WIDTH * c, WIDTH * step, WIDTH * memory
    b0, b1, b2 = load8(rows, c), load8(rows, c + 8), load8(rows, c + 16)
    a1, a2 = load8(rows, c + 24), load8(rows, c + 32)
    d0, d1, d2 = load8(rows, step), load8(rows, step + 8), load8(rows, step + 16)
    d3, d4 = load8(rows, step + 24), load8(rows, step + 32)
    s1, s2 = load8(rows, memory), load8(rows, memory + 8)
    for n in range(frames):
        b0, b1, b2, a1, a2 = b0 + d0, b1 + d1, b2 + d2, a1 + d3, a2 + d4
        u = load8(x, 8 * n)
        y = b0 * u + s1
        s1 = b1 * u - a1 * y + s2
        s2 = b2 * u - a2 * y
        store8(x, 8 * n, y)
    store8(rows, memory, s1)
    store8(rows, memory + 8, s2)
