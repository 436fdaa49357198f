"""Surfaces made of triangles: what the readers of meshes give, and which parts of them are closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Surface(NamedTuple):
    """Triangles over shared corners, y up, counterclockwise as seen from where there is air."""

    corners: NDArray[np.float64]
    """Places, shape [m, 3]."""
    faces: NDArray[np.int64]
    """Three corners of each triangle, shape [n, 3]."""
    materials: NDArray[np.int64]
    """Index into `names` by triangle, shape [n]."""
    names: list[str]


class Parts(NamedTuple):
    """Triangles that hang together over edges of two of them."""

    part: NDArray[np.int64]
    """By triangle, shape [n]."""
    is_closed: NDArray[np.bool_]
    """Whether a part has an inside, by part."""


def parts(faces: NDArray[np.int64]) -> Parts:
    """Return which triangles form a part together.

    A part is closed where every edge is passed as often in one direction as in the other by its triangles.
    """
    count = len(faces)
    start, end = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
    edge = np.minimum(start, end) * (int(faces.max(initial=0)) + 1) + np.maximum(start, end)
    face = np.repeat(np.arange(count), 3)
    order = np.argsort(edge, kind="stable")
    edge, face, direction = edge[order], face[order], np.where(start < end, 1, -1)[order]
    first = np.flatnonzero(np.diff(edge, prepend=-1))
    length = np.diff(first, append=len(edge))
    pair = first[length == 2]
    pair = pair[direction[pair] + direction[pair + 1] == 0]
    part = _joined(count, face[pair], face[pair + 1])
    # Of an edge where parts touch, each of them has its own balance.
    is_first = np.bincount(part, minlength=1) > 0
    of_kind = (np.cumsum(is_first) - 1)[part]
    order = np.lexsort((of_kind[face], edge))
    edge, owner, direction = edge[order], of_kind[face][order], direction[order]
    first = np.flatnonzero((np.diff(edge, prepend=-1) != 0) | (np.diff(owner, prepend=-1) != 0))
    balance = np.add.reduceat(direction, first) if len(first) else direction
    is_closed = np.ones(int(is_first.sum()), np.bool_)
    is_closed[owner[first[balance != 0]]] = False
    return Parts(of_kind, is_closed)


def _joined(count: int, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lowest number that each of `count` is connected with by pairs."""
    label = np.arange(count)
    while True:
        low = np.minimum(label[one], label[other])
        # What it was labelled with is joined as well, so that few rounds are enough.
        for side in (one, other):
            np.minimum.at(label, label[side], low)
            np.minimum.at(label, side, low)
        while bool((label[label] != label).any()):
            label = label[label]
        if not bool((label[one] != label[other]).any()):
            return label


def merged(corners: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return faces over the first of all corners at the same place."""
    if not len(faces):
        return faces
    order = np.lexsort(corners.T)
    placed = corners[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (placed[1:] != placed[:-1]).any(axis=1)
    first = np.empty(len(order), np.int64)
    first[order] = order[is_new][np.cumsum(is_new) - 1]
    return first[faces]


def volumes(surface: Surface, found: Parts) -> NDArray[np.float64]:
    """Return the signed volume of each part, negative where it is inside out."""
    a, b, c = surface.corners[surface.faces].transpose(1, 0, 2)
    middle = a.mean(axis=0)
    six = np.einsum("ij,ij->i", a - middle, np.cross(b - middle, c - middle))
    return np.bincount(found.part, six, len(found.is_closed)) / 6.0
