"""batch_rays: whose turn it is, as many rays as the budget allows, in one batch."""

from __future__ import annotations

from ecs_audio.components import Batch, Listener, Probes, Sources
from ecs_audio.kernels.bundle import place_paths
from ecs_audio.kernels.schedule import fill_batch, queue_up
from ecs_audio.kernels.surveys import HITS, LEGS, RAYS, plan_surveys
from ecs_audio.kernels.tiers import BESIDE
from ecs_audio.kernels.trails import place_trails
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of
from ecs_audio.systems.probe import ask_probe

WHOLE_SURVEY = int(2 * RAYS * HITS + LEGS)
"""Rays that a survey takes at worst."""


def batch_rays(
    sources: Sources,
    listener: Listener,
    probes: Probes,
    batch: Batch,
    settings: Settings,
    *,
    time: float,
    dt: float,
    tick: int,
    cell_size: float,
    buried: bool,
) -> None:
    """Fill the batch with the jobs of this tick: straight paths, bundles, the probe, environments.

    time, dt: of this tick [s]. tick: its number. cell_size: of the world [m]. buried: the listener is inside
    a solid cell.
    """
    rays, counts = batch.rays, batch.counts
    batch.time = time
    beside = BESIDE if settings.direct_paths > 1 else 0
    if not beside:
        sources.owed[:] = 0  # or everyone would stay in the queue for paths that nobody traces
    queued = entry_of(queue_up)(
        time, sources.tier, sources.loudness, sources.age, sources.due, sources.full_within,
        sources.looping, sources.owed, rays.keys, rays.items,
    )  # fmt: skip
    starved = counts[6] > 0
    held = WHOLE_SURVEY if starved and tick % 4 else 0  # bundles get every fourth tick then
    chosen = entry_of(fill_batch)(
        time, queued, settings.max_rays, held, beside, rays.keys, rays.items, sources.age, sources.due,
        sources.tier, sources.owed, sources.turn, sources.serial, rays.storage["source"],
        rays.storage["path"], rays.storage["serial"], rays.wanted,
    )  # fmt: skip
    rays.resize(chosen)
    entry_of(place_paths)(
        cell_size, listener.position, sources.heard_position, rays.source, rays.path, rays.shift, rays.ear,
        rays.mouth, rays.own,
    )  # fmt: skip
    left = settings.max_rays - chosen
    trails = batch.trails
    trails.count = batch.active_count = batch.probe_trails = 0
    if settings.reverberates:
        share = -(-left // 4) if starved else left
        left -= ask_probe(probes, listener, batch, settings, left=share, time=time, buried=buried)
    if settings.reflects:
        batch.active_count = entry_of(plan_surveys)(
            time, dt, sources.count, left, settings.cache, settings.echoes, batch.entries, batch.askers,
            listener.position, batch.keys, batch.items, batch.wanted, batch.active, batch.grants, counts,
        )  # fmt: skip
        e = batch.entries
        trails.count = entry_of(place_trails)(
            settings.reach, batch.active_count, batch.active, batch.grants, e.done, e.origin, e.direction,
            int(HITS), trails.count, trails.origin, trails.direction, trails.reach, trails.segments,
            trails.owner, trails.index,
        )  # fmt: skip
