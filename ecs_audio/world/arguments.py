"""Checks of what callers pass: one sentence that names the argument, the value and the limit."""

from collections.abc import Iterable
from itertools import islice
from math import prod
from numbers import Real
from operator import index
from typing import SupportsFloat, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_audio.world.limits import MAX_CELLS, MAX_COORDINATE

Whole3: TypeAlias = Iterable[SupportsIndex]
"""Three whole numbers in any sequence or array."""

Real3: TypeAlias = Iterable[SupportsFloat]
"""Three numbers in any sequence or array."""

Cell: TypeAlias = tuple[int, int, int]
"""Checked cell coordinates."""


def whole3(name: str, value: Whole3) -> Cell:
    """Return three whole numbers; raises TypeError for other kinds, ValueError for another count."""
    try:
        numbers = [index(number) for number in islice(value, 4)]
    except TypeError as error:
        raise TypeError(f"{name} must be three whole numbers, got {value!r:.80}.") from error
    if len(numbers) != 3:
        raise ValueError(f"{name} must be exactly three whole numbers, got {value!r:.80}.")
    return numbers[0], numbers[1], numbers[2]


def origin3(name: str, value: Whole3) -> Cell:
    """Return checked coordinates of a cell that a world may begin at."""
    cell = whole3(name, value)
    if any(abs(number) > MAX_COORDINATE for number in cell):
        raise ValueError(f"{name} must lie within ±{MAX_COORDINATE} cells, got {cell}.")
    return cell


def size3(name: str, value: Whole3) -> Cell:
    """Return checked edges of a box of at least one and at most MAX_CELLS cells."""
    size = whole3(name, value)
    if min(size) < 1 or prod(size) > MAX_CELLS:
        raise ValueError(
            f"{name} must be three edges from 1 cell on and {MAX_CELLS} cells in all, got {size}."
        )
    return size


def real(name: str, value: SupportsFloat, low: float, high: float) -> float:
    """Return a number within limits; raises TypeError for other kinds, ValueError for NaN and beyond."""
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r:.80}.")
    # Compared before it becomes a float, which a huge integer cannot.
    if not bool(low <= value <= high):  # type: ignore[operator]
        raise ValueError(f"{name} must lie from {low:g} to {high:g}, got {value!r:.80}.")
    return float(value)


def real3(name: str, value: Real3) -> tuple[float, float, float]:
    """Return three finite coordinates in cells."""
    try:
        numbers = list(islice(value, 4))
    except TypeError as error:
        raise TypeError(f"{name} must be three numbers, got {value!r:.80}.") from error
    if len(numbers) != 3:
        raise ValueError(f"{name} must be exactly three numbers, got {value!r:.80}.")
    x, y, z = (real(name, number, -MAX_COORDINATE, MAX_COORDINATE) for number in numbers)
    return x, y, z


def ids3(name: str, value: ArrayLike, count: int) -> NDArray[np.uint16]:
    """Return an array of palette ids below `count`, of three dimensions and any size."""
    values = np.asarray(value)
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, got an array of {values.dtype}.")
    if values.ndim != 3:
        raise ValueError(f"{name} must have three dimensions, got the shape {values.shape}.")
    if values.size:
        low, high = int(values.min()), int(values.max())
        if low < 0 or high >= count:
            raise ValueError(f"{name} must lie from 0 to {count - 1}, got {low} to {high}.")
    return values.astype(np.uint16, copy=False)
