"""Rays as the kernel takes them, without what a tick does around it."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.hits import trace_hits
from ecs_audio.systems.geometry import sections_of


def caster(hits, segments=1, places=True):
    """A function that traces the rays of a `Hits` from where they are, which moves them.

    places: as of trails and legs: cells, points, materials and reflected rays; without, only times and faces
    are found, as of sights, and single hits move nothing.
    """
    n, point = len(hits.origin), hits.point if places else hits.point[:0]
    wanted, first = np.full(n, segments), np.arange(n) * segments

    def cast():
        trace_hits(
            sections_of(hits.geometry), n, 1 << 60, hits.origin, hits.direction, hits.reach, wanted, first,
            hits.found, hits.cells, hits.unknown, hits.time, hits.face, hits.cell, point, hits.material,
        )  # fmt: skip

    return cast
