"""Waves: rays that are traced together in one kernel call."""

from __future__ import annotations

import numpy as np


class Wave:
    """Arrays of a call of `trace_hits`: so many rays, each with room for so many hits."""

    def __init__(self, rays: int, hits: int = 1) -> None:
        self.count = 0
        """Rays to be traced."""
        self.origin = np.zeros((rays, 3))
        """Where each begins [m]; afterwards, where it would go on."""
        self.direction = np.zeros((rays, 3))
        """Where each goes; afterwards, where it would go on."""
        self.reach = np.zeros(rays)
        """Longest way between two hits [lengths of direction]."""
        self.segments = np.ones(rays, np.int64)
        """Hits wanted."""
        self.first = np.arange(rays, dtype=np.int64) * hits
        """Where a ray's hits begin in the arrays of hits."""
        self.owner = np.zeros(rays, np.int64)
        """Whose ray it is: a row of `CacheEntries`, or -1 for the probe."""
        self.index = np.zeros(rays, np.int64)
        """Which ray, hit or leg of its owner."""
        self.found = np.zeros(rays, np.int64)
        """Hits made."""
        self.cells = np.zeros(rays, np.int32)
        """Cells looked at."""
        self.unknown = np.zeros(rays, np.int32)
        """Those of them that were not loaded."""
        self.time = np.zeros(rays * hits)
        """Way to each hit from the one before [lengths of direction]."""
        self.face = np.zeros(rays * hits, np.int64)
        """Face that was hit, -1 for none."""
        self.cell = np.zeros((rays * hits, 3), np.int64)
        """Cell that was hit."""
        self.point = np.zeros((rays * hits, 3))
        """Point on the face [m]."""
        self.material = np.zeros(rays * hits, np.int64)
        """Material that was hit."""
