"""Probes: the room around a listener."""

from __future__ import annotations

import numpy as np

from ecs_audio.components.entries import NO_PLANE
from ecs_audio.components.table import Column, Row, Table

PROBE_RAYS = 24
"""Directions a probe looks in."""
PROBE_HITS = 9
"""Hits that each ray is followed for: the first and eight mirror reflections."""
PLANES = 32
"""Planes that a probe remembers."""

CLASSES = ("field", "street", "canyon", "tunnel", "hall", "room")
"""Kinds of places, in the order of the columns `classes`."""


class Probe(Row):
    """The row of a probe."""


class Probes(Table[Probe]):
    """What each probe found of the room it stands in; its two scales are near and far, its bands
    125, 500, 2000 and 8000 Hz."""

    row_type = Probe

    entity = Column(np.int64)
    """The esper entity this row belongs to. Set by the engine."""

    # When and where it looked.
    evaluated = Column(np.float64, default=-np.inf)
    """Time of the evaluation [s], -inf before the first, which is not eased. Set by `apply_results`."""
    due = Column(np.float64, default=-np.inf)
    """Time of the next turn [s]. Set by `ingest` and `apply_results`."""
    place = Column(np.float64, 3)
    """Where the evaluation was made [m]. Set by `apply_results`."""
    low = Column(np.float64, 3)
    """Lower corner of the box that its rays crossed [m]. Set by `apply_results`."""
    high = Column(np.float64, 3)
    """Upper corner of that box [m]. Set by `apply_results`."""

    # The rays around it.
    begun = Column(np.uint8)
    """1 while rays of an evaluation are still to be traced. Set by `batch_rays` and `apply_results`."""
    asked = Column(np.float64, default=-np.inf)
    """Time at which its place was taken [s]. Set by `batch_rays`."""
    origin = Column(np.float64, PROBE_RAYS, 3)
    """Where each ray goes on [m]. Set by `batch_rays` and `trace`."""
    direction = Column(np.float64, PROBE_RAYS, 3)
    """Unit vector in which it goes on. Set by `batch_rays` and `trace`."""
    done = Column(np.int64, PROBE_RAYS)
    """Hits of each ray that are known, all of them once it escaped. Set by `batch_rays` and `trace`."""
    time = Column(np.float64, PROBE_RAYS * PROBE_HITS)
    """Length of the way to each hit from the one before [m], inf for none. Set by `trace`."""
    face = Column(np.int64, PROBE_RAYS * PROBE_HITS)
    """Face that was hit: twice the axis, + 1 if the ray came travelling downwards. Set by `trace`."""
    cell = Column(np.int64, PROBE_RAYS * PROBE_HITS, 3)
    """Cell that was hit. Set by `trace`."""
    point = Column(np.float64, PROBE_RAYS * PROBE_HITS, 3)
    """Point on the face [m]. Set by `trace`."""
    material = Column(np.int64, PROBE_RAYS * PROBE_HITS)
    """Material that was hit. Set by `trace`."""
    couples = Column(np.uint8, PROBE_RAYS * PROBE_HITS)
    """Means nothing here. Set by `trace`."""
    found = Column(np.int64, PROBE_RAYS)
    """Hits of each ray. Set by `apply_results`."""
    plane = Column(np.int64, PLANES, default=NO_PLANE)
    """Planes that were hit, each once: where sources may find echoes. Set by `apply_results`."""

    # What it found there.
    rt60_target = Column(np.float64, 2, 4, default=0.1)
    """Reverberation time as last evaluated, by scale and band [s]. Set by `apply_results`."""
    room_gain_target = Column(np.float64, 2)
    """Reverberant level as last evaluated, relative to the direct sound at 1 m. Set by `apply_results`."""
    classes_target = Column(np.float64, len(CLASSES))
    """Weights of CLASSES as last evaluated, which sum to 1. Set by `apply_results`."""
    share = Column(np.float64, 2)
    """Share of the rays that belong to each scale; the rest went to the sky. Set by `apply_results`."""
    mean_free_path = Column(np.float64, 2)
    """Mean way between two walls [m], 0 for a scale without rays. Set by `apply_results`."""
    reach = Column(np.float64, 2)
    """Cube root of the mean cube of the first hits of each scale [m], 0 for none. Set by `apply_results`."""
    volume = Column(np.float64)
    """Volume around the probe up to the first hits [m^3], 0 in the open. Set by `apply_results`."""

    # What is heard now.
    rt60 = Column(np.float64, 2, 4, default=0.1)
    """`rt60_target`, eased. Set by `smooth`."""
    room_gain = Column(np.float64, 2)
    """`room_gain_target`, eased. Set by `smooth`."""
    classes = Column(np.float64, len(CLASSES))
    """`classes_target`, eased; all 0 before the first evaluation. Set by `smooth`."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        for _ in range(capacity):
            self.append()
        self.cells = self.storage["cell"].reshape(-1, 3)
        """`cell` of all rows after one another, shape [rows * 216, 3]."""
