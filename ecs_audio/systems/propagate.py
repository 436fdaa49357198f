"""propagate: when, and where, was emitted what is heard now."""

from __future__ import annotations

import math

from ecs_audio.components import Listener, Sources
from ecs_audio.kernels.emission import NEVER, find_emission, remember
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of


def propagate(
    sources: Sources,
    listener: Listener,
    settings: Settings,
    *,
    now: float,
    passed: float,
    tick: int,
    first_frame: int,
    rate: float,
) -> None:
    """Note where every source is at frame `now`, and find what of its past the listener hears.

    passed: frames since the last tick. first_frame: the first frame that can still be mixed.
    """
    before, here = listener.before, listener.position
    moved = math.dist(before.tolist(), here.tolist())
    listener.moved = 0.0 if math.isnan(moved) else moved
    before[:] = here
    entry_of(remember)(
        now, passed, tick, first_frame, settings.teleport, sources.position, sources.pitch,
        sources.pitch_before,
        sources.paused,
        sources.start_frame, sources.born, sources.clock, sources.history, sources.emission, sources.jumped,
    )  # fmt: skip
    if listener.moved > settings.teleport:
        sources.jumped[:] = 1
        sources.emission[:] = NEVER
    find_emission(  # by its name: the first to see where the host put the listener
        now, passed, tick, settings.speed_of_sound / rate, here, sources.delayed, sources.position,
        sources.pitch, sources.jumped, sources.born, sources.clock, sources.history, sources.emission,
        sources.heard_position, sources.heard_clock, sources.pace,
    )  # fmt: skip
