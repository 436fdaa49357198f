"""What sees what in a world, and which mirrors lie between: slow, exact, and nothing of the engine's rays."""

from __future__ import annotations

from itertools import pairwise, product
from math import dist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ecs_audio as ea
from ecs_audio.world.materials import OPEN

Vector = NDArray[np.float64]

SKIN = 1e-3
"""A point of a surface is looked at from so far before it [m]."""


class Solids(NamedTuple):
    """A box of a world, of cells of 1 m, in which sight is blocked or not."""

    lo: NDArray[np.int64]
    """Its lowest cell."""
    solid: NDArray[np.bool_]
    """[x, y, z] from there; beyond it all is open."""
    planes: list[tuple[int, float]]
    """Axis and place [m] of every plane that holds a face: where air meets a solid."""

    def at(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether cells, shape (n, 3), are solid."""
        local = cells - self.lo
        within = (local >= 0) & (local < np.array(self.solid.shape))
        inside: NDArray[np.bool_] = np.all(within, axis=1)
        x, y, z = np.where(inside[:, None], local, 0).T
        return np.asarray(self.solid[x, y, z] & inside, np.bool_)


class Way(NamedTuple):
    """From a source to an ear by one or two mirrors."""

    length: float
    """[m]"""
    points: tuple[Vector, ...]
    """Where it is reflected [m], from the source on."""


def solids(world: ea.World, lo: ArrayLike | None = None, hi: ArrayLike | None = None) -> Solids:
    """The cells of a half-open box, by default of the whole world, that stop a ray."""
    low = np.asarray(world.origin if lo is None else lo, np.int64)
    high = np.asarray(world.origin + world.size if hi is None else hi, np.int64)
    ids = world.ids(tuple(low.tolist()), tuple(high.tolist()))
    solid = np.asarray(world.palette.kind[ids] != OPEN, np.bool_)
    planes = [
        (axis, float(low[axis] + k + 1))
        for axis, others in ((0, (1, 2)), (1, (0, 2)), (2, (0, 1)))
        for k in np.flatnonzero(np.diff(solid, axis=axis).any(axis=others))
    ]
    return Solids(low, solid, planes)


def first_hit(around: Solids, a: Vector, b: Vector) -> Vector | None:
    """Where the line from a to b [m] first enters a solid cell, None if it does not."""
    way = b - a
    crossings = [np.zeros(1), np.ones(1)]
    for axis in range(3):
        if way[axis] != 0.0:
            low, high = sorted((a[axis], b[axis]))
            planes = np.arange(np.ceil(low), np.floor(high) + 1.0)
            crossings.append((planes - a[axis]) / way[axis])
    times = np.sort(np.concatenate(crossings))
    middles = a + np.outer((times[1:] + times[:-1]) / 2.0, way)
    hits = np.flatnonzero(around.at(np.floor(middles).astype(np.int64)) & (np.diff(times) > 1e-12))
    return a + times[hits[0]] * way if len(hits) else None


def sees(around: Solids, a: Vector, b: Vector) -> bool:
    """Whether nothing solid lies between two points [m]."""
    return first_hit(around, a, b) is None


def mirrors(around: Solids, source: Vector, ear: Vector, order: int = 2) -> list[Way]:
    """Every way of one mirror reflection, or up to two, from `source` to `ear` [m], the shortest first.

    By image sources: each plane that holds a face is tried, and with `order` 2 each pair of them.
    """
    planes = around.planes
    found = [_by(around, (plane,), source, ear) for plane in planes]
    if order == 2:
        found += [_by(around, pair, source, ear) for pair in product(planes, planes) if pair[0] != pair[1]]
    return sorted((way for way in found if way is not None), key=lambda way: way.length)


def _by(around: Solids, planes: tuple[tuple[int, float], ...], source: Vector, ear: Vector) -> Way | None:
    """The way by these planes, in this order, if all of it is there."""
    images = [source]
    for axis, place in planes:
        image = images[-1].copy()
        image[axis] = 2.0 * place - image[axis]
        images.append(image)
    # From the ear back: each reflection lies on the line to the image that is seen in that plane.
    points: list[Vector] = []
    here = ear
    for (axis, place), image in zip(reversed(planes), reversed(images[1:]), strict=True):
        across = image[axis] - here[axis]
        share = (place - here[axis]) / across if across else -1.0
        if not 0.0 < share < 1.0:
            return None
        point = here + share * (image - here)
        point[axis] = place - np.sign(across) * SKIN
        behind = point.copy()
        behind[axis] = place + np.sign(across) * SKIN
        wall, air = around.at(np.floor([behind, point]).astype(np.int64))
        if not wall or air:
            return None
        points.insert(0, point)
        here = point
    stops = [source, *points, ear]
    if all(sees(around, a, b) for a, b in pairwise(stops)):
        return Way(dist(images[-1], ear), tuple(points))
    return None
