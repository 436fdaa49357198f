"""play: every source gets its voice, and every voice what it shall have reached at the next tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components import Listener, Sources
from ecs_audio.components.master import QUANTUM, Master
from ecs_audio.kernels.columns import SoundColumns, VoiceColumns
from ecs_audio.kernels.levels import levels
from ecs_audio.kernels.steer import steer
from ecs_audio.settings import Settings

if TYPE_CHECKING:
    from ecs_audio.clips import Clips


def play(
    sources: Sources,
    listener: Listener,
    master: Master,
    sounds: SoundColumns,
    voices: VoiceColumns,
    clips: Clips,
    settings: Settings,
    *,
    category_gain: NDArray[np.float64],
    tick: int,
    now: int,
    frames: int,
) -> None:
    """Set levels and directions of all sources, and steer their voices.

    category_gain: (categories,) user gain times master volume. now: frame of this tick.
    frames: its length.
    """
    levels(
        listener.ear(), settings.head_shadow if settings.acoustics != "off" else 0.0, category_gain,
        sources.apparent_position, sources.positioned, sources.category, sources.loudness, sources.gain,
        sources.gain_hf, sources.mix_gain, sources.mix_hf,
    )  # fmt: skip
    # A tick acts from the first quantum that is not mixed yet, up to two quanta after its frame. The
    # ramps end that much after the next tick's frame, so that a constant motion is one straight line
    # whatever the distance between ticks and quanta.
    anchor = max(now, master.mixed_frames - 2 * QUANTUM)
    master.ramp_end = anchor + frames + 2 * QUANTUM
    steer(
        sounds, voices, sources.count, tick, settings.max_voices, float(anchor), float(master.mixed_frames),
        float(master.ramp_end), float(clips.rate), clips.length,
    )  # fmt: skip
