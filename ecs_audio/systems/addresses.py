"""Addresses of what the render loop calls: kernels, and two functions of the C library."""

from __future__ import annotations

import ctypes
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_audio.kernels import ahead
from ecs_audio.kernels.limiter import limit
from ecs_audio.kernels.mix import mix_quanta
from ecs_audio.kernels.pointers import address_of
from ecs_audio.kernels.reverb import reverberate
from ecs_audio.kernels.steer import steer

NAP = 1000
"""Time between two looks at a full ring [us]."""


def addresses(clock: NDArray[np.int64]) -> NDArray[np.int64]:
    """What `render_ahead` calls, in the order of its places. clock: the loop's, where the time is written."""
    found = np.zeros(9, np.int64)
    found[ahead.STEER], found[ahead.MIX] = address_of(steer), address_of(mix_quanta)
    found[ahead.REVERBERATE], found[ahead.LIMIT] = address_of(reverberate), address_of(limit)
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
