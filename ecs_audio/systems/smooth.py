"""smooth: targets are approached, so that nothing steps."""

from __future__ import annotations

import math

from ecs_audio.components import Batch, Listener, Probes, Sources
from ecs_audio.kernels.bearing import set_apparent
from ecs_audio.kernels.easing import ease, ease_sends
from ecs_audio.kernels.taps import fade_taps, glide
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of
from ecs_audio.systems.probe import ease_room

STEEPEST = 120.0
"""The broad gain of occlusion rises by so much at most [dB/s], less than 3 dB in 20 ms."""
TAP_FADE = 0.02
"""Time in which an echo comes and goes [s]."""
ROOM_WAY = 3.0
"""A room is left by all but exp(-3) after `room_time`."""


def smooth(
    sources: Sources,
    batch: Batch,
    listener: Listener,
    probes: Probes,
    settings: Settings,
    *,
    cell_size: float,
    now: float,
    tick: int,
    rate: float,
    dt: float,
    passed: float,
) -> None:
    """Ease gains, sends and bearings towards their targets, let echoes glide, and change rooms.

    A source that was never heard starts at its targets. now: frame of this tick. rate: [Hz].
    dt: until the next tick [s]. passed: since the last one [s].
    """
    s = sources
    share = 1.0 - math.exp(-dt / settings.occlusion_time) if settings.occlusion_time > 0.0 else 1.0
    entry_of(ease)(
        share, 10.0 ** (STEEPEST * dt / 20.0), s.state, s.gain_target, s.gain_hf_target, s.gain, s.gain_hf
    )
    if settings.reflects or settings.reverberates:
        entry_of(ease_sends)(share, s.state, s.send_target, s.send_hf_target, s.send, s.send_hf)
    if settings.reflects and settings.coupling and settings.occlusion:
        entry_of(set_apparent)(
            passed, listener.position, s.heard_position, s.distance, s.path, s.bearing_target, s.positioned,
            s.state, s.pull, s.bearing, s.apparent_position,
        )  # fmt: skip
    else:
        s.apparent_position[:] = s.heard_position
    if settings.reflects:
        entry_of(fade_taps)(
            passed, TAP_FADE, s.state, s.wanted_plane, s.wanted_point, s.wanted_strength, s.tap_plane,
            s.tap_point, s.tap_strength, s.tap_level, s.tap_serial, s.tap_count,
        )  # fmt: skip
        entry_of(glide)(
            now, tick, rate, cell_size, settings.speed_of_sound, settings.air, listener.position,
            s.heard_position, s.distance, s.delayed, s.law, s.reference, s.end, s.fade_start, s.pitch, s.born,
            s.history, s.tap_count, s.tap_plane, s.tap_point, s.tap_strength, s.tap_level, batch.tap_way,
            batch.tap_there, s.tap_delay, s.tap_gain, s.tap_hf, s.tap_clock, s.tap_direction,
        )  # fmt: skip
    if settings.reverberates:
        way = 1.0 - math.exp(-ROOM_WAY * dt / settings.room_time) if settings.room_time > 0.0 else 1.0
        ease_room(probes, way)
