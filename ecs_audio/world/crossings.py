"""Where straight lines through the centres of cells meet triangles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_AT_ONCE: Final = 2**17
"""Rows, and crossings, that are found at once."""


class Crossings(NamedTuple):
    """Where lines along one axis meet triangles."""

    triangle: NDArray[np.int64]
    row: NDArray[np.int64]
    """Cell of the line along the second axis."""
    column: NDArray[np.int64]
    """Cell of the line along the third axis."""
    height: NDArray[np.float64]
    """Place on the line."""


def cost(corners: NDArray[np.float64]) -> float:
    """Return about how many rows and crossings `along_first` will find."""
    u, w = corners[:, :, 1], corners[:, :, 2]
    area = np.abs((u[:, 1] - u[:, 0]) * (w[:, 2] - w[:, 0]) - (u[:, 2] - u[:, 0]) * (w[:, 1] - w[:, 0])) / 2
    return float((area + np.ptp(u, axis=1) + 1.0).sum())


def along_first(corners: NDArray[np.float64]) -> Iterator[Crossings]:
    """Yield all crossings of lines along the first axis, for triangles of shape [n, 3, 3].

    A line through an edge meets exactly one of the triangles on its two sides: both compute the edge from the
    same corners in the same order, and what lies on the end of a range belongs to the next.
    """
    order = np.argsort(corners[:, :, 1], axis=1, kind="stable")
    low, middle, high = np.take_along_axis(corners, order[:, :, None], axis=1).transpose(1, 0, 2)
    begin, planes = _first(low[:, 1]), _planes(corners)
    for triangle, row in _expanded(begin, _first(high[:, 1])):
        a, b, c, at = low[triangle], middle[triangle], high[triangle], row + 0.5
        one = _on(a, c, at)
        other = np.where(at < b[:, 1], _on(a, b, at), _on(b, c, at))
        for pair, column in _expanded(_first(np.minimum(one, other)), _first(np.maximum(one, other))):
            found = triangle[pair]
            yield Crossings(found, row[pair], column, _height(planes, found, row[pair], column))


def _first(place: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the first cell whose centre is not below a place."""
    return np.ceil(place - 0.5).astype(np.int64)


def _expanded(
    begin: NDArray[np.int64], end: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the index of each range and a number in it, for all numbers of all ranges, some at a time."""
    lengths = np.maximum(end - begin, 0)
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    for start in range(0, int(before[-1]), _AT_ONCE):
        number = np.arange(start, min(start + _AT_ONCE, int(before[-1])))
        index = np.searchsorted(before, number, side="right") - 1
        yield index, begin[index] + number - before[index]


def _on(one: NDArray[np.float64], other: NDArray[np.float64], at: NDArray[Any]) -> NDArray[np.float64]:
    """Return where edges are along the third axis, `at` along the second."""
    run = other[:, 1] - one[:, 1]
    # An edge may be so short that what is beyond it is infinitely far away.
    with np.errstate(over="ignore"):
        share = np.divide(at - one[:, 1], run, out=np.zeros_like(at), where=run != 0)
    there: NDArray[np.float64] = one[:, 2] + np.clip(share, 0.0, 1.0) * (other[:, 2] - one[:, 2])
    return there


class _Planes(NamedTuple):
    """What the height of a triangle is worked out from, a row a triangle."""

    place: NDArray[np.float64]
    """One of its corners, shape [n, 3]."""
    normal: NDArray[np.float64]
    """Shape [n, 3]."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def _planes(corners: NDArray[np.float64]) -> _Planes:
    a, b, c = corners.transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    return _Planes(a, normal, corners[:, :, 0].min(axis=1), corners[:, :, 0].max(axis=1))


def _height(
    planes: _Planes, triangle: NDArray[np.int64], row: NDArray[np.int64], column: NDArray[np.int64]
) -> NDArray[np.float64]:
    place, normal = planes.place[triangle].T, planes.normal[triangle].T
    rise = (row + 0.5 - place[1]) * normal[1] + (column + 0.5 - place[2]) * normal[2]
    with np.errstate(over="ignore"):
        away = np.divide(rise, normal[0], out=np.zeros_like(rise), where=normal[0] != 0)
    # Triangles that stand on edge have no height to speak of.
    height: NDArray[np.float64] = np.clip(place[0] - away, planes.low[triangle], planes.high[triangle])
    return height
