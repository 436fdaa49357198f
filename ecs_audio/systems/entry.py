"""entry: kernels called without a look at the types of their arguments."""

from __future__ import annotations

from functools import cache
from typing import Any

from ecs_audio.kernels.jit import prepare


@cache
def entry_of(kernel: Any) -> Any:
    """What a call of a kernel comes to once numba has looked at the types of its arguments.

    Columns always have the same types. Looking at them fifty times was a tenth of a full tick, most of it for
    records of columns. Where a host may have put another array there is no other check: a kernel that is
    called by its name before must have seen it.
    """
    if not kernel.signatures:
        prepare(kernel)
    return kernel.overloads[kernel.signatures[0]].entry_point
