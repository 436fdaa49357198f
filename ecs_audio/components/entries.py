"""Cache entries: what sound from one place is like at another, for all sources near the one."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ecs_audio.components.table import Column, Row, Table

RAYS = 16
"""Directions around a source."""
HITS = 3
"""Hits of each ray: the first and two after bounces."""
CANDIDATES = 16
"""Echo paths that are looked into."""
LEGS = 3
"""Straight pieces of the longest of them."""
TAPS = 4
"""Echoes of a source."""
NO_PLANE = -(1 << 62)
"""Stands where there is no plane."""


class Survey(IntEnum):
    """How far an entry has come."""

    VACANT = 0
    BEGUN = 1  # rays are asked for, over as many ticks as the budget takes
    FINISHED = 2  # traced, not taken in yet
    READY = 3


class CacheEntry(Row):
    """The row of an environment between a cell of 4 m around a source and one around the listener."""


class CacheEntries(Table[CacheEntry]):
    """All entries exist from the start and none ever moves: what is traced on a thread stays in its row."""

    row_type = CacheEntry

    entity = Column(np.int64)
    """The esper entity this row belongs to. Set by the engine."""
    state = Column(np.uint8)
    """Survey. Set by `batch_rays`, `trace`, `apply_results`."""
    stale = Column(np.uint8)
    """1 if the world changed among its rays while they were traced. Set by `ingest`."""
    key = Column(np.int64, 6)
    """The source's cell of 4 m, and the listener's. Set by `batch_rays`."""
    hash = Column(np.int64)
    """The same as one number. Set by `batch_rays`."""
    number = Column(np.int64, default=-1)
    """How many surveys had begun before this one; turns its rays. Set by `batch_rays`."""
    surveys = Column(np.int64)
    """How often this pair was surveyed. Set by `batch_rays`."""
    evaluated = Column(np.float64, default=-np.inf)
    """Time at which its ends were taken [s]. Set by `batch_rays`."""
    used = Column(np.float64, default=-np.inf)
    """Time of its last use [s]. Set by `batch_rays`."""
    source = Column(np.float64, 3)
    """Where the source was [m]. Set by `batch_rays`."""
    listener = Column(np.float64, 3)
    """Where the listener was [m]. Set by `batch_rays`."""

    # The rays around the source.
    origin = Column(np.float64, RAYS, 3)
    """Where each ray goes on [m]. Set by `batch_rays` and `trace`."""
    direction = Column(np.float64, RAYS, 3)
    """Unit vector in which it goes on. Set by `batch_rays` and `trace`."""
    done = Column(np.int64, RAYS)
    """Hits of each ray that are known, all of them once it escaped. Set by `batch_rays` and `trace`."""
    time = Column(np.float64, RAYS * HITS)
    """Length of the way to each hit from the one before [m], inf for none. Set by `trace`."""
    face = Column(np.int64, RAYS * HITS)
    """Face that was hit: twice the axis, + 1 if the ray came travelling downwards. Set by `trace`."""
    cell = Column(np.int64, RAYS * HITS, 3)
    """Cell that was hit. Set by `trace`."""
    point = Column(np.float64, RAYS * HITS, 3)
    """Point on the face [m]. Set by `trace`."""
    material = Column(np.int64, RAYS * HITS)
    """Material that was hit. Set by `trace`."""
    couples = Column(np.uint8, RAYS * HITS)
    """1 if the point sees the listener. Set by `trace`."""

    # The echo paths that they suggest.
    candidates = Column(np.int64, default=-1)
    """How many, -1 until they are sought. Set by `trace`."""
    candidate_plane = Column(np.int64, CANDIDATES, 2)
    """Mirrors of each path, NO_PLANE for none. Set by `trace`."""
    candidate_point = Column(np.float64, CANDIDATES, 3)
    """Point of a path that has no mirror [m]. Set by `trace`."""
    legs_done = Column(np.int64)
    """Legs traced so far. Set by `trace`."""
    leg_time = Column(np.float64, CANDIDATES * LEGS)
    """Where each leg first hit something [lengths of its direction]. Set by `trace`."""
    leg_face = Column(np.int64, CANDIDATES * LEGS)
    """Face that it hit. Set by `trace`."""
    leg_cell = Column(np.int64, CANDIDATES * LEGS, 3)
    """Cell that it hit. Set by `trace`."""
    leg_material = Column(np.int64, CANDIDATES * LEGS)
    """Material that it hit. Set by `trace`."""
    loudness = Column(np.float64, 5)
    """Volume, law, reference, end and fade_start of the source that asked. Set by `batch_rays`."""
    sounding_plane = Column(np.int64, TAPS, 2)
    """Planes of that source's taps. Set by `batch_rays`."""
    sounding_point = Column(np.float64, TAPS, 3)
    """Points of that source's taps [m]. Set by `batch_rays`."""

    # What came of it.
    coupling = Column(np.float64)
    """Share of reflections that reach the listener. Set by `trace`."""
    bearing = Column(np.float64, 3)
    """Unit vector from the listener to where they come from, zero for nowhere. Set by `trace`."""
    plane = Column(np.int64, TAPS, 2, default=NO_PLANE)
    """Mirrors of the echoes chosen. Set by `trace`."""
    plane_point = Column(np.float64, TAPS, 3)
    """Point of an echo that has no mirror [m]. Set by `trace`."""
    strength = Column(np.float64, TAPS)
    """Amplitude that the mirrors leave, linear. Set by `trace`."""
    low = Column(np.float64, 3)
    """Lowest corner of the box of all its rays [m]. Set by `trace`."""
    high = Column(np.float64, 3)
    """Highest corner of it [m]. Set by `trace`."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        for _ in range(capacity):
            self.append()
        self.cells = self.storage["cell"].reshape(-1, 3)
        """`cell` of all rows after one another, shape [rows * 48, 3]."""
