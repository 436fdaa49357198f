"""Muffling: a second-order high shelf at 5 kHz.

Robert Bristow-Johnson's Audio EQ Cookbook, high shelf with slope 1. gain_hf has the meaning of EFX
GAINHF: the gain at 5 kHz; far above it tends to gain_hf squared, at the bottom to 1.
"""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import law

CORNER = 5000.0
HIGHEST = 0.45
SILENT = np.float32(1e-20)


@law
def corner_of(rate: float) -> tuple[float, float]:
    """cos w and alpha of the corner at a rate [Hz]: what all shelves share. It stays below half the rate."""
    w = 2.0 * math.pi * min(CORNER / rate, HIGHEST)
    return math.cos(w), math.sin(w) * math.sqrt(0.5)


@law
def shelf_coefficients(h: float, corner: tuple[float, float]) -> tuple[float, float, float, float, float]:
    """b0, b1, b2, a1, a2 of the shelf with gain_hf = h squared."""
    cos, alpha = corner
    a = h * h
    plus, minus, slope = a + 1.0, a - 1.0, 2.0 * h * alpha
    below = plus - minus * cos + slope
    return (
        a * (plus + minus * cos + slope) / below,
        -2.0 * a * (minus + plus * cos) / below,
        a * (plus + minus * cos - slope) / below,
        2.0 * (minus - plus * cos) / below,
        (plus - minus * cos - slope) / below,
    )
