"""batch_rays: whose turn it is, as many rays as the budget allows, in one batch."""

from __future__ import annotations

from ecs_audio.components import Rays, Sources
from ecs_audio.kernels.schedule import fill_batch, queue_up
from ecs_audio.kernels.tiers import BESIDE
from ecs_audio.settings import Settings


def batch_rays(sources: Sources, rays: Rays, settings: Settings, *, time: float) -> None:
    """Fill `rays` with the jobs of this tick. time: of this tick [s]."""
    beside = BESIDE if settings.direct_paths > 1 else 0
    if not beside:
        sources.owed[:] = 0  # or everyone would stay in the queue for paths that nobody traces
    queued = queue_up(
        time, sources.tier, sources.loudness, sources.age, sources.due, sources.full_within,
        sources.looping, sources.owed, rays.keys, rays.items,
    )  # fmt: skip
    chosen = fill_batch(
        time, queued, settings.max_rays, beside, rays.keys, rays.items, sources.age, sources.due,
        sources.tier, sources.owed, sources.turn, rays.storage["source"], rays.storage["path"], rays.wanted,
    )  # fmt: skip
    rays.resize(chosen)
