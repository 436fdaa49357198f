"""The batch: all that one tick traces, and everything that tracing it reads or writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecs_audio.components.entries import CANDIDATES, HITS, LEGS, RAYS
from ecs_audio.components.probes import PROBE_HITS, PROBE_RAYS
from ecs_audio.components.rays import Rays
from ecs_audio.components.waves import Wave

SURVEYS = 32
"""Surveys that may be under way at once."""


class Batch:
    """Direct paths, rays around sources and around the listener, and what they may cost.

    It holds copies of all ends, so that a thread can trace it while the host moves things.
    """

    def __init__(self, max_rays: int, sources: int) -> None:
        self.rays = Rays(max_rays, sources)
        """Direct paths."""
        self.time = 0.0
        """Time of the tick that filled it [s]."""
        self.trails = Wave(PROBE_RAYS + SURVEYS * RAYS, PROBE_HITS)
        """Rays that are followed from hit to hit, those of the probe first."""
        self.sights = Wave(SURVEYS * max(RAYS * HITS, CANDIDATES * LEGS))
        """Looks from the listener at what was hit, and legs of echo paths."""
        self.active_count = 0
        """Surveys of this tick."""
        self.active = np.zeros(SURVEYS, np.int32)
        """Their rows of `CacheEntries`."""
        self.probe_trails = 0
        """Rays of the probe, the first of `trails`."""
        self.grants = np.zeros((SURVEYS, 3), np.int64)
        """Hits, looks and legs that each may trace."""
        self.probe_row = np.zeros(1, np.int32)
        """Row of the probe."""
        self.probe_grant = np.zeros((1, 3), np.int64)
        """Hits that the probe may trace."""
        self.counts = np.zeros(8, np.int64)
        """What `plan_surveys` counted."""
        self.keys = np.zeros(max(sources, 4096))
        """Scratch: need of each queued survey."""
        self.items = np.zeros(max(sources, 4096), np.int32)
        """Scratch: who it is."""
        self.wanted = np.zeros(6, np.int64)
        """Scratch: key of an entry."""
        self.way = np.zeros(19)
        """Scratch of `trace`: an echo path."""
        self.no_coupling = np.full(sources, -1.0)
        """Coupling of sources around which nothing was traced."""
        self.tap_way = np.zeros(19)
        """Scratch of `smooth`: the same."""
        self.tap_there = np.zeros((1, 3))
        """Scratch of `smooth`: where a source was when it emitted an echo."""
        self.lengths = np.zeros(CANDIDATES)
        """Scratch: lengths of echo paths."""
        self.claims = np.zeros((CANDIDATES + RAYS, 6))
        """Scratch: echo paths that hold."""
        self.askers: Any = None
        """Columns of `Sources` that `plan_surveys` takes. Set by `Tracing`."""
        self.entries: Any = None
        """Columns of `CacheEntries` that it takes. Set by `Tracing`."""
        self.surveys: Any = None
        """Columns of `CacheEntries` that echoes are found by. Set by `Tracing`."""
        self.ray_count = np.zeros(4, np.int64)
        """Rays traced: direct, of the probe, around sources, of echoes."""
        self.cell_count = np.zeros(2, np.int64)
        """Cells looked at, and those of them that were not loaded."""
        self.rays_landed = np.zeros(4, np.int64)
        """`ray_count` of what was taken in at this tick."""
        self.cells_landed = np.zeros(2, np.int64)
        """`cell_count` of what was taken in at this tick."""
