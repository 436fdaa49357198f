"""Compiling kernels in processes aside: numba compiles one at a time within a process.

`python -m ecs_audio.kernels.aside CLAIMS MODULE:KERNEL ...` leaves kernels in the disk cache. Processes
that share a list take from it what none of them has claimed yet, by making a folder in CLAIMS.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ecs_audio.kernels import jit

WORTH_IT = 8
"""Kernels to be compiled from which on a second process saves time."""

MAX_PROCESSES = 4
"""Each compiles for itself the laws that its kernels share with others."""


def in_cache(compiled: Any) -> bool:
    """Whether the disk cache seems to hold a kernel."""
    module = compiled.__module__.rpartition(".")[2]
    return any(jit.CACHE_DIR.glob(f"*/{module}.{compiled.__name__}-*.nbi"))


def work_in(compiled: Any) -> int:
    """Bytes of bytecode of a kernel and of all laws that it comes to call: about what it takes to compile."""
    seen: dict[Any, int] = {}
    left = [compiled.py_func]
    while left:
        function = left.pop()
        if function in seen:
            continue
        seen[function] = len(function.__code__.co_code)
        called = (function.__globals__.get(name) for name in function.__code__.co_names)
        left += [law.py_func for law in called if hasattr(law, "py_func")]
    return sum(seen.values())


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def name_of(compiled: Any) -> str:
    """MODULE:KERNEL."""
    return f"{compiled.__module__}:{compiled.__name__}"


def claimed(names: list[str], claims: Path) -> Iterator[str]:
    """Those of the names that no other process has claimed, each one's own from when it is given out."""
    for name in names:
        try:
            (claims / name.replace(":", ".")).mkdir()
        except FileExistsError:
            continue
        yield name


@contextmanager
def shared(waiting: list[Any]) -> Iterator[Iterator[Any]]:
    """The kernels to be compiled here, while processes aside compile the others; leaving waits for them.

    What is in the cache is not given out, nor is what a process failed at: both are left to be prepared.
    """
    missing = sorted((kernel for kernel in waiting if not in_cache(kernel)), key=work_in, reverse=True)
    count = min(cores(), MAX_PROCESSES) - 1
    if not jit.CACHED or len(missing) < WORTH_IT or count < 1 or getattr(sys, "frozen", False):
        yield iter(missing)
        return
    kernels = {name_of(kernel): kernel for kernel in missing}
    processes: list[subprocess.Popen[bytes]] = []
    with TemporaryDirectory(prefix="ecs_audio-") as claims:
        try:
            with suppress(OSError):  # then this one does it all
                processes.extend(_start(claims, list(kernels)) for _ in range(count))
            yield (kernels[name] for name in claimed(list(kernels), Path(claims)))
            for process in processes:
                process.wait()
        finally:
            for process in processes:
                process.kill()
                process.wait()


def _start(claims: str, names: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "ecs_audio.kernels.aside", claims, *names],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def main(claims: str, names: list[str]) -> None:
    """Compile those of the kernels that are free to be claimed."""
    for name in claimed(names, Path(claims)):
        module, _, kernel = name.partition(":")
        jit.prepare(getattr(import_module(module), kernel))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
