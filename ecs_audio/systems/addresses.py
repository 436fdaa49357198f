"""Addresses for compiled loops: of the kernels and C functions that they call, and of arrays."""

from __future__ import annotations

import ctypes
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.kernels import ahead, block
from ecs_audio.kernels.limiter import limit
from ecs_audio.kernels.mix import mix_quanta
from ecs_audio.kernels.pointers import address_of
from ecs_audio.kernels.reverb import reverberate
from ecs_audio.kernels.steer import steer

NAP = 1000
"""Time between two looks at a full ring [us]."""


def of_the_mix() -> list[int]:
    """The kernels that `mix_next` calls, in the order of its places."""
    return [address_of(mix_quanta), address_of(reverberate), address_of(limit)]


def layout(record: tuple[Any, ...]) -> list[int]:
    """Of each array of a record its address and its shape, as `record_at` reads them.

    They hold as long as the record is kept. Raises ValueError for an array that is not C-contiguous.
    """
    found: list[int] = []
    for part in record:
        if isinstance(part, tuple):
            found += layout(part)
        elif not part.flags.c_contiguous:
            raise ValueError(f"an array of shape {part.shape} has gaps, and cannot be read by address")
        else:
            found += [part.ctypes.data, *part.shape]
    return found


def addresses(clock: NDArray[np.int64]) -> NDArray[np.int64]:
    """What `render_ahead` calls, in the order of its places. clock: the loop's, where the time is written."""
    found = np.zeros(9, np.int64)
    found[: block.CALLS], found[ahead.STEER] = of_the_mix(), address_of(steer)
    if sys.platform == "win32":  # sleeps in milliseconds, and has no clock of this form: the load stays 0
        found[ahead.SLEEP], found[ahead.NAP] = _address(ctypes.windll.kernel32.Sleep), NAP // 1000
        return found
    library = ctypes.CDLL(None)
    found[ahead.SLEEP], found[ahead.NAP] = _address(library.usleep), NAP
    found[ahead.CLOCK], found[ahead.WHICH] = _address(library.clock_gettime), time.CLOCK_MONOTONIC
    found[ahead.NOW] = clock[ahead.SECONDS :].ctypes.data
    return found


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
