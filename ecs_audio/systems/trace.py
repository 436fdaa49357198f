"""trace: the batch goes through the world, each stage in one kernel call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Batch, CacheEntries, Listener, Probes, Rays, Sources
from ecs_audio.kernels.bundle import place_paths
from ecs_audio.kernels.census import count_cells
from ecs_audio.kernels.occlusion import trace_paths
from ecs_audio.kernels.schedule import pick_new
from ecs_audio.kernels.sections import Sections
from ecs_audio.settings import Settings
from ecs_audio.systems.apply_results import hand_out
from ecs_audio.systems.entry import entry_of
from ecs_audio.systems.survey import survey


def trace(
    batch: Batch,
    entries: CacheEntries,
    probes: Probes,
    sections: Sections,
    reflectivity: NDArray[np.float64],
    settings: Settings,
) -> None:
    """Trace what `batch_rays` chose; rays beyond the cells' budget are dropped from the batch.

    It reads and writes nothing but the batch, the rows that the batch has in hand, and the copy of the world.
    """
    rays = batch.rays
    batch.cell_count[:] = 0
    batch.ray_count[:] = 0
    trace_direct(rays, sections, settings)
    entry_of(count_cells)(rays.count, rays.cells, rays.unknown, batch.cell_count)
    batch.ray_count[0] = rays.count
    survey(batch, entries, probes, sections, reflectivity, settings)


def trace_direct(rays: Rays, sections: Sections, settings: Settings) -> None:
    """Trace direct paths; those beyond the cells' budget are dropped."""
    traced = entry_of(trace_paths)(
        sections, rays.count, settings.max_cells, rays.path, rays.ear, rays.mouth, rays.own,
        rays.transmission, rays.cells, rays.unknown,
    )  # fmt: skip
    rays.resize(traced)


def trace_new(
    sources: Sources,
    listener: Listener,
    rays: Rays,
    sections: Sections,
    settings: Settings,
    *,
    time: float,
    dt: float,
) -> None:
    """Give sources that never had one their straight path at once, beside a worker.

    time: of this tick [s]. dt: its length [s].
    """
    chosen = entry_of(pick_new)(
        time, sources.age, sources.due, sources.serial, rays.storage["source"], rays.storage["path"],
        rays.storage["serial"],
    )  # fmt: skip
    if not chosen:
        return
    rays.resize(chosen)
    entry_of(place_paths)(
        sections.cell_size, listener.position, sources.heard_position, rays.source, rays.path, rays.shift,
        rays.ear, rays.mouth, rays.own,
    )  # fmt: skip
    trace_direct(rays, sections, settings)
    hand_out(sources, rays, asked=time, time=time, dt=dt)
