"""The block: what comes next of lanes, reverbs and limiter, in one call from Python."""

from __future__ import annotations

from typing import NamedTuple

from numba import types

from ecs_audio.kernels.columns import (
    BUS_COLUMNS,
    MASTER_COLUMNS,
    VOICE_COLUMNS,
    BusColumns,
    MasterColumns,
    VoiceColumns,
)
from ecs_audio.kernels.hadamard import AWAKE, OPENING
from ecs_audio.kernels.jit import F4_1, F4_2, F8, I8_1, U1, Array, kernel, law
from ecs_audio.kernels.limiter import RELEASE_SECONDS, limit
from ecs_audio.kernels.mix import mix_quanta
from ecs_audio.kernels.pointers import caller_of, record_at
from ecs_audio.kernels.reverb import reverberate
from ecs_audio.kernels.strip import QUANTUM

MIX, REVERBERATE, LIMIT, CALLS = range(4)
"""Places of three kernels among the addresses that are called, and how many they are."""
MIXED, RENDERED, READY, READY_UNTIL, RAMP_END = range(5)
"""Places in `Master.clock`."""


class Desk(NamedTuple):
    """All that a block is mixed with, but for the clips."""

    table: Array
    """Weights of the sinc reader."""
    voices: VoiceColumns
    near: BusColumns
    far: BusColumns
    master: MasterColumns


DESK = types.NamedTuple((F4_2, VOICE_COLUMNS, BUS_COLUMNS, BUS_COLUMNS, MASTER_COLUMNS), Desk)

_mix, _reverberate = caller_of(types.int64, mix_quanta), caller_of(types.int64, reverberate)
_limit = caller_of(types.none, limit)
_desk_at = record_at(DESK)


@law
def mix_next(
    calls: Array,
    bank: Array,
    offset: Array,
    stride: Array,
    length: Array,
    sinc: int,
    desk: Desk,
    ramp: int,
    quanta: int,
    rate: float,
) -> None:
    """Mix the next quanta and leave in `Master.ready` what the limiter lets out, one quantum late.

    calls: addresses, by the places above: by name numba would compile the three kernels once more. bank,
    offset, stride, length: of `Clips`. ramp: frames until the lanes' targets. rate: [Hz].
    """
    table, v, near, far, m = desk
    sending = _mix(
        calls[MIX], bank, offset, stride, length, table, sinc, v, ramp, quanta, rate, m.steps, m.lanes,
        m.mono, m.sums, m.mixed, m.sent,
    )  # fmt: skip
    # A reverb's time goes on although nothing is sent: it sounds, or opens again after a closing.
    if sending & 1 or near.clock[AWAKE] or near.clock[OPENING]:
        _reverberate(
            calls[REVERBERATE], quanta, ramp, m.sent[0], near.length, near.rings, near.memory, near.now,
            near.target, near.clock, near.scratch, m.mixed,
        )  # fmt: skip
    if sending & 2 or far.clock[AWAKE] or far.clock[OPENING]:
        _reverberate(
            calls[REVERBERATE], quanta, ramp, m.sent[1], far.length, far.rings, far.memory, far.now,
            far.target, far.clock, far.scratch, m.mixed,
        )  # fmt: skip
    _limit(
        calls[LIMIT], 1.0 / (RELEASE_SECONDS * rate), quanta, m.mixed, m.delayed, m.needed, m.held,
        m.look_ahead, m.limiter, m.ready,
    )  # fmt: skip


@kernel(I8_1, F4_1, I8_1, I8_1, I8_1, U1, F8, F4_2)
def fill_block(
    places: Array,
    bank: Array,
    offset: Array,
    stride: Array,
    length: Array,
    sinc: int,
    rate: float,
    block: Array,
) -> None:
    """Fill a block (frames, 2) of any length with what comes next.

    places: what is called, then a desk's addresses and shapes, see `layout`. The others: see `mix_next`.
    A desk is forty arrays, and to look at each of them from Python took longer than a reverb.

    No more quanta are mixed than the block needs: what is mixed ahead of the next tick depends on
    the frames given out so far alone, never on the lengths of blocks.
    """
    desk = _desk_at(places[CALLS:].ctypes.data)
    clock, ready = desk.master.clock, desk.master.ready
    filled, frames = 0, block.shape[0]
    while filled < frames:
        left = clock[READY_UNTIL] - clock[RENDERED]
        if left == 0:
            quanta = min((frames - filled + QUANTUM - 1) // QUANTUM, ready.shape[0] // QUANTUM)
            if clock[MIXED] == 0:
                quanta = 1  # the limiter looks one quantum ahead: the first one comes out of the second call
            mix_next(
                places, bank, offset, stride, length, sinc, desk, clock[RAMP_END] - clock[MIXED], quanta, rate
            )  # fmt: skip
            clock[MIXED] += quanta * QUANTUM
            clock[READY_UNTIL], clock[READY] = clock[MIXED] - QUANTUM, quanta * QUANTUM
            continue
        count, start = min(left, frames - filled), clock[READY] - left
        for n in range(count):
            for ear in range(2):
                block[filled + n, ear] = ready[start + n, ear]
        clock[RENDERED] += count
        filled += count
