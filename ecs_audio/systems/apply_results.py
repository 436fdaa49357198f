"""apply_results: what the rays found becomes transmission, and what the mixer shall reach."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import BUNDLE, Batch, CacheEntries, Probes, Rays, Sources
from ecs_audio.kernels.bundle import WEIGHTS
from ecs_audio.kernels.cache import drop_stale, take_in
from ecs_audio.kernels.environment import adopt, spare_taps
from ecs_audio.kernels.results import SUBMERGED_HF, combine, set_targets, take_paths
from ecs_audio.kernels.sections import FLUID
from ecs_audio.kernels.sends import set_sends
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of
from ecs_audio.systems.probe import take_room

STRAIGHT_ALONE = np.eye(1, BUNDLE)[0]
EVERYWHERE = np.full(2, 1e9)


def take_results(
    sources: Sources,
    batch: Batch,
    entries: CacheEntries,
    probes: Probes,
    absorption: NDArray[np.float64],
    settings: Settings,
    *,
    time: float,
    dt: float,
) -> None:
    """Write what a batch found into its sources, cache entries and the probe.

    absorption: (materials, 4). time: of this tick [s]. dt: its length [s].
    """
    hand_out(sources, batch.rays, asked=batch.time, time=time, dt=dt)
    batch.rays_landed[:], batch.cells_landed[:] = batch.ray_count, batch.cell_count
    e = entries.storage
    if entry_of(take_in)(e["state"], e["stale"]):
        hand_out_environments(sources, entries, time=time)
        drop_stale(time, e["state"], e["stale"], sources.environment, sources.environment_due)
    if settings.reverberates:
        take_room(probes, absorption, settings)


def hand_out(sources: Sources, rays: Rays, *, asked: float, time: float, dt: float) -> None:
    """Write traced paths into their sources. asked: time of the tick that asked for them [s]."""
    entry_of(take_paths)(
        asked, time, dt, rays.source, rays.path, rays.serial, rays.transmission, sources.distance,
        sources.approach, sources.serial, sources.tier, sources.outdated, sources.path, sources.owed,
        sources.turn, sources.age, sources.due,
    )  # fmt: skip


def apply_results(
    sources: Sources,
    batch: Batch,
    entries: CacheEntries,
    probes: Probes,
    settings: Settings,
    *,
    time: float,
    dt: float,
    surroundings: int,
) -> None:
    """From what is known of their paths and environments, what the mixer shall reach for all sources.

    time: of this tick [s]. dt: its length [s]. surroundings: what the listener is in, OPEN, SOLID or FLUID.
    """
    if settings.acoustics == "off":
        return
    weights = WEIGHTS if settings.direct_paths > 1 else STRAIGHT_ALONE
    clearest = settings.occlusion_rule == "min"
    entry_of(combine)(weights, clearest, sources.path, sources.acoustics, sources.transmission)
    if not settings.occlusion:
        sources.transmission[:] = 1.0
    if settings.reflects or settings.reverberates:
        find_openness(sources, batch, entries, probes, settings, time=time, dt=dt)
    submerged = SUBMERGED_HF if settings.occlusion and surroundings == FLUID else 1.0
    entry_of(set_targets)(
        submerged, settings.air, sources.transmission, sources.openness, sources.distance, sources.positioned,
        sources.acoustics, sources.gain_target, sources.gain_hf_target,
    )  # fmt: skip


def hand_out_environments(sources: Sources, entries: CacheEntries, *, time: float) -> None:
    """Give READY environments to who waits for them. time: of this tick [s]."""
    e, s = entries.storage, sources
    entry_of(adopt)(
        time, e["state"], e["evaluated"], e["coupling"], e["bearing"], e["plane"], e["plane_point"],
        e["strength"], s.tier, s.survey, s.environment, s.environment_age, s.coupling, s.bearing_target,
        s.wanted_plane, s.wanted_point, s.wanted_strength,
    )  # fmt: skip


def find_openness(
    sources: Sources,
    batch: Batch,
    entries: CacheEntries,
    probes: Probes,
    settings: Settings,
    *,
    time: float,
    dt: float,
) -> None:
    """Hand READY environments to who waits for them; then the air each source shares, and its sends."""
    s, p = sources, probes.storage
    hand_out_environments(sources, entries, time=time)
    entry_of(spare_taps)(settings.max_taps, s.wanted_plane, s.loudness, batch.keys, batch.items)
    # Where no reflections were traced, what goes up into the sky fills no room.
    near, far = p["share"][0].tolist()
    reach, coupling = p["reach"][0] * (near + far), s.coupling
    # The room of a preset is around everything, as far as walls let through.
    if settings.reverb is not None:
        reach, coupling = EVERYWHERE, batch.no_coupling[: s.count]
    share = 1.0 - math.exp(-dt / settings.openness_time) if settings.openness_time > 0.0 else 1.0
    entry_of(set_sends)(
        share, settings.coupling, settings.reverberates, p["room_gain"][0], reach, s.volume,
        s.reference, s.end, s.distance, s.loudness, s.transmission, coupling, s.positioned, s.acoustics,
        s.state, s.openness, s.send_target, s.send_hf_target,
    )  # fmt: skip
