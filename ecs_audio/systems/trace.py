"""trace: the batch goes through the world in one kernel call."""

from __future__ import annotations

from ecs_audio.components import Listener, Rays, Sources
from ecs_audio.kernels.bundle import trace_paths
from ecs_audio.kernels.voxels import Voxels
from ecs_audio.settings import Settings
from ecs_audio.world import World


def trace(sources: Sources, listener: Listener, rays: Rays, world: World, settings: Settings) -> None:
    """Trace what `batch_rays` chose; rays beyond the cells' budget are dropped from the batch."""
    traced = trace_paths(
        voxels_of(world), listener.position, sources.heard_position, rays.source, rays.path,
        settings.max_cells, rays.ends, rays.own, rays.transmission, rays.cells, rays.unknown,
    )  # fmt: skip
    rays.resize(traced)


def voxels_of(world: World) -> Voxels:
    """The columns of a world that kernels read, as they are now."""
    palette = world.palette
    return Voxels(
        world.slots,
        world.cells,
        world.section_origin,
        palette.kind,
        palette.occlusion,
        float(world.cell_size),
    )
