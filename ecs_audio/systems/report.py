"""report: what the tick did, as named numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Rays, Sources, Tier
from ecs_audio.components.master import Master
from ecs_audio.kernels.census import census
from ecs_audio.telemetry import Telemetry


def report(
    telemetry: Telemetry,
    sources: Sources,
    rays: Rays,
    master: Master,
    counts: NDArray[np.int64],
    *,
    tick: int,
    now: int,
    edits: int,
) -> None:
    """Fill in the telemetry. counts: (8,) what `census` counted, for the engine's own use."""
    t = telemetry
    t.oldest_age = census(
        sources.tier, sources.state, sources.age, sources.due, rays.cells, rays.unknown, counts
    )
    t.tick, t.frame, t.sources, t.edits, t.rays = tick, now, sources.count, edits, rays.count
    t.free, t.direct, t.full = int(counts[Tier.FREE]), int(counts[Tier.DIRECT]), int(counts[Tier.FULL])
    t.voices_playing, t.voices_virtual = int(counts[3]), int(counts[4])
    t.cells, t.unknown_share = int(counts[6]), float(counts[7] / max(counts[6], 1))
    t.queue, t.deferred = int(rays.wanted[0]), int(rays.wanted[0] - rays.wanted[1])
    t.limiter_gain = float(master.limiter[1])
    master.limiter[1] = 1.0
