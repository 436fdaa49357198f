"""play: every source gets its voice, and every voice what it shall have reached at the next tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Listener, Probes, Sources
from ecs_audio.components.buses import Buses
from ecs_audio.components.master import QUANTUM, RAMP_END, Master
from ecs_audio.kernels.columns import SoundColumns, VoiceColumns
from ecs_audio.kernels.levels import levels
from ecs_audio.kernels.losses import solve_losses
from ecs_audio.kernels.steer import steer
from ecs_audio.settings import Settings
from ecs_audio.systems.entry import entry_of

if TYPE_CHECKING:
    from ecs_audio.clips import Clips

SAME = 1e-3
"""A reverberation time that changed by a smaller share is the same."""
FADING_LANES = 32
"""Lanes in reserve, which sound while they fade out."""


def play(
    sources: Sources,
    listener: Listener,
    clips: Clips,
    settings: Settings,
    *,
    category_gain: NDArray[np.float64],
) -> None:
    """Set levels and directions of all sources and echoes.

    category_gain: (categories,) user gain times master volume.
    """
    s, off = sources, settings.acoustics == "off"
    entry_of(levels)(
        listener.ear(), 0.0 if off else settings.head_shadow, category_gain, s.apparent_position,
        s.positioned,
        s.category, s.volume, s.loudness, s.gain, s.gain_hf, s.send, s.clip, clips.side,
        s.tap_count,
        s.tap_gain, s.tap_hf, s.tap_direction, s.mix_gain, s.mix_hf, s.tap_mix_gain, s.tap_mix_hf,
        s.audibility,
    )  # fmt: skip


def conduct(
    sounds: SoundColumns,
    voices: VoiceColumns,
    master: Master,
    clips: Clips,
    settings: Settings,
    *,
    count: int,
    echoes: int,
    tick: int,
    now: int,
    passed: float,
    frames: int,
) -> None:
    """Give every source its voice, and tell the voices where to be by when.

    count: living sources. echoes: the first lane for echoes. now: frame of this tick. passed: since the last
    one [s]. frames: until the next.
    """
    # A tick acts from the first quantum that is not mixed yet, up to two quanta after its frame. The
    # ramps end that much after the next tick's frame, so that a constant motion is one straight line
    # whatever the distance between ticks and quanta.
    ramp_end = master.clock[RAMP_END] = now + frames + 2 * QUANTUM
    entry_of(steer)(
        sounds, voices, count, tick, settings.max_voices, echoes, settings.acoustics == "off", passed,
        float(now), float(master.mixed_frames), float(ramp_end), float(clips.rate), clips.length,
        clips.side,
    )  # fmt: skip


def differ(wanted: list[float], present: list[float]) -> bool:
    """Whether one of several times changed by more than a trifle."""
    changed = False
    for a, b in zip(wanted, present, strict=True):
        changed = changed or abs(a - b) > SAME * b
    return changed


def lanes_for_sources(voices: int) -> int:
    """Lanes of so many voices, in sixteens, and those in reserve that sound while they fade out."""
    return -(-voices // 16) * 16 + FADING_LANES


def lanes_for_echoes(taps: int) -> int:
    """The same for echoes and second channels."""
    return -(-taps // 16) * 16 + FADING_LANES


def tune(buses: Buses, probes: Probes, settings: Settings) -> None:
    """Let the reverbs follow the room around the listener."""
    p = probes.storage
    for k, bus in enumerate(buses.both):
        wanted = p["rt60"][0, k]
        if differ(wanted.tolist(), bus.rt60.tolist()):
            bus.rt60[:] = wanted
            solve_losses(float(bus.rate), bus.rt60, bus.length, bus.guess, bus.target)
        bus.delay(float(p["mean_free_path"][0, k]) / settings.speed_of_sound)
