"""Muffling: a second-order high shelf at 5 kHz, gliding without a click.

Robert Bristow-Johnson's Audio EQ Cookbook, high shelf with slope 1. gain_hf has the meaning of EFX
GAINHF: the gain at 5 kHz; far above it tends to gain_hf squared, at the bottom to 1.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import Array, law

CORNER = 5000.0
SILENT = np.float32(1e-20)


@law
def shelf_coefficients(h: float, rate: float, out: Array) -> None:
    """b0, b1, b2, a1, a2 of the shelf with gain_hf = h squared; written to out (5,).

    At h = 1 they are exactly those of a wire: b0 = 1, b1 = a1, b2 = a2.
    """
    w = 2.0 * math.pi * CORNER / rate
    cos, alpha = math.cos(w), math.sin(w) * math.sqrt(0.5)
    a = h * h
    plus, minus, slope = a + 1.0, a - 1.0, 2.0 * h * alpha
    scale = plus - minus * cos + slope
    out[0] = a * (plus + minus * cos + slope) / scale
    out[1] = -2.0 * a * (minus + plus * cos) / scale
    out[2] = a * (plus + minus * cos - slope) / scale
    out[3] = 2.0 * (minus - plus * cos) / scale
    out[4] = (plus - minus * cos - slope) / scale


@law
def shelve(x: Array, coefficients: Array, target: Array, memory: Array) -> None:
    """Filter x in place; coefficients glide linearly to the target over its length.

    Transposed direct form II, which stays quiet while its coefficients move.
    x: (n,) float32. coefficients, target: (5,). memory: (2,). The last three are updated.
    """
    share = np.float32(1.0 / x.shape[0])
    b0, b1, b2, a1, a2 = coefficients[0], coefficients[1], coefficients[2], coefficients[3], coefficients[4]
    d0, d1, d2 = (target[0] - b0) * share, (target[1] - b1) * share, (target[2] - b2) * share
    d3, d4 = (target[3] - a1) * share, (target[4] - a2) * share
    s1, s2 = memory[0], memory[1]
    for n in range(x.shape[0]):
        b0, b1, b2, a1, a2 = b0 + d0, b1 + d1, b2 + d2, a1 + d3, a2 + d4
        u = x[n]
        y = b0 * u + s1
        s1 = b1 * u - a1 * y + s2
        s2 = b2 * u - a2 * y
        x[n] = y
    for k in range(5):
        coefficients[k] = target[k]
    memory[0] = s1 if abs(s1) > SILENT else np.float32(0.0)  # denormals would cost a hundredfold
    memory[1] = s2 if abs(s2) > SILENT else np.float32(0.0)
