"""The listener: where the world is heard."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]

FARTHEST = 1e9
"""Positions beyond it are refused [m]."""


class Listener:
    """A position and an orientation, right-handed with y up."""

    def __init__(self) -> None:
        self.position = np.zeros(3)
        """World position [m]."""
        self.forward = np.array([0.0, 0.0, -1.0])
        """Unit vector ahead."""
        self.right = np.array([1.0, 0.0, 0.0])
        """Unit vector to the right ear."""
        self.moved = 0.0
        """Distance moved since the last tick [m]. Set by `propagate`."""
        self.before = np.full(3, np.nan)
        """Position at the last tick [m], NaN before the first. Set by `propagate`."""

        self._ear = np.zeros((3, 3))
        self._good = np.zeros((3, 3))

    def restore(self) -> bool:
        """Note the present pose if it can be, else put the last good one back; returns whether it could."""
        ear = self.ear()
        if ear.min() >= -FARTHEST and ear.max() <= FARTHEST:  # neither holds for a NaN
            self._good[:] = ear
            return True
        self.position, self.right, self.forward = self._good.copy()
        return False

    def ear(self) -> Vector:
        """Position [m], direction to the right and direction ahead in one array (3, 3)."""
        self._ear[0], self._ear[1], self._ear[2] = self.position, self.right, self.forward
        return self._ear

    def look(
        self,
        *,
        position: ArrayLike | None = None,
        forward: ArrayLike | None = None,
        up: ArrayLike = (0.0, 1.0, 0.0),
    ) -> None:
        """Place and turn the listener; what is not given stays.

        `forward` and `up` need no particular length. Where they are parallel or one is zero, the
        right ear keeps its direction as far as it can. Raises ValueError for anything not finite,
        and then changes nothing.
        """
        where = self.position if position is None else _vector("position", position)
        if forward is not None:
            ahead = _vector("forward", forward)
            self.right, self.forward = _orient(ahead, _vector("up", up), self.right, self.forward)
        self.position = where


def _vector(name: str, value: ArrayLike) -> Vector:
    try:
        x, y, z = map(float, value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        x = y = z = math.nan
    if not (abs(x) <= FARTHEST and abs(y) <= FARTHEST and abs(z) <= FARTHEST):
        raise ValueError(f"listener {name} must be three finite numbers within {FARTHEST:g}, not {value!r}")
    return np.array((x, y, z))


def _orient(ahead: Vector, up: Vector, right_before: Vector, ahead_before: Vector) -> tuple[Vector, Vector]:
    """Unit vectors to the right and ahead; where `ahead` and `up` do not say, what was before decides."""
    length = _length(ahead)
    ahead = ahead / length if length > 1e-12 else ahead_before
    right = _cross(ahead, up)
    length = _length(right)
    if length < 1e-9 * max(1.0, _length(up)):
        right = right_before - ahead * float(right_before @ ahead)
        length = _length(right)
    if length < 1e-9:  # looking along the old right ear: any perpendicular will do
        right = _cross(ahead, np.array([0.0, 0.0, -1.0] if abs(ahead[2]) < 0.9 else [1.0, 0.0, 0.0]))
        length = _length(right)
    return right / length, ahead


def _length(a: Vector) -> float:
    return math.sqrt(a @ a)


def _cross(a: Vector, b: Vector) -> Vector:
    """np.cross takes fifty times as long for one pair."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
