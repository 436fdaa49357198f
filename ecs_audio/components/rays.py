"""Rays: the batch that one tick traces."""

from __future__ import annotations

import numpy as np

from ecs_audio.components.table import Column, Row, Table


class Ray(Row):
    """The row of a ray."""


class Rays(Table[Ray]):
    """Direct paths of this tick in the order they are traced; made anew each tick."""

    row_type = Ray

    source = Column(np.int32)
    """Index of the source at this tick. Set by `batch_rays`."""
    serial = Column(np.int64)
    """Serial of that source, whose row may change before the ray is back. Set by `batch_rays`."""
    path = Column(np.int32)
    """Which path of the source's bundle, 0 for the straight one. Set by `batch_rays`."""
    ear = Column(np.float64, 3)
    """The listener's end [cells]. Set by `trace`."""
    mouth = Column(np.float64, 3)
    """The source's end [cells]. Set by `trace`."""
    own = Column(np.int64, 6)
    """Cells of the unshifted listener and source. Set by `trace`."""
    transmission = Column(np.float64)
    """Amplitude at 5 kHz let through; -1 where an end lies in a wall. Set by `trace`."""
    cells = Column(np.int32)
    """Cells looked at; an empty cube counts as one. Set by `trace`."""
    unknown = Column(np.int32)
    """Those of `cells` that were not loaded. Set by `trace`."""

    def __init__(self, capacity: int, sources: int) -> None:
        super().__init__(capacity)
        self.keys = np.zeros(sources)
        """Scratch: need of each queued source, smallest first."""
        self.items = np.zeros(sources, np.int32)
        """Scratch: index of each queued source."""
        self.shift = np.zeros(3)
        """Scratch of `trace`."""
        self.wanted = np.zeros(2, np.int64)
        """Straight paths wanted, and placed. Set by `batch_rays`."""
