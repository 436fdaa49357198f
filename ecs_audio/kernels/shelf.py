"""Muffling: a second-order high shelf at 5 kHz.

Robert Bristow-Johnson's Audio EQ Cookbook, high shelf with slope 1. gain_hf has the meaning of EFX
GAINHF: the gain at 5 kHz; far above it tends to gain_hf squared, at the bottom to 1.
"""

from __future__ import annotations

import math
from typing import Any

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
def shelf_of(h: Any, cos: Any, alpha: Any, one: Any, two: Any) -> tuple[Any, Any, Any, Any, Any]:
    """b0, b1, b2, a1, a2 of the shelf with gain_hf = h squared; numbers of one type, or vectors.

    At h = 1 they are exactly those of a wire: b0 = 1, b1 = a1, b2 = a2.
    """
    a = h * h
    plus, minus = a + one, a - one
    tilt, slope, spread = minus * cos, h * (two * alpha), plus * cos
    below = (plus - tilt) + slope
    return (
        (a * ((plus + tilt) + slope)) / below,
        ((one - one) - (a * two) * (minus + spread)) / below,
        (a * ((plus + tilt) - slope)) / below,
        (two * (minus - spread)) / below,
        ((plus - tilt) - slope) / below,
    )


@law
def shelf_coefficients(h: float, corner: tuple[float, float]) -> tuple[float, float, float, float, float]:
    """The same as float64. corner: see `corner_of`."""
    return shelf_of(h, corner[0], corner[1], 1.0, 2.0)
