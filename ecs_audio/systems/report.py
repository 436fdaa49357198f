"""report: what the tick did, as named numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Batch, Sources, Tier
from ecs_audio.components.buses import Buses
from ecs_audio.components.master import Master
from ecs_audio.kernels.census import census
from ecs_audio.systems.entry import entry_of
from ecs_audio.systems.probe import Room
from ecs_audio.telemetry import Telemetry


def report(
    telemetry: Telemetry,
    sources: Sources,
    batch: Batch,
    room: Room,
    master: Master,
    buses: Buses,
    counts: NDArray[np.int64],
    *,
    tick: int,
    now: int,
    edits: int,
    outdated: int,
    rebuilt: int,
    workers: int,
    starved: int,
) -> None:
    """Fill in the telemetry. counts: (8,) what `census` counted, for the engine's own use."""
    t, s = telemetry, sources
    t.oldest_age, t.oldest_environment = entry_of(census)(
        s.tier, s.state, s.age, s.due, s.environment_age, s.tap_count, counts
    )
    t.tick, t.frame, t.sources, t.edits = tick, now, s.count, edits
    t.free, t.direct, t.full = int(counts[Tier.FREE]), int(counts[Tier.DIRECT]), int(counts[Tier.FULL])
    t.voices_playing, t.voices_virtual, t.taps = int(counts[3]), int(counts[4]), int(counts[6])
    t.rays_direct, t.rays_probe, t.rays_environment, t.rays_echo = batch.rays_landed.tolist()
    t.rays = t.rays_direct + t.rays_probe + t.rays_environment + t.rays_echo
    cells, unknown = batch.cells_landed.tolist()
    t.cells, t.unknown_share = cells, unknown / max(cells, 1)
    wanted, placed = batch.rays.wanted.tolist()
    t.queue, t.deferred = wanted, wanted - placed
    hits, misses, evictions, _, _, waiting, _, _ = batch.counts.tolist()
    t.cache_hits, t.cache_misses, t.cache_evictions, t.surveys_waiting = hits, misses, evictions, waiting
    t.surveys, t.cache_invalidations, t.sections_rebuilt = batch.active_count, outdated, rebuilt
    t.workers, t.room = workers, room.name
    t.rt60_near, t.rt60_far = room.rt60[:, 1].tolist()
    t.room_gain_near, t.room_gain_far = room.room_gain.tolist()
    t.reverbs = sum(bus.awake for bus in buses.both)
    t.starved_frames += starved
    t.limiter_gain = float(master.limiter[1])
    master.limiter[1] = 1.0
