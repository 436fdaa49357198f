"""Directions spread evenly over the sphere: a Fibonacci lattice with y as its pole."""

from __future__ import annotations

import math

import numpy as np

from ecs_audio.kernels.jit import Array, law

GOLDEN = 1.618033988749895


def _direction(i: int, n: int, turn: float) -> tuple[float, float, float]:
    """Unit vector i of n: latitude asin((2i+1)/n - 1), longitude 2 pi golden i + turn."""
    y = (2.0 * i + 1.0) / n - 1.0
    across = math.sqrt(1.0 - y * y)
    longitude = 2.0 * math.pi * GOLDEN * i + turn
    return across * math.cos(longitude), y, across * math.sin(longitude)


direction_of = law(_direction)


def fibonacci(n: int, turn: float = 0.0) -> Array:
    """Directions, float64 (n, 3), rotated about y by `turn` [radians]. For set-up, not for a tick."""
    # One by one through `math`: numpy's own sine differs in its last bits between processors.
    return np.array([_direction(i, n, turn) for i in range(n)], np.float64).reshape(n, 3)
