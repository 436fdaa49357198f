"""classify: loudness before occlusion decides how much acoustics a source is worth."""

from __future__ import annotations

import numpy as np

from ecs_audio.components import Listener, Rays, Sources
from ecs_audio.kernels.schedule import admit, approaches, make_due
from ecs_audio.kernels.tiers import assign_tiers, loudnesses
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of


def classify(
    sources: Sources, listener: Listener, rays: Rays, settings: Settings, *, time: float, dt: float
) -> None:
    """Set distance, loudness and tier of every source, and who may ask for rays.

    time: of this tick [s]. dt: since the last tick [s].
    """
    here = listener.position
    entry_of(loudnesses)(
        here, sources.positioned, sources.heard_position, sources.volume, sources.law, sources.reference,
        sources.end, sources.fade_start, sources.distance, sources.loudness,
    )  # fmt: skip
    entry_of(approaches)(dt, here, sources.heard_position, sources.offset, sources.approach)
    entry_of(assign_tiers)(
        dt, settings.full_count, settings.direct_count, sources.positioned, sources.acoustics,
        sources.distance, sources.loudness, sources.full_within, sources.age, sources.tier,
        sources.tier_wanted, sources.tier_waited, sources.owed, sources.due, rays.keys, rays.items,
    )  # fmt: skip
    np.add(sources.age, dt, out=sources.age)
    np.add(sources.environment_age, dt, out=sources.environment_age)
    traced = settings.acoustics != "off" and (settings.occlusion or settings.reflects)
    entry_of(admit)(
        time, settings.reach if traced else -1.0, 10.0 ** (settings.audible_db / 20.0), sources.positioned,
        sources.acoustics, sources.tier, sources.distance, sources.loudness, sources.age, sources.due,
    )  # fmt: skip
    if listener.moved > settings.listener_jump:
        make_due(time, sources.due, sources.outdated)
        make_due(time, sources.environment_due, sources.outdated)
