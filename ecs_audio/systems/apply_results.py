"""apply_results: what the rays found becomes transmission, and what the mixer shall reach."""

from __future__ import annotations

import numpy as np

from ecs_audio.components import BUNDLE, Listener, Rays, Sources
from ecs_audio.kernels.bundle import WEIGHTS
from ecs_audio.kernels.results import combine, set_targets, submersion, take_paths
from ecs_audio.settings import Settings
from ecs_audio.systems.trace import voxels_of
from ecs_audio.world import World

STRAIGHT_ALONE = np.eye(1, BUNDLE)[0]


def apply_results(
    sources: Sources,
    listener: Listener,
    rays: Rays,
    world: World,
    settings: Settings,
    *,
    time: float,
    dt: float,
) -> None:
    """Write the traced paths into their sources, then T, broad gain and gain_hf of all sources.

    time: of this tick [s]. dt: its length [s].
    """
    take_paths(
        time, dt, rays.source, rays.path, rays.transmission, sources.distance, sources.approach,
        sources.serial, sources.tier, sources.path, sources.owed, sources.turn, sources.age, sources.due,
    )  # fmt: skip
    if settings.acoustics == "off":
        return
    weights = WEIGHTS if settings.direct_paths > 1 else STRAIGHT_ALONE
    clearest = settings.occlusion_rule == "min"
    combine(weights, clearest, sources.path, sources.acoustics, sources.transmission)
    submerged = submersion(voxels_of(world), listener.position) if settings.occlusion else 1.0
    set_targets(
        submerged, settings.air, sources.transmission, sources.distance, sources.positioned,
        sources.acoustics, sources.gain_target, sources.gain_hf_target,
    )  # fmt: skip
