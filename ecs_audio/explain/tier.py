"""How much acoustics a source gets, and why; and whose turn it is to be traced."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ecs_audio.components import Tier
from ecs_audio.engine import Engine
from ecs_audio.kernels.tiers import HOLD, PATIENCE


def tier_of(engine: Engine, i: int) -> dict[str, Any]:
    """Tier of source i, its rank by loudness before occlusion among those that compete, and the reason."""
    s, settings = engine.sources, engine.settings
    # Who has a tier keeps it against those that are up to 3 dB louder.
    held = HOLD ** s.tier.astype(float)
    competing = (s.positioned != 0) & (s.acoustics != 0) & (s.loudness > 0.0)
    rank = 1 + int(np.count_nonzero(competing & (s.loudness * held > s.loudness[i] * held[i])))
    return {
        "tier": Tier(int(s.tier[i])).name.lower(),
        "wanted": Tier(int(s.tier_wanted[i])).name.lower(),
        "wanted_for": float(s.tier_waited[i]),
        "rank": rank if competing[i] else None,
        "competing": int(np.count_nonzero(competing)),
        "full_count": settings.full_count,
        "direct_count": settings.direct_count,
        "full_within": float(s.full_within[i]),
        "held_back": engine.telemetry.held_back or None,
        "why": _why(engine, i, rank),
    }


def _why(engine: Engine, i: int, rank: int) -> str:
    s, settings = engine.sources, engine.settings
    tier, wanted = Tier(int(s.tier[i])), Tier(int(s.tier_wanted[i]))
    if not s.positioned[i]:
        return "it has no position, so it is heard flat and needs no rays"
    if not s.acoustics[i]:
        return "its acoustics are switched off"
    if tier is not wanted:
        waited = f"{s.tier_waited[i]:.2f} of {PATIENCE} s"
        return f"{wanted.name} has been wanted for {waited}; until then it stays {tier.name}"
    if s.full_within[i] > s.distance[i]:
        return f"it is {s.distance[i]:.1f} m away, within its full_within of {s.full_within[i]:g} m"
    if s.loudness[i] <= 0.0:
        return "nothing of it arrives even without walls: its volume is 0, or it is beyond its end"
    limits = f"the {settings.full_count} loudest are FULL, up to {settings.direct_count} DIRECT"
    held = f", less what the governor holds back ({engine.telemetry.held_back})"
    return f"rank {rank} by loudness; {limits}{held if engine.telemetry.held_back else ''}"


def turn_of(engine: Engine, i: int) -> dict[str, Any]:
    """When source i is traced again, what it owes, and what the budget of the last tick was spent on."""
    s, t, settings = engine.sources, engine.telemetry, engine.settings
    wait = float(s.due[i]) - engine.time
    return {
        "next_in": wait if math.isfinite(wait) else None,
        "why": _turn(engine, i, wait),
        "owed_paths": int(s.owed[i]),
        "approach": float(s.approach[i]) if math.isfinite(s.approach[i]) else None,
        "rays": t.rays,
        "max_rays": settings.max_rays,
        "cells": t.cells,
        "max_cells": settings.max_cells,
        "queue": t.queue,
        "deferred": t.deferred,
    }


def _turn(engine: Engine, i: int, wait: float) -> str:
    s, settings = engine.sources, engine.settings
    if wait == -math.inf:
        return "it is traced as soon as the budget allows"
    if wait != math.inf:
        late = f"its turn came {-wait:.2f} s ago: the budget makes it wait"
        return late if wait < 0.0 else f"its turn comes in {wait:.2f} s"
    if settings.acoustics == "off" or not (settings.occlusion or settings.reflects):
        return "no rays: the settings switch them off"
    if not (s.positioned[i] and s.acoustics[i]):
        return "no rays: it is heard without acoustics"
    if s.distance[i] >= settings.reach:
        return f"no rays: it is {s.distance[i]:.0f} m away, and they reach {settings.reach:g} m"
    return f"no rays: it is FREE and below {settings.audible_db:g} dBFS"
