"""mix: the next quanta of every voice and of the reverbs, through the limiter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ecs_audio.components.aligned import aligned
from ecs_audio.components.buses import Buses
from ecs_audio.components.master import Master
from ecs_audio.kernels.block import Desk, fill_block
from ecs_audio.kernels.columns import BusColumns, MasterColumns, VoiceColumns
from ecs_audio.kernels.read import sinc_table
from ecs_audio.systems.addresses import layout, of_the_mix
from ecs_audio.systems.entry import entry_of

if TYPE_CHECKING:
    from ecs_audio.clips import Clips

SINC = aligned(sinc_table())


def desk_of(voices: VoiceColumns, buses: Buses, master: Master) -> Desk:
    """The arrays that voices, reverbs and master mix with."""
    near, far = (BusColumns(*(getattr(bus, name) for name in BusColumns._fields)) for bus in buses.both)
    own = MasterColumns(*(getattr(master, name) for name in MasterColumns._fields))
    return Desk(SINC, voices, near, far, own)


def places_of(desk: Desk) -> NDArray[np.int64]:
    """What `fill` needs of a desk, as long as that is kept. Compiles the kernels of the mix."""
    return np.array([*of_the_mix(), *layout(desk)])


def fill(block: NDArray[np.float32], places: NDArray[np.int64], clips: Clips, *, sinc: bool) -> None:
    """Fill a C-contiguous block (frames, 2) of any length with what comes next."""
    entry_of(fill_block)(
        places, clips.bank, clips.offset, clips.stride, clips.length, sinc, clips.rate, block
    )  # fmt: skip


def block_of(
    storage: NDArray[np.float32], frames: int, out: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Where a block of so many frames goes: into `out`, or to the beginning of what is there for it.

    From there it is to be copied where an `out` has gaps. Raises ValueError for more frames than that holds,
    or an `out` of another shape or type, or that is not to be written to.
    """
    if not 0 <= frames <= len(storage):
        raise ValueError(f"frames must lie between 0 and max_block = {len(storage)}, not {frames}")
    if out is None:
        return storage[:frames]
    if out.shape != (frames, 2) or out.dtype != np.float32:
        raise ValueError(f"out must be float32 of shape ({frames}, 2), not {out.dtype} of {out.shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    return out if out.flags.carray else storage[:frames]
