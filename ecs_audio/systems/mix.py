"""mix: the next quantum of every voice, through the limiter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components.master import QUANTUM, Master
from ecs_audio.kernels.columns import VoiceColumns
from ecs_audio.kernels.limiter import RELEASE_SECONDS, limit
from ecs_audio.kernels.mix import mix_quantum
from ecs_audio.kernels.read import sinc_table

if TYPE_CHECKING:
    from ecs_audio.clips import Clips

SINC = sinc_table()


def mix(voices: VoiceColumns, master: Master, clips: Clips, *, sinc: bool) -> None:
    """Leave the next 64 frames in `master.ready`. The first call mixes one quantum more, ahead."""
    release = 1.0 / (RELEASE_SECONDS * clips.rate)
    ahead = 2 if master.mixed_frames == 0 else 1
    for _ in range(ahead):
        mix_quantum(
            clips.bank, clips.offset, clips.length, SINC, sinc, voices, master.ramp_end - master.mixed_frames,
            float(clips.rate), master.coefficients, master.mono, master.mixed,
        )  # fmt: skip
        limit(
            release, master.mixed, master.delayed, master.needed, master.held, master.look_ahead,
            master.limiter, master.ready,
        )  # fmt: skip
        master.mixed_frames += QUANTUM


def fill(
    block: NDArray[np.float32], voices: VoiceColumns, master: Master, clips: Clips, *, sinc: bool
) -> None:
    """Fill a block (frames, 2) of any length with what comes next, a quantum at a time."""
    filled, frames = 0, len(block)
    while filled < frames:
        offset = master.rendered_frames % QUANTUM
        if offset == 0:
            mix(voices, master, clips, sinc=sinc)
        count = min(QUANTUM - offset, frames - filled)
        block[filled : filled + count] = master.ready[offset : offset + count]
        master.rendered_frames += count
        filled += count
