"""Bodies and cells by a dense scan: every cell around, and ways walked in small steps."""

from __future__ import annotations

import math

import numpy as np

HEIGHTS = {
    "air": 0.0, "water": 0.0, "stone": 1.0, "oak_planks": 1.0, "stone_slab": 0.5, "oak_stairs": 0.5,
    "red_carpet": 0.1, "snow": 0.1, "oak_fence": 1.5, "cobblestone_wall": 1.5,
}  # fmt: skip
"""Height of a cell [cells], written down again."""


def boxes(world, low, high):
    """Corners of all that stands in a region: from (n, 3) to (n, 3) [cells]. low, high: [cells]."""
    first = np.floor(low).astype(int) - (0, 2, 0)
    last = np.ceil(high).astype(int) + 1
    ids = world.ids(first, last)
    height = np.array(
        [HEIGHTS.get(name, world.palette.height[k]) for k, name in enumerate(world.palette.names)]
    )
    at = np.argwhere(height[ids] > 0)
    begin = (at + first).astype(float)
    end = begin + 1.0
    end[:, 1] = begin[:, 1] + height[ids[tuple(at.T)]]
    return begin, end


def body(position, size, cell_size):
    """Corners of a body by the middle of its floor [cells]."""
    at, size = np.asarray(position) / cell_size, np.asarray(size) / cell_size
    low = at - size * (0.5, 0.0, 0.5)
    return low, low + size


def overlap(world, position, size):
    """How deep a body is in what stands there, at most [cells]; 0 or less where it is free."""
    low, high = body(position, size, world.cell_size)
    begin, end = boxes(world, low, high)
    depth = np.minimum(high - begin, end - low).min(axis=1)
    return depth.max(initial=-math.inf)


def first_contact(world, position, size, way, step=1e-3):
    """Share of a way that a body goes until it would be inside something, by steps of so many cells."""
    low, high = body(position, size, world.cell_size)
    way = np.asarray(way) / world.cell_size
    begin, end = boxes(world, np.minimum(low, low + way), np.maximum(high, high + way))
    count = math.ceil(np.abs(way).max() / step) + 1
    for share in np.linspace(0, 1, count):
        if ((high + share * way > begin) & (low + share * way < end)).all(axis=1).any():
            return share
    return 1.0


def rest_height(world, position, size):
    """y of the highest top below a body [m], -inf for none."""
    low, high = body(position, size, world.cell_size)
    bottom = low - (0, 64, 0)
    begin, end = boxes(world, bottom, high)
    below = ((high > begin) & (low < end))[:, [0, 2]].all(axis=1) & (end[:, 1] <= low[1] + 1e-4)
    return end[below, 1].max(initial=-math.inf) * world.cell_size
