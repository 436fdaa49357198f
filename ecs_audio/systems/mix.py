"""mix: the next quanta of every voice and of the reverbs, through the limiter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components.aligned import aligned
from ecs_audio.components.buses import Buses
from ecs_audio.components.master import QUANTA, QUANTUM, Master
from ecs_audio.kernels.columns import VoiceColumns
from ecs_audio.kernels.limiter import RELEASE_SECONDS, limit
from ecs_audio.kernels.mix import mix_quanta
from ecs_audio.kernels.read import sinc_table
from ecs_audio.kernels.reverb import reverberate
from ecs_audio.systems.entry import entry_of

if TYPE_CHECKING:
    from ecs_audio.clips import Clips

SINC = aligned(sinc_table())


def mix(voices: VoiceColumns, buses: Buses, master: Master, clips: Clips, quanta: int, *, sinc: bool) -> None:
    """Mix the next quanta of 64 frames and leave in `master.ready` what the limiter lets out.

    The limiter looks one quantum ahead, so the very first one comes out of the second call.
    """
    ramp = master.ramp_end - master.mixed_frames
    sending = entry_of(mix_quanta)(
        clips.bank, clips.offset, clips.stride, clips.length, SINC, sinc, voices, ramp, quanta,
        float(clips.rate), master.steps, master.lanes, master.mono, master.sums, master.mixed, master.sent,
    )  # fmt: skip
    for k, bus in enumerate(buses.both):
        if sending & (1 << k) or bus.busy:
            entry_of(reverberate)(
                quanta, ramp, master.sent[k], bus.length, bus.rings, bus.memory, bus.now, bus.target,
                bus.clock, bus.scratch, master.mixed,
            )  # fmt: skip
    entry_of(limit)(
        1.0 / (RELEASE_SECONDS * clips.rate), quanta, master.mixed, master.delayed, master.needed,
        master.held, master.look_ahead, master.limiter, master.ready,
    )  # fmt: skip
    master.mixed_frames += quanta * QUANTUM
    master.ready_until = master.mixed_frames - QUANTUM
    master.ready_frames = quanta * QUANTUM


def fill(
    block: NDArray[np.float32],
    voices: VoiceColumns,
    buses: Buses,
    master: Master,
    clips: Clips,
    *,
    sinc: bool,
) -> None:
    """Fill a block (frames, 2) of any length with what comes next.

    No more quanta are mixed than the block needs: what is mixed ahead of the next tick depends on
    the frames given out so far alone, never on the lengths of blocks.
    """
    filled, frames = 0, len(block)
    if frames and not master.mixed_frames:
        mix(voices, buses, master, clips, 1, sinc=sinc)
    while filled < frames:
        left = master.ready_until - master.rendered_frames
        if left == 0:
            mix(voices, buses, master, clips, min(-(-(frames - filled) // QUANTUM), QUANTA), sinc=sinc)
            continue
        count = min(left, frames - filled)
        start = master.ready_frames - left
        block[filled : filled + count] = master.ready[start : start + count]
        master.rendered_frames += count
        filled += count


def block_of(
    storage: NDArray[np.float32], frames: int, out: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Where a block of so many frames goes: into `out`, or to the beginning of what is there for it.

    Raises ValueError for more frames than that holds, or an `out` of another shape or type.
    """
    if not 0 <= frames <= len(storage):
        raise ValueError(f"frames must lie between 0 and max_block = {len(storage)}, not {frames}")
    block = storage[:frames] if out is None else out
    if block.shape != (frames, 2) or block.dtype != np.float32:
        raise ValueError(f"out must be float32 of shape ({frames}, 2), not {block.dtype} of {block.shape}")
    return block
