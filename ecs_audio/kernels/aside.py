"""Compiling kernels in a process aside: numba compiles one at a time within a process.

`python -m ecs_audio.kernels.aside MODULE:KERNEL ...` leaves kernels in the disk cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from typing import Any

from ecs_audio.kernels import jit

WORTH_IT = 8
"""Kernels to be compiled from which on a second process saves time."""


def in_cache(compiled: Any) -> bool:
    """Whether the disk cache seems to hold a kernel."""
    module = compiled.__module__.rpartition(".")[2]
    return any(jit.CACHE_DIR.glob(f"*/{module}.{compiled.__name__}-*.nbi"))


def prepare_aside(waiting: list[Any]) -> tuple[list[Any], list[Any], subprocess.Popen[bytes] | None]:
    """Let a second process compile about half of what is not in the cache.

    Returns the kernels to be prepared meanwhile, those to be loaded once the process has ended, and the
    process. A process that fails costs nothing: what it leaves out is compiled later.
    """
    missing = [kernel for kernel in waiting if not in_cache(kernel)]
    if not jit.CACHED or len(missing) < WORTH_IT or (os.cpu_count() or 1) < 2 or getattr(sys, "frozen", 0):
        return waiting, [], None
    missing.sort(key=lambda kernel: -len(kernel.py_func.__code__.co_code))  # the long ones take longest
    others = missing[1::4] + missing[2::4]
    names = [f"{kernel.__module__}:{kernel.__name__}" for kernel in others]
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "ecs_audio.kernels.aside", *names],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return waiting, [], None
    return [kernel for kernel in waiting if kernel not in others], others, process


def main(names: list[str]) -> None:
    """Compile the kernels with these names."""
    for name in names:
        module, _, kernel = name.partition(":")
        jit.prepare(getattr(import_module(module), kernel))


if __name__ == "__main__":
    main(sys.argv[1:])
