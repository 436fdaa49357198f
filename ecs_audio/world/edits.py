"""The journal of edits: which sections changed since a revision."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecs_audio.world.grid import Grid

CAPACITY: Final = 1024
"""Edits remembered; whoever asks for older ones is told that everything changed."""


def dirty_sections(grid: Grid, edits: NDArray[np.int64], revision: int, since: int) -> NDArray[np.int64]:
    """Return the coordinates of the sections touched after revision `since`, each once, shape [n, 3]."""
    if since < max(0, revision - CAPACITY):
        everything: NDArray[np.int64] = np.argwhere(np.ones(grid.slots.shape, np.bool_)) + np.array(grid.base)
        return everything
    boxes = edits[np.arange(since, revision) % CAPACITY]
    if not len(boxes):
        return np.empty((0, 3), np.int64)
    lo, hi = boxes[:, :3] >> 4, (boxes[:, 3:] - 1 >> 4) + 1
    corner = lo.min(axis=0)
    touched = np.zeros(hi.max(axis=0) - corner, np.bool_)
    lo -= corner
    hi -= corner
    # Most edits lie in one section, and those need no loop.
    is_single = (hi - lo == 1).all(axis=1)
    touched[tuple(lo[is_single].T)] = True
    for (x0, y0, z0), (x1, y1, z1) in zip(lo[~is_single].tolist(), hi[~is_single].tolist(), strict=True):
        touched[x0:x1, y0:y1, z0:z1] = True
    found: NDArray[np.int64] = np.argwhere(touched) + corner
    return found
